<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Lookup;
use B24migrate\Import\Port\Box;

defined('B_PROLOG_INCLUDED') || exit;

/** What one call sees of the box: each thing is looked up once, until it is written; a rehearsal only imagines it. */
final class CachedLookup implements Lookup
{
    /** @var array<string, array<string, mixed>> answers by stream and question */
    private array $known = [];

    /** @var array<string, array<string, array<string, mixed>>> fields by stream and id */
    private array $imagined = [];

    public function __construct(private readonly Box $box)
    {
    }

    public function rootDepartment(): string
    {
        return $this->box->rootDepartment();
    }

    public function allowedActivities(): array
    {
        return $this->box->allowedActivities();
    }

    public function has(string $stream, string $id): bool
    {
        $known = $this->known[$stream]["has $id"] ??= $this->box->records($stream)->has($id) ?: null;
        return $known === true || isset($this->imagined[$stream][$id]);
    }

    public function read(string $stream, string $id): ?array
    {
        return $this->imagined[$stream][$id]
            ?? $this->known[$stream]["read $id"] ??= $this->box->records($stream)->read([$id])[$id] ?? null;
    }

    public function find(string $stream, array $values): ?string
    {
        if (in_array(null, $values, true)) {
            return null;
        }
        foreach ($this->imagined[$stream] ?? [] as $id => $fields) {
            if (self::normalized(array_intersect_key($fields, $values)) === self::normalized($values)) {
                return (string)$id;
            }
        }
        $id = $this->known[$stream]['find ' . serialize($values)] ??= $this->box->records($stream)->find($values);
        // a dry run changes these values, so that they differ from the box
        return isset($this->imagined[$stream][$id ?? '']) ? null : $id;
    }

    public function forget(string $stream): void
    {
        unset($this->known[$stream]);
    }

    public function imagine(string $stream, string $id, array $fields): void
    {
        $this->imagined[$stream][$id] = $fields;
    }

    private static function normalized(array $values): array
    {
        if (is_string($values['EMAIL'] ?? null)) {
            $values['EMAIL'] = mb_strtolower(trim($values['EMAIL']));
        }
        ksort($values);
        return $values;
    }
}
