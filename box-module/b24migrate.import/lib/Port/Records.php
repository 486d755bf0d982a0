<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

use B24migrate\Import\Contract\ItemFault;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The records of one stream on the box. Behind it stands the kernel, or a fake of it.
 *
 * Fields have the names and shapes of the import contract: ids are strings, times ISO-8601 UTC with Z, dates
 * 2024-03-01, flags booleans. What was referred to has been looked up before; custom values go under their codes.
 * Objects are arrays with names; only those that an array cannot tell from a list ({}, {"0": …}) are \stdClass.
 */
interface Records
{
    /**
     * Fields of the contract that this box cannot keep, each with the reason in a sentence. They are answered as
     * ignored, and `import.fidelity` tells of them beforehand.
     *
     * @return array<string, string>
     */
    public function losses(): array;

    /**
     * Fields that are kept, but not quite as they are sent, each with the reason in a sentence, for `import.fidelity`.
     *
     * @return array<string, string>
     */
    public function approximations(): array;

    /**
     * Fields of the record written last that the box did not take although it has them: a photo that is no picture to
     * it. They are answered as ignored, once.
     *
     * @return list<string>
     */
    public function leftOut(): array;

    public function has(string $id): bool;

    /**
     * The first record with exactly these values (an e-mail: case ignored), imported or not.
     *
     * @param array<string, mixed> $values
     */
    public function find(array $values): ?string;

    /**
     * What the box has now, of those that exist.
     *
     * @param list<string> $ids
     * @return array<string, array<string, mixed>> by id
     */
    public function read(array $ids): array;

    /**
     * @param array<string, mixed> $fields
     * @return string the new id
     * @throws ItemFault and then nothing of the record is there
     */
    public function create(string $key, array $fields): string;

    /**
     * Sets every field that is given; null clears; the rest stays.
     *
     * @param array<string, mixed> $fields
     * @throws ItemFault
     */
    public function update(string $id, array $fields): void;

    public function delete(string $id): void;

    /**
     * Why a record must stay although its import is undone: what depends on it; null when nothing does.
     *
     * @param list<string> $gone records of this stream to be taken for deleted: a rehearsal deletes nothing
     */
    public function reasonToKeep(string $id, array $gone = []): ?string;

    /**
     * Whether a record and the row of the map can be written in one transaction. Where not, the key is noted first,
     * and `findLeftover` finds what an attempt that died has left behind.
     */
    public function isAtomic(): bool;

    /**
     * The record that an attempt for this key made before it died, or null. Asked only where `isAtomic` is false.
     *
     * @param array<string, mixed> $fields as they were sent again
     */
    public function findLeftover(string $key, array $fields): ?string;

    /**
     * How the box has numbered the list values of a property that are sent, or were.
     *
     * @param list<mixed> $sent
     * @return array<string, string> ids of the box by those of the source
     */
    public function options(string $id, array $sent): array;

    /**
     * Fields whose change says nothing about people: the box itself changes them (the date of the last activity).
     *
     * @return list<string>
     */
    public function volatileFields(): array;
}
