<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;

/** The id of a record; `also` are ids that need no record behind them. */
final class Ref implements Kind
{
    public function __construct(
        private readonly string $stream,
        private readonly string $fault = 'PARENT_NOT_FOUND',
        private readonly array $also = []
    ) {
    }

    public function check(mixed $value, Inspection $seen): void
    {
        if (!is_string($value)) {
            throw $seen->refuse('an id must be a string');
        }
        if (!in_array($value, $this->also, true)) {
            $seen->refer($this->stream, $value, $this->fault);
        }
    }

    public static function user(): self
    {
        return new self('users', 'USER_NOT_FOUND');
    }

    public static function userOrSystem(): self
    {
        return new self('users', 'USER_NOT_FOUND', ['0']);
    }

    public static function owner(): self
    {
        return new self('users', 'OWNER_NOT_FOUND');
    }

    public static function file(): self
    {
        return new self('files', 'FILE_NOT_FOUND');
    }
}
