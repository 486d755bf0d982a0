<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Stream;
use B24migrate\Import\Port\Entry;

/** How a batch has its effect, or in a rehearsal none. */
interface Hand
{
    /** Runs the work while nobody else imports the same. */
    public function alone(string $name, callable $work): mixed;

    /** @return array<string, Entry> */
    public function entries(array $keys): array;

    /** What an attempt that died has made for this intent, if it came so far. */
    public function left(Entry $intent, array $fields): ?string;

    /** Takes away what was left, and the intent. */
    public function abandon(Entry $intent, string $left): void;

    /**
     * @param ?string $left what an attempt that died has made: it is completed
     * @return ?string the id, null where it is only imagined
     */
    public function create(Stream $stream, string $key, string $digest, array $fields, ?string $left): ?string;

    /** The key stands for a record that the box had; it takes over what the record does not have yet. */
    public function link(Stream $stream, string $key, string $digest, string $id, array $blanks): ?string;

    public function update(Entry $entry, string $digest, array $fields): ?string;

    /** The id of a known key as it is answered: null where the record is only imagined. */
    public function shown(Entry $entry): ?string;

    /** Notes what the written records look like now, to tell later whether somebody has changed them since. */
    public function seal(Stream $stream): void;
}
