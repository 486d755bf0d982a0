<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Text\Emoji;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Which column of the kernel holds which field of the contract, and how a value is spelled there.
 *
 * Fields are listed by kind, in a line of names: `parentId` lies in PARENT_ID, `name:TITLE` in TITLE. Kinds: text,
 * utm (a text beside the row), said (a text that must not be empty: for none stands something that nobody sees), code
 * (a text with numbers of the CRM in it), flag (Y/N), bool, int, place (an int, 0 for none), number, id, link (an id,
 * or 0), author (an id, "0" for the system), ids, time and day (strings of the site), moment and date (objects),
 * midnight (a day in a column that holds a time). What is more than a spelling the gateways do themselves.
 */
final class Columns
{
    public const NOTHING = "\u{200B}";

    /** @var array<string, array{string, string}> column and kind by field */
    public readonly array $kinds;

    /**
     * @param array<string, string> $fields names by kind
     * @param list<string> $filled columns that cannot be empty: what is there stays when nothing is sent for them
     */
    public function __construct(array $fields, private readonly array $filled = [])
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
            if (!in_array($fields[$field], [null, ''], true) || !in_array($column, $this->filled, true)) {
                $row[$column] = self::toColumn($kind, $fields[$field]);
            }
        }
        return $row;
    }

    /** @return array<string, mixed> the fields of those columns that are there */
    public function fromKernel(array $row): array
    {
        $fields = [];
        foreach ($this->kinds as $field => [$column, $kind]) {
            if (array_key_exists($column, $row)) {
                $fields[$field] = self::fromColumn($kind, $row[$column]);
            }
        }
        return $fields;
    }

    public static function toColumn(string $kind, mixed $value): mixed
    {
        return match ($kind) {
            'text', 'utm' => (string)$value,
            'said' => (string)$value === '' ? self::NOTHING : (string)$value,
            'flag' => $value ? 'Y' : 'N',
            'int', 'id' => $value === null ? false : (int)$value,
            'place', 'author', 'link' => (int)$value,
            'bool' => (bool)$value,
            'number' => (float)$value,
            'code' => CrmNumbers::plain((string)$value),
            'ids' => array_map('intval', $value ?? []),
            'time', 'midnight' => Dates::text($value),
            'moment' => Dates::moment($value),
            'day' => Dates::dayText($value),
            'date' => Dates::date($value),
        };
    }

    public static function fromColumn(string $kind, mixed $value): mixed
    {
        return match ($kind) {
            'text', 'utm' => (string)$value === '' ? null : (string)$value,
            // The feed and the forum keep it with emoji spelled out.
            'said' => in_array((string)$value, ['', self::NOTHING], true) ? null : Emoji::decode((string)$value),
            'code' => $value === null || $value === '' ? null : CrmNumbers::numbered((string)$value),
            'flag', 'bool' => $value === 'Y' || $value === true,
            'number' => $value === null ? null : self::number((float)$value),
            'int', 'place' => $value === null || $value === '' ? null : (int)$value,
            'id', 'link' => (int)$value === 0 ? null : (string)(int)$value,
            'author' => (string)(int)$value,
            'ids' => array_values(array_map('strval', array_filter(array_map('intval', (array)($value ?: []))))),
            'time', 'moment' => Dates::utc($value),
            'day', 'midnight', 'date' => Dates::day($value),
        };
    }

    /** Money is a fraction in the database; a whole sum is a whole number in the contract. */
    private static function number(float $value): int|float
    {
        return floor($value) === $value && abs($value) < 1e15 ? (int)$value : $value;
    }
}
