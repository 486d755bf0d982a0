<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, Json};

defined('B_PROLOG_INCLUDED') || exit;

/** Reads the arguments of a call. A malformed call is refused as a whole, before anything is changed. */
final class Arguments
{
    public const MOST_KEYS = 500;
    private const TAKEN_BY_THE_BOX = ['auth', 'method', 'start', 'state', 'token'];

    private function __construct(private readonly array $given)
    {
    }

    public static function ofBody(string $body): self
    {
        try {
            $given = trim($body) === '' ? new \stdClass() : Json::decode($body);
        } catch (\JsonException $unread) {
            throw CallFault::malformed("the body must be one JSON object: {$unread->getMessage()}");
        }
        if (!Json::isObject($given)) {
            throw CallFault::malformed('the body must be one JSON object');
        }
        $taken = array_intersect(self::TAKEN_BY_THE_BOX, array_map('strval', array_keys((array)$given)));
        if ($taken !== []) {
            throw CallFault::malformed('the box takes ' . implode(', ', $taken) . ' for itself');
        }
        return new self((array)$given);
    }

    public function raw(string $name): mixed
    {
        return $this->given[$name] ?? null;
    }

    public function all(): array
    {
        return $this->given;
    }

    public function text(string $name): string
    {
        $value = $this->raw($name);
        return is_string($value) && $value !== '' ? $value : self::refuse($name, 'must be a non-empty string');
    }

    /** Empty when absent. */
    public function word(string $name): string
    {
        $value = $this->raw($name) ?? '';
        return is_string($value) ? $value : self::refuse($name, 'must be a string');
    }

    /** False when absent. */
    public function flag(string $name): bool
    {
        $value = array_key_exists($name, $this->given) ? $this->given[$name] : false;
        return is_bool($value) ? $value : self::refuse($name, 'must be true or false');
    }

    public function whole(string $name, ?int $default = null): int
    {
        $value = array_key_exists($name, $this->given) ? $this->given[$name] : $default;
        return is_int($value) ? $value : self::refuse($name, 'must be a whole number');
    }

    public function objects(string $name): array
    {
        $value = $this->raw($name);
        if (!Json::isList($value) || array_filter($value, Json::isObject(...)) !== $value) {
            self::refuse($name, 'must be a list of objects');
        }
        return array_map(static fn ($element) => new self((array)$element), $value);
    }

    public function texts(string $name, int $most = PHP_INT_MAX): array
    {
        $value = $this->raw($name);
        if (!Json::isList($value) || array_filter($value, is_string(...)) !== $value) {
            self::refuse($name, 'must be a list of strings');
        }
        return count($value) <= $most ? $value : self::refuse($name, "may hold at most $most");
    }

    private static function refuse(string $name, string $message): never
    {
        throw CallFault::malformed("$name $message");
    }
}
