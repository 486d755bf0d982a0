<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** The module's own table: which key became which record. Keys are compared byte by byte, whatever the collation. */
interface Map
{
    /**
     * @param list<string> $keys
     * @return array<string, Entry> those that are there, by key
     */
    public function entries(array $keys): array;

    /** Inserts or replaces. */
    public function put(Entry $entry): void;

    public function drop(string $key): void;

    /**
     * Complete entries of a stream in order of their ids as numbers, from behind the cursor: the number of the last
     * one seen, and what tells it from others with the same number; '' = from the first.
     *
     * @return array{list<Entry>, ?string} and the cursor of the next page, null at the end
     */
    public function page(string $stream, string $after, int $limit): array;

    public function count(string $stream): int;

    /** @return list<Entry> every key that stands for this record: the one it was made for, and those that adopted it */
    public function entriesOf(string $stream, string $id): array;
}
