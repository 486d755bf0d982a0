<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{Kind, Stream};
use B24migrate\Import\Port\CustomFields;

defined('B_PROLOG_INCLUDED') || exit;

/** The kinds of those fields that this box knows: its own, and the custom ones made in it. */
final class Kinds
{
    /** What the box can be asked to make, and what it holds then. */
    public const OF_CUSTOM_TYPES = [
        'string' => 'text', 'url' => 'text', 'address' => 'text', 'money' => 'text', 'crm_status' => 'text',
        'integer' => 'numeral', 'double' => 'numeral', 'boolean' => 'flag', 'date' => 'date', 'datetime' => 'time',
        'file' => 'file', 'employee' => 'user', 'enumeration' => 'any', 'crm' => 'any', 'iblock_section' => 'any',
        'iblock_element' => 'any',
    ];

    /** @var array<string, array<string, \Closure>> by stream and type */
    private array $custom = [];

    public function __construct(private readonly CustomFields $fields)
    {
    }

    /** @return array<string, \Closure> of those of these fields that are known */
    public function of(Stream $stream, array $fields, ?string $type): array
    {
        $kinds = [];
        foreach (array_keys($fields) as $name) {
            $kinds[$name] = $stream->builtin((string)$name) ?? $this->custom($stream, $type)[$name] ?? null;
        }
        return array_filter($kinds);
    }

    private function custom(Stream $stream, ?string $type): array
    {
        $known = fn (): array => array_map(self::kind(...), $this->fields->of($stream->name, $type));
        return $stream->typedBy !== null && $type === null ? [] : $this->custom["$stream->name:$type"] ??= $known();
    }

    private static function kind(array $field): \Closure
    {
        $options = array_column($field['options'], 'id');
        $one = $field['type'] === 'enumeration'
            ? Kind::plain('the id of one of its list values', static fn ($value) => in_array($value, $options, true))
            : Kind::of(self::OF_CUSTOM_TYPES[$field['type']] ?? 'any');
        return $field['multiple'] ? Kind::many($one) : $one;
    }
}
