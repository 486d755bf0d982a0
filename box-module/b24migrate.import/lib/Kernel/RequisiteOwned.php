<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** Rows that belong to a record of the CRM and have no number: their id is `<type>:<id>`, of the box, and what follows. */
abstract class RequisiteOwned extends Gateway
{
    /** Columns of the key, in the order of the id. */
    protected const KEY = [];

    public function has(string $id): bool
    {
        return $this->load($id) !== [];
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach ($ids as $id) {
            $row = $this->load($id);
            $found += $row === [] ? [] : [$id => $this->toFields($row)];
        }
        return $found;
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $id = $this->id($fields);
        return $this->has($id) && $this->box->map()->entriesOf($this->stream, $id) === [] ? $id : null;
    }

    protected function load(string $id): array
    {
        $filter = self::filter($id);
        return $filter === [] ? [] : (static::TABLE::getList(['select' => ['*'], 'filter' => $filter])->fetch() ?: []);
    }

    /** @return list<int> */
    protected static function parts(string $id): array
    {
        return array_map('intval', explode(':', $id));
    }

    protected function id(array $fields): string
    {
        $parts = array_map(static fn(string $name) => $fields[$name], static::KEY);
        $parts[1] = CrmNumbers::id((string)$parts[1]);
        return implode(':', $parts);
    }

    /** The owner as the contract has it: with a number that tells its type where the box counts each from 1. */
    protected static function owner(array $row, string $type, string $id): array
    {
        [$number, $own] = [(int)($row[$type] ?? 0), (int)($row[$id] ?? 0)];
        return [$type => $number, $id => $own === 0 ? null : CrmNumbers::ofRecord($number, $own)];
    }

    private static function filter(string $id): array
    {
        $parts = self::parts($id);
        $names = array_map(static fn(string $name) => "=$name", static::KEY);
        return count($parts) === count($names) ? array_combine($names, $parts) : [];
    }
}
