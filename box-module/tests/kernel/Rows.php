<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use Bitrix\Main\Type\Date;

/** What a list of the kernel answers with, in both generations of it, and how a filter is read. */
final class Rows
{
    /** @param list<array<string, mixed>> $rows */
    public function __construct(private array $rows, private ?\Closure $object = null)
    {
    }

    /** @return array<string, mixed>|false */
    public function fetch(?\Bitrix\Main\Text\Converter $converter = null): array|false
    {
        return array_shift($this->rows) ?? false;
    }

    /** @return list<array<string, mixed>> */
    public function fetchAll(?\Bitrix\Main\Text\Converter $converter = null): array
    {
        return $this->rows;
    }

    final public function fetchObject()
    {
        return $this->rows === [] ? null : ($this->object)($this->rows[0]);
    }

    /**
     * @param array<int|string, mixed> $filter
     * @return list<array<string, mixed>>
     */
    public static function matching(string $table, array $filter): array
    {
        $rows = World::$tables[$table] ?? [];
        return array_values(array_filter($rows, fn(array $row) => self::matches($row, $filter)));
    }

    /**
     * Only what was asked for is told; UF_* and * stand for many.
     *
     * @param list<array<string, mixed>> $rows
     * @param list<string> $select
     */
    public static function of(array $rows, array $select = []): self
    {
        $many = array_intersect($select, ['*', 'UF_*']) !== [] || $select === [];
        $names = array_fill_keys($select, null);
        return new self($many ? $rows : array_map(fn(array $row) => array_intersect_key($row, $names) + $names, $rows));
    }

    /** @param array<string, mixed> $row @param array<int|string, mixed> $filter */
    private static function matches(array $row, array $filter): bool
    {
        $any = ($filter['LOGIC'] ?? '') === 'OR';
        unset($filter['LOGIC'], $filter['CHECK_PERMISSIONS']);
        $results = [];
        foreach ($filter as $name => $wanted) {
            $results[] = is_int($name) ? self::matches($row, $wanted) : self::holds($row, $name, $wanted);
        }
        return $any ? in_array(true, $results, true) : !in_array(false, $results, true);
    }

    /** @param array<string, mixed> $row */
    private static function holds(array $row, string $name, mixed $wanted): bool
    {
        preg_match('/^(!=|=%|>=|<=|[=@!<>]?)(\w+)$/', $name, $parts);
        [, $sign, $column] = $parts;
        // The section above is called by another name in a filter.
        $column = $column === 'SECTION_ID' ? 'IBLOCK_SECTION_ID' : $column;
        $there = array_map(self::plain(...), (array)self::whole($row[$column] ?? null));
        $sought = array_map(self::plain(...), (array)self::whole($wanted));
        return match ($sign) {
            '=%' => preg_match('/^' . self::pattern((string)$sought[0]) . '$/iu', (string)($there[0] ?? '')) === 1,
            '!=', '!' => array_intersect($there, $sought) === [],
            '>' => self::order($row[$column] ?? '', $wanted) > 0,
            '<' => self::order($row[$column] ?? '', $wanted) < 0,
            '>=' => self::order($row[$column] ?? '', $wanted) >= 0,
            '<=' => self::order($row[$column] ?? '', $wanted) <= 0,
            default => array_intersect($there ?: [''], $sought ?: ['']) !== [],
        };
    }

    /** A database does not see that a text looks like a number. */
    public static function order(mixed $one, mixed $other): int
    {
        $texts = is_string($one) && is_string($other);
        return $texts ? strcmp($one, $other) : self::plain($one) <=> self::plain($other);
    }

    private static function whole(mixed $value): mixed
    {
        return $value === null || $value === false ? '' : ($value instanceof Date ? [$value] : $value);
    }

    private static function plain(mixed $value): string
    {
        return $value instanceof Date ? (string)$value->getTimestamp() : (string)$value;
    }

    private static function pattern(string $like): string
    {
        $literal = (string)preg_replace('/\\\\([%_\\\\])/', '$1', $like);
        return preg_quote($literal, '/');
    }
}
