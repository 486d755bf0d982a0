<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use B24migrate\Import\Port\Entry;
use B24migrate\Import\Port\Map;

final class MemoryMap implements Map
{
    /** @var array<string, Entry> */
    public array $entries = [];

    public function entries(array $keys): array
    {
        return array_intersect_key($this->entries, array_flip($keys));
    }

    public function put(Entry $entry): void
    {
        $this->entries[$entry->key] = $entry;
    }

    public function drop(string $key): void
    {
        unset($this->entries[$key]);
    }

    public function page(string $stream, string $after, int $limit): array
    {
        $entries = $this->complete($stream);
        usort($entries, fn(Entry $a, Entry $b) => (int)$a->id <=> (int)$b->id);
        return [$entries, null];
    }

    public function count(string $stream): int
    {
        return count($this->complete($stream));
    }

    public function entriesOf(string $stream, string $id): array
    {
        return array_values(array_filter($this->complete($stream), fn(Entry $entry) => $entry->id === $id));
    }

    /** @return list<Entry> */
    private function complete(string $stream): array
    {
        $mine = fn(Entry $entry) => $entry->stream === $stream && $entry->id !== null;
        return array_values(array_filter($this->entries, $mine));
    }
}
