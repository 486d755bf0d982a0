<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Lookup;
use B24migrate\Import\Port\Box;

/** What one call sees of the box: each thing is looked up once, until it is written; a rehearsal only imagines it. */
final class Sight implements Lookup
{
    /** @var array<string, array<string, true>> by stream and id */
    private array $there = [];

    /** @var array<string, array<string, array<string, mixed>>> by stream and id */
    private array $read = [];

    /** @var array<string, array<string, string>> by stream and what was looked for */
    private array $found = [];

    /** @var array<string, array<string, array<string, mixed>>> by stream and id */
    private array $imagined = [];

    public function __construct(private readonly Box $box)
    {
    }

    public function rootDepartment(): string
    {
        return $this->box->rootDepartment();
    }

    public function has(string $stream, string $id): bool
    {
        if (!isset($this->there[$stream][$id]) && $this->box->records($stream)->has($id)) {
            $this->there[$stream][$id] = true;
        }
        return isset($this->there[$stream][$id]) || isset($this->imagined[$stream][$id]);
    }

    public function read(string $stream, string $id): ?array
    {
        $known = $this->imagined[$stream][$id] ?? $this->read[$stream][$id] ?? null;
        if ($known === null) {
            $this->read[$stream] = $this->box->records($stream)->read([$id]) + ($this->read[$stream] ?? []);
        }
        return $known ?? $this->read[$stream][$id] ?? null;
    }

    public function find(string $stream, array $values): ?string
    {
        if (in_array(null, $values, true)) {
            return null;
        }
        foreach ($this->imagined[$stream] ?? [] as $id => $fields) {
            if (self::folded(array_intersect_key($fields, $values)) === self::folded($values)) {
                return (string)$id;
            }
        }
        $question = serialize($values);
        $id = $this->found[$stream][$question] ?? $this->box->records($stream)->find($values);
        if ($id !== null) {
            $this->found[$stream][$question] = $id;
        }
        // what a rehearsal has changed is no longer what the box says it is
        return isset($this->imagined[$stream][$id ?? '']) ? null : $id;
    }

    public function wrote(string $stream): void
    {
        unset($this->read[$stream], $this->found[$stream]);
    }

    public function imagine(string $stream, string $id, array $fields): void
    {
        $this->imagined[$stream][$id] = $fields;
    }

    private static function folded(array $values): array
    {
        if (is_string($values['EMAIL'] ?? null)) {
            $values['EMAIL'] = mb_strtolower(trim($values['EMAIL']));
        }
        ksort($values);
        return $values;
    }
}
