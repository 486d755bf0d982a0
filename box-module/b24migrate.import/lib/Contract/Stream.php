<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

use B24migrate\Import\Contract\Kind\Kind;

/** One row of the contract's table; the methods know nothing else about a stream. */
final class Stream
{
    /**
     * @param array<string, Kind> $patterns kinds of fields whose names match
     * @param list<\Closure(array<string, mixed>, Inspection): void> $rules checks that look at several fields at once
     * @param ?\Closure(array<string, mixed>, Lookup): ?string $linkedTo the record that the box has for these fields
     * @param list<string> $keptWhenLinked fields of a linked record that are never changed
     * @param ?string $typedBy the field that tells a record's type, where each type has custom fields of its own
     * @param bool $oneAtATime whether two items could clash (an address, a title), so that one waits for the other
     */
    public function __construct(
        public readonly string $name,
        public readonly string $entity,
        public readonly array $fields,
        public readonly array $required = [],
        public readonly array $patterns = [],
        public readonly array $rules = [],
        public readonly ?\Closure $linkedTo = null,
        public readonly array $keptWhenLinked = [],
        public readonly ?string $typedBy = null,
        public readonly bool $oneAtATime = false
    ) {
    }

    /** What must not be worked on twice at the same time when a record with this key is written. */
    public function lock(string $key): string
    {
        return $this->oneAtATime ? "stream:$this->name" : "item:$key";
    }

    /** The kind of a field that every box has, or null. */
    public function builtin(string $name): ?Kind
    {
        if (isset($this->fields[$name])) {
            return $this->fields[$name];
        }
        foreach ($this->patterns as $pattern => $kind) {
            if (preg_match("/^(?:$pattern)$/D", $name) === 1) {
                return $kind;
            }
        }
        return null;
    }

    /**
     * Raises the first thing that is wrong with these fields.
     *
     * @param array<string, mixed> $fields as they were sent
     * @param array<string, Kind> $kinds of those that the box knows
     * @param array<string, mixed> $before what the record has already, when it exists
     * @throws ItemFault
     */
    public function inspect(array $fields, array $kinds, Inspection $seen, array $before = []): void
    {
        foreach ($this->required as $seen->field) {
            $asked = $seen->itself === null || array_key_exists($seen->field, $fields);
            if ($asked && in_array($fields[$seen->field] ?? null, [null, ''], true)) {
                throw $seen->refuse('is required');
            }
        }
        foreach ($kinds as $seen->field => $kind) {
            if (isset($fields[$seen->field])) {
                $kind->check($fields[$seen->field], $seen);
            }
        }
        foreach ($this->rules as $rule) {
            $rule($fields + $before, $seen);
        }
    }
}
