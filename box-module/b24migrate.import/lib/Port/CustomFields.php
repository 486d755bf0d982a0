<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** The custom fields (UF_*) of the box. */
interface CustomFields
{
    /**
     * @param ?string $type the smart-process type, for crm_spitems
     * @return array<string, array{type: string, multiple: bool, options: list<array<string, string>>}> by code; an
     *         option has id, value and xml_id
     */
    public function of(string $stream, ?string $type): array;

    /** How the box calls a field of the source: a smart process has a number of its own inside the codes. */
    public function code(string $stream, ?string $type, string $code): string;

    /**
     * @param array<string, mixed> $field one entry of `import.<entity>.fields`; its options follow by `addOptions`
     * @return string the code that the box gave it
     */
    public function create(string $stream, ?string $type, array $field): string;

    /**
     * Adds options to an enumeration; `of` tells their ids afterwards.
     *
     * @param list<array<string, mixed>> $options as in the contract, without those that are there
     */
    public function addOptions(string $stream, ?string $type, string $code, array $options): void;
}
