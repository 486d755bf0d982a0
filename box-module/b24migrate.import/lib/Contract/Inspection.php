<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** The check of one item under way: where to look things up, which field is at hand. */
final class Inspection
{
    public string $field = '';

    /** @param ?string $itself the id of the record when it exists already */
    public function __construct(public readonly Lookup $box, public readonly ?string $itself = null)
    {
    }

    public function refuse(string $message): ItemFault
    {
        return $this->missing('VALIDATION', $message);
    }

    public function missing(string $fault, string $message): ItemFault
    {
        return new ItemFault($fault, $this->field, "$this->field: $message");
    }

    public function refer(string $stream, string $id, string $fault): void
    {
        if (!$this->box->has($stream, $id)) {
            throw $this->missing($fault, "$stream has no record $id");
        }
    }

    /** @return array<string, mixed> the fields of what is referred to */
    public function referAndRead(string $stream, string $id, string $fault): array
    {
        $this->refer($stream, $id, $fault);
        return $this->box->read($stream, $id) ?? [];
    }
}
