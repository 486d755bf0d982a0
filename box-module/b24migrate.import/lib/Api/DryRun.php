<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Stream;
use B24migrate\Import\Port\Entry;

defined('B_PROLOG_INCLUDED') || exit;

/** A dry run: the same answers, but what would be written is only imagined, and new records have no id. */
final class DryRun extends Writer
{
    /** @var array<string, Entry> by key */
    private array $imagined = [];

    public function withLock(string $name, callable $work): mixed
    {
        return $work();
    }

    public function entries(array $keys): array
    {
        return array_intersect_key($this->imagined, array_flip($keys)) + $this->box->map()->entries($keys);
    }

    public function abandon(Entry $intent, string $left): void
    {
    }

    public function create(Entry $intent, array $fields, ?string $left): ?string
    {
        return $this->imagine($intent->withId("unborn:$intent->key"), $fields);
    }

    public function set(Entry $entry, array $fields): ?string
    {
        return $this->imagine($entry, $fields + ($this->lookup->read($entry->stream, (string)$entry->id) ?? []));
    }

    public function visibleId(Entry $entry): ?string
    {
        return ($this->box->map()->entries([$entry->key])[$entry->key] ?? null)?->id;
    }

    public function storeFingerprints(Stream $stream): void
    {
    }

    private function imagine(Entry $entry, array $fields): ?string
    {
        $this->imagined[$entry->key] = $entry;
        $this->lookup->imagine($entry->stream, (string)$entry->id, $fields);
        return $this->visibleId($entry);
    }
}
