<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

/**
 * Which column of the kernel holds which field of the contract, and how a value is spelled there.
 *
 * Fields are told by kind, in a line of names: `parentId` lies in PARENT_ID, `name:TITLE` in TITLE. Kinds: text, flag
 * (Y/N), int, id, ids, author (a user, or 0 for the system), time (a string of the site), moment (an object), day (a
 * string of the site), midnight (a day in a column that holds a time). What is more than a spelling is done by the
 * gateway itself.
 */
final class Columns
{
    /** @var array<string, array{string, string}> column and kind by field */
    public readonly array $kinds;

    /** @param array<string, string> $fields names by kind */
    public function __construct(array $fields)
    {
        $kinds = [];
        foreach ($fields as $kind => $names) {
            foreach (explode(' ', $names) as $name) {
                [$field, $column] = explode(':', $name) + [1 => self::column($name)];
                $kinds[$field] = [$column, $kind];
            }
        }
        $this->kinds = $kinds;
    }

    /** isManualOpportunity -> IS_MANUAL_OPPORTUNITY */
    public static function column(string $name): string
    {
        return strtoupper((string)preg_replace('/(?<=[a-z])(?=[A-Z])/', '_', $name));
    }

    /** @return array<string, mixed> the columns of those fields that are given */
    public function toKernel(array $fields): array
    {
        $row = [];
        foreach (array_intersect_key($this->kinds, $fields) as $field => [$column, $kind]) {
            $row[$column] = self::spell($kind, $fields[$field]);
        }
        return $row;
    }

    /** @return array<string, mixed> the fields of those columns that are there */
    public function fromKernel(array $row): array
    {
        $fields = [];
        foreach ($this->kinds as $field => [$column, $kind]) {
            if (array_key_exists($column, $row)) {
                $fields[$field] = self::understand($kind, $row[$column]);
            }
        }
        return $fields;
    }

    public static function spell(string $kind, mixed $value): mixed
    {
        return match ($kind) {
            'text' => (string)$value,
            'flag' => $value ? 'Y' : 'N',
            'int', 'id' => $value === null ? false : (int)$value,
            'author' => (int)$value,
            'ids' => array_map('intval', $value ?? []),
            'time', 'midnight' => Dates::text($value),
            'moment' => Dates::moment($value),
            'day' => Dates::dayText($value),
        };
    }

    public static function understand(string $kind, mixed $value): mixed
    {
        return match ($kind) {
            'text' => (string)$value === '' ? null : (string)$value,
            'flag' => $value === 'Y' || $value === true,
            'int' => $value === null || $value === '' ? null : (int)$value,
            'id' => (int)$value === 0 ? null : (string)(int)$value,
            'author' => (string)(int)$value,
            'ids' => array_values(array_map('strval', array_filter(array_map('intval', (array)($value ?: []))))),
            'time', 'moment' => Dates::utc($value),
            'day', 'midnight' => Dates::day($value),
        };
    }
}
