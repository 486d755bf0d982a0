<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** Values of UF_*: strings of the site, as legacy classes expect them, unless a type needs another form. */
final class CustomValues
{
    /** @param array<string, array{type: string, multiple: bool}> $fields those that the box has, by code */
    public function __construct(private readonly array $fields)
    {
    }

    /**
     * @param array<string, mixed> $sent fields of the contract; those that are not custom are passed over
     * @param array<string, mixed> $now what the record has, by code: a file that is to go must be named
     * @param array<string, callable(mixed, string): mixed> $spell how another kernel class wants a type, with the code
     */
    public function toKernel(array $sent, array $now = [], array $spell = []): array
    {
        $row = [];
        foreach (array_intersect_key($this->fields, $sent) as $code => ['type' => $type, 'multiple' => $multiple]) {
            $values = is_array($sent[$code]) ? $sent[$code] : array_filter([$sent[$code]], fn($one) => $one !== null);
            $way = $spell[$type] ?? fn(mixed $value) => self::toColumn($type, $value);
            $spelled = array_map(fn(mixed $value) => $way($value, $code), array_values($values));
            if ($type === 'file' && !isset($spell['file'])) {
                // That old files are deleted in this way is to be checked on a real box.
                $gone = array_values(array_filter((array)($now[$code] ?? [])));
                $spelled = [...$spelled, ...array_map(fn($old) => ['del' => 'Y', 'old_id' => $old], $gone)];
                // One file takes the place of another: the new one names the old one.
                $spelled = $multiple || $spelled === [] ? $spelled : [array_merge(...array_reverse($spelled))];
            }
            $row[$code] = $multiple ? $spelled : $spelled[0] ?? '';
        }
        return $row;
    }

    /** @return array<string, mixed> the custom ones among the columns of a row */
    public function fromKernel(array $row): array
    {
        $fields = [];
        foreach (array_intersect_key($this->fields, $row) as $code => ['type' => $type, 'multiple' => $multiple]) {
            $raw = is_array($row[$code]) ? $row[$code] : [$row[$code]];
            $there = array_filter($raw, fn($value) => $value !== null && $value !== '' && $value !== false);
            $values = $type === 'file'
                ? array_values(Files::origins($there))
                : array_map(fn(mixed $value) => self::fromColumn($type, $value), array_values($there));
            $fields[$code] = $multiple ? $values : ($values[0] ?? null);
        }
        return $fields;
    }

    private static function toColumn(string $type, mixed $value): mixed
    {
        return match ($type) {
            'boolean' => $value ? 1 : 0,
            'date' => Dates::dayText($value),
            'datetime' => Dates::text($value),
            'file' => Files::copy((string)$value),
            default => $value,
        };
    }

    private static function fromColumn(string $type, mixed $value): mixed
    {
        return match ($type) {
            'boolean' => (bool)(int)$value,
            'date' => Dates::day($value),
            'datetime' => Dates::utc($value),
            'integer', 'double' => is_numeric($value) ? $value + 0 : (string)$value,
            default => (string)$value,
        };
    }
}
