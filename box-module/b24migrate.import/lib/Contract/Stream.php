<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** One row of the contract's table; the methods know nothing else about a stream. */
final class Stream
{
    /** @var array<string, \Closure> kinds by name, or by a pattern of names */
    private readonly array $fields;

    /** @var list<string> */
    public readonly array $required;

    /**
     * @param array{array<string, \Closure>, list<string>} $fields kinds, and what must be there
     * @param list<\Closure(array, Inspection, string): void> $rules checks that look at several fields at once
     * @param ?\Closure(array, Lookup, string): ?string $linkedTo the record that the box has for these fields and key
     * @param list<string> $keptWhenLinked fields of a linked record that are never changed
     * @param list<string> $takenWhenLinked fields of a linked record that are those of the source from then on
     * @param ?string $typedBy the field that tells a record's type, where each type has custom fields of its own
     * @param bool $oneAtATime whether two items could clash (an address, a title), so that one waits for the other
     * @param bool $hasOptions whether an item has list values, whose ids on the box are answered with it
     * @param list<string> $neverWritten fields that are information: the box keeps its own
     */
    public function __construct(
        public readonly string $name,
        public readonly string $entity,
        array $fields,
        public readonly array $rules = [],
        public readonly ?\Closure $linkedTo = null,
        public readonly array $keptWhenLinked = [],
        public readonly array $takenWhenLinked = [],
        public readonly ?string $typedBy = null,
        private readonly bool $oneAtATime = false,
        public readonly bool $hasOptions = false,
        public readonly array $neverWritten = []
    ) {
        [$this->fields, $this->required] = $fields;
    }

    /** What must not be worked on twice at the same time when a record with this key is written. */
    public function lock(string $key): string
    {
        return $this->oneAtATime ? "stream:$this->name" : "item:$key";
    }

    /** The kind of a field that every box has, or null. */
    public function builtin(string $name): ?\Closure
    {
        if (preg_match('/\W/', $name) === 1) {
            // what looks like one of the patterns is no name
            return null;
        }
        foreach (isset($this->fields[$name]) ? [] : preg_grep('/\W/', array_keys($this->fields)) as $pattern) {
            if (preg_match("/^(?:$pattern)$/D", $name) === 1) {
                return $this->fields[$pattern];
            }
        }
        return $this->fields[$name] ?? null;
    }

    /**
     * Raises the first thing that is wrong with these fields.
     *
     * @param array<string, \Closure> $kinds of those that the box knows
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
        foreach ($kinds as $seen->field => $check) {
            if (isset($fields[$seen->field])) {
                $check($fields[$seen->field], $seen);
            }
        }
        foreach ($this->rules as $rule) {
            $rule($fields + $before, $seen, $this->name);
        }
    }
}
