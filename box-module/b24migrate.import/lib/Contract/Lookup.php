<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** What a check may ask of the box. */
interface Lookup
{
    public function rootDepartment(): string;

    public function has(string $stream, string $id): bool;

    /** @return ?array<string, mixed> */
    public function read(string $stream, string $id): ?array;

    public function find(string $stream, array $values): ?string;

    /** @return list<string> in lower case */
    public function allowedActivities(): array;
}
