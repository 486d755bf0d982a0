<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * JSON in and out without loss: whole numbers stay whole, fractions stay fractions, objects stay objects.
 *
 * A list is an array; an object is an array with names, or \stdClass where an array could not be told from a list.
 */
final class Json
{
    /** Less than an answer may have: what came in goes out again inside one. */
    private const DEPTH = 500;
    private const SPELLING = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS | JSON_UNESCAPED_SLASHES
        | JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR;

    /** @throws \JsonException */
    public static function decode(string $text): mixed
    {
        return self::normalized(json_decode($text, false, self::DEPTH, JSON_THROW_ON_ERROR));
    }

    public static function encode(mixed $value): string
    {
        return json_encode($value, self::SPELLING);
    }

    /** The same for every spelling of the same value: names are sorted. */
    public static function canonical(mixed $value): string
    {
        return self::encode(self::sorted($value));
    }

    public static function isObject(mixed $value): bool
    {
        return $value instanceof \stdClass || (is_array($value) && !array_is_list($value));
    }

    public static function isList(mixed $value): bool
    {
        return is_array($value) && array_is_list($value);
    }

    private static function normalized(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map(self::normalized(...), $value);
        }
        if (is_float($value) && !is_finite($value)) {
            throw new \JsonException('a number is too large');
        }
        if (!$value instanceof \stdClass) {
            return $value;
        }
        $named = array_map(self::normalized(...), get_object_vars($value));
        return array_is_list($named) ? (object)$named : $named;
    }

    private static function sorted(mixed $value): mixed
    {
        if (self::isList($value)) {
            return array_map(self::sorted(...), $value);
        }
        if (!self::isObject($value)) {
            return $value;
        }
        $named = array_map(self::sorted(...), (array)$value);
        ksort($named, SORT_STRING);
        return (object)$named;
    }
}
