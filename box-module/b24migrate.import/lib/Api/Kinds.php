<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Kind\Kind;
use B24migrate\Import\Contract\Kind\Many;
use B24migrate\Import\Contract\Kind\Plain;
use B24migrate\Import\Contract\Kind\Ref;
use B24migrate\Import\Contract\Stream;
use B24migrate\Import\Port\CustomFields;

/** The kinds of those fields that this box knows: its own, and the custom ones made in it. */
final class Kinds
{
    public const CUSTOM_TYPES = [
        'string', 'url', 'address', 'money', 'crm_status', 'integer', 'double', 'enumeration', 'crm', 'iblock_section',
        'iblock_element', 'boolean', 'date', 'datetime', 'file', 'employee',
    ];

    /** @var array<string, array<string, Kind>> by stream and type */
    private array $custom = [];

    public function __construct(private readonly CustomFields $fields)
    {
    }

    public function of(Stream $stream, array $fields, ?string $type): array
    {
        $kinds = [];
        foreach (array_keys($fields) as $name) {
            $kind = $stream->builtin((string)$name) ?? $this->custom($stream, $type)[$name] ?? null;
            if ($kind !== null) {
                $kinds[$name] = $kind;
            }
        }
        return $kinds;
    }

    /** @return array<string, Kind> */
    private function custom(Stream $stream, ?string $type): array
    {
        if ($stream->typedBy !== null && $type === null) {
            return [];
        }
        return $this->custom["$stream->name:$type"]
            ??= array_map(self::kind(...), $this->fields->of($stream->name, $type));
    }

    /** @param array{type: string, multiple: bool, options: list<array<string, string>>} $field */
    private static function kind(array $field): Kind
    {
        $one = match ($field['type']) {
            'string', 'url', 'address', 'money', 'crm_status' => Plain::text(),
            'integer', 'double' => Plain::numberOrText(),
            'boolean' => Plain::flag(),
            'date' => Plain::date(),
            'datetime' => Plain::time(),
            'file' => Ref::file(),
            'employee' => Ref::user(),
            'enumeration' => self::option(array_column($field['options'], 'id')),
            default => Plain::any(),
        };
        return $field['multiple'] ? new Many($one) : $one;
    }

    private static function option(array $ids): Kind
    {
        $accepts = static fn ($value) => in_array($value, $ids, true);
        return new Plain('the id of one of its list values', $accepts);
    }
}
