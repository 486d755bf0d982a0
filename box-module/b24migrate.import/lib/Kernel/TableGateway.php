<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** Streams that are a table of the ORM and little more. */
abstract class TableGateway extends Gateway
{
    protected const FILLED = ['SORT'];

    public function find(array $values): ?string
    {
        return $this->findByFields($values);
    }

    public function create(string $key, array $fields): string
    {
        return (string)self::mustSucceed(static::TABLE::add($this->row($fields)))->getId();
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(static::TABLE, ['ID'], $id));
        self::mustSucceed(static::TABLE::update((int)$id, $this->row($fields)));
    }

    public function delete(string $id): void
    {
        self::mustSucceed(static::TABLE::delete((int)$id));
    }

    /** @return array<string, mixed> columns */
    protected function row(array $fields): array
    {
        return self::columns()->toKernel($fields);
    }

    /** The first record with these values, of those that the filter leaves. */
    protected function findByFields(array $values, array $filter = []): ?string
    {
        foreach (self::columns()->toKernel($values) as $column => $value) {
            $filter["=$column"] = $value;
        }
        foreach (self::findRows(static::TABLE, ['*'], $filter) as $row) {
            // The database may take letters for equal that are not.
            if (array_intersect_key($this->toFields($row), $values) == $values) {
                return (string)$row['ID'];
            }
        }
        return null;
    }
}
