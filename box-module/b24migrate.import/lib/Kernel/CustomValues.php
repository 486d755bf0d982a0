<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\CustomFields;

/** Values of UF_* as legacy classes take and give them. */
final class CustomValues
{
    public function __construct(private readonly CustomFields $fields)
    {
    }

    /**
     * @param array<string, mixed> $fields of the contract
     * @param array<string, mixed> $now what the record has, by code: a file that is to go must be named
     * @return array<string, mixed> those that are custom
     */
    public function toKernel(string $stream, ?string $type, array $fields, array $now = []): array
    {
        $row = [];
        foreach (array_intersect_key($this->fields->of($stream, $type), $fields) as $code => $field) {
            $values = is_array($fields[$code]) ? $fields[$code] : array_filter([$fields[$code]], fn($v) => $v !== null);
            $spelled = array_map(fn(mixed $value) => self::spell($field['type'], $value), array_values($values));
            if ($field['type'] === 'file') {
                // How old files are told to go is to be checked on a real box.
                $gone = array_values(array_filter((array)($now[$code] ?? [])));
                $spelled = [...$spelled, ...array_map(fn($old) => ['del' => 'Y', 'old_id' => $old], $gone)];
            }
            $row[$code] = $field['multiple'] ? $spelled : self::alone($field['type'], $spelled);
        }
        return $row;
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, mixed>
     */
    public function fromKernel(string $stream, ?string $type, array $row): array
    {
        $fields = [];
        foreach (array_intersect_key($this->fields->of($stream, $type), $row) as $code => $field) {
            $raw = is_array($row[$code]) ? $row[$code] : [$row[$code]];
            $there = array_filter($raw, fn($value) => $value !== null && $value !== '' && $value !== false);
            $values = array_map(fn(mixed $value) => self::understand($field['type'], $value), array_values($there));
            $fields[$code] = $field['multiple'] ? $values : ($values[0] ?? null);
        }
        return $fields;
    }

    private static function spell(string $type, mixed $value): mixed
    {
        return match ($type) {
            'boolean' => $value ? 1 : 0,
            'date' => Dates::dayText($value),
            'datetime' => Dates::text($value),
            'file' => Files::copy((string)$value),
            default => $value,
        };
    }

    private static function understand(string $type, mixed $value): mixed
    {
        return match ($type) {
            'boolean' => (bool)(int)$value,
            'date' => Dates::day($value),
            'datetime' => Dates::utc($value),
            'file' => Files::origin((int)$value),
            'integer', 'double' => $value + 0,
            default => (string)$value,
        };
    }

    /** One file takes the place of another: the new one names the old one. @param list<mixed> $spelled */
    private static function alone(string $type, array $spelled): mixed
    {
        return $type === 'file' && $spelled !== [] ? array_merge(...array_reverse($spelled)) : $spelled[0] ?? '';
    }
}
