<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\Json;

/** A value that can be judged by itself. */
final class Plain implements Kind
{
    private const DATE = '(\d{4})-(\d\d)-(\d\d)';

    /**
     * @param \Closure(mixed): bool $accepts
     * @param bool $object whether it is an object even when it is empty
     */
    public function __construct(
        private readonly string $wanted,
        private readonly \Closure $accepts,
        public readonly bool $object = false
    ) {
    }

    public function check(mixed $value, Inspection $seen): void
    {
        if (!($this->accepts)($value)) {
            throw $seen->refuse("must be $this->wanted");
        }
    }

    public static function text(): self
    {
        return new self('text', is_string(...));
    }

    public static function flag(): self
    {
        return new self('true or false', is_bool(...));
    }

    public static function whole(): self
    {
        return new self('a whole number', is_int(...));
    }

    public static function number(): self
    {
        return new self('a number', static fn ($value) => is_int($value) || is_float($value));
    }

    public static function numberOrText(): self
    {
        $accepts = static fn ($value) => is_int($value) || is_float($value) || is_string($value);
        return new self('a number, or a number in a string', $accepts);
    }

    public static function date(): self
    {
        return new self('a date such as 2024-03-01', static fn ($value) => self::isDay($value, ''));
    }

    public static function time(): self
    {
        $clock = 'T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z';
        $accepts = static fn ($value) => self::isDay($value, $clock);
        return new self('a time in UTC such as 2024-03-01T09:00:00Z', $accepts);
    }

    public static function object(): self
    {
        return new self('an object', Json::isObject(...), true);
    }

    public static function tree(): self
    {
        return new self('a list or an object', static fn ($value) => is_array($value) || $value instanceof \stdClass);
    }

    /** An object from words to whole numbers. */
    public static function tally(): self
    {
        $whole = static fn ($value) => array_filter((array)$value, is_int(...)) === (array)$value;
        $accepts = static fn ($value) => Json::isObject($value) && $whole($value);
        return new self('an object of whole numbers', $accepts, true);
    }

    public static function any(): self
    {
        return new self('anything', static fn () => true);
    }

    public static function oneOf(string ...$words): self
    {
        return new self('one of ' . implode(', ', $words), static fn ($value) => in_array($value, $words, true));
    }

    private static function isDay(mixed $value, string $rest): bool
    {
        return is_string($value) && preg_match('/^' . self::DATE . $rest . '$/D', $value, $parts) === 1
            && checkdate((int)$parts[2], (int)$parts[3], (int)$parts[1]);
    }
}
