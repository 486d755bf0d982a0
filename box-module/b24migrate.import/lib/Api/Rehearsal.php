<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Stream;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\Entry;

/** A dry run: the same answers, but what would be written is only imagined, and new records have no id. */
final class Rehearsal implements Hand
{
    /** @var array<string, Entry> by key */
    private array $imagined = [];

    /** @var array<string, true> keys that were unknown before */
    private array $unborn = [];

    public function __construct(private readonly Box $box, private readonly Sight $sight)
    {
    }

    public function alone(string $name, callable $work): mixed
    {
        return $work();
    }

    public function entries(array $keys): array
    {
        $imagined = array_intersect_key($this->imagined, array_flip($keys));
        return $imagined + $this->box->map()->entries($keys);
    }

    public function left(Entry $intent, array $fields): ?string
    {
        return $this->box->records($intent->stream)->trace($intent->key, $fields);
    }

    public function abandon(Entry $intent, string $left): void
    {
    }

    public function create(Stream $stream, string $key, string $digest, array $fields, ?string $left): ?string
    {
        $this->unborn[$key] = true;
        return $this->imagine(new Entry($key, $stream->name, "unborn:$key", $digest), $fields);
    }

    public function link(Stream $stream, string $key, string $digest, string $id, array $blanks): ?string
    {
        $this->unborn[$key] = true;
        return $this->imagineMore(new Entry($key, $stream->name, $id, $digest, adopted: true), $blanks);
    }

    public function update(Entry $entry, string $digest, array $fields): ?string
    {
        $next = new Entry($entry->key, $entry->stream, $entry->id, $digest, $entry->adopted);
        return $this->imagineMore($next, $fields);
    }

    public function shown(Entry $entry): ?string
    {
        return isset($this->unborn[$entry->key]) ? null : $entry->id;
    }

    public function seal(Stream $stream): void
    {
    }

    private function imagineMore(Entry $entry, array $fields): ?string
    {
        return $this->imagine($entry, $fields + ($this->sight->read($entry->stream, (string)$entry->id) ?? []));
    }

    private function imagine(Entry $entry, array $fields): ?string
    {
        $this->imagined[$entry->key] = $entry;
        $this->sight->imagine($entry->stream, (string)$entry->id, $fields);
        return $this->shown($entry);
    }
}
