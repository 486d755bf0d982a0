<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Port\Entry;
use B24migrate\Import\Port\Map;

/** Counts besides how often a key was created and updated, for tests to look at. */
final class FakeMap implements Map
{
    private const COLUMNS = 'key, stream, id, digest, adopted, print';
    private readonly Db $db;

    public function __construct(private readonly FakeBox $box)
    {
        $this->db = $box->db;
    }

    public function entries(array $keys): array
    {
        $entries = [];
        foreach (array_chunk($keys, 500) as $some) {
            $sql = 'SELECT ' . self::COLUMNS . ' FROM map WHERE key IN (' . Db::marks($some) . ')';
            foreach ($this->db->rows($sql, ...$some) as $row) {
                $entries[$row['key']] = self::entry($row);
            }
        }
        return $entries;
    }

    public function put(Entry $entry): void
    {
        if ($entry->fingerprint !== '') {
            $this->box->accidents->at('before-seal');
        }
        $this->db->inTransaction(function () use ($entry): void {
            $before = $this->db->rows('SELECT * FROM map WHERE key = ?', $entry->key)[0] ?? null;
            $known = $before !== null && $before['id'] !== null;
            $created = $before['created_count'] ?? 0;
            $updated = $before['updated_count'] ?? 0;
            $this->db->run(
                'REPLACE INTO map VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
                $entry->key,
                $entry->stream,
                $entry->id === null ? null : (int)$entry->id,
                $entry->digest,
                $entry->linked,
                $entry->fingerprint,
                $created + (!$known && $entry->id !== null ? 1 : 0),
                $updated + ($known && $before['digest'] !== $entry->digest ? 1 : 0),
                $before['imported_at'] ?? gmdate('Y-m-d\TH:i:s\Z')
            );
        });
        $this->box->accidents->at(match (true) {
            $entry->id === null => 'after-intent',
            $entry->fingerprint === '' => 'after-map',
            default => 'after-seal',
        });
    }

    public function drop(string $key): void
    {
        $this->db->run('DELETE FROM map WHERE key = ?', $key);
    }

    public function page(string $stream, string $after, int $limit): array
    {
        [$id, $key] = $after === '' ? [-1, ''] : explode(':', $after, 2) + [1 => ''];
        $rows = $this->db->rows(
            'SELECT ' . self::COLUMNS . ' FROM map WHERE stream = ? AND id IS NOT NULL AND (id, key) > (?, ?)'
                . ' ORDER BY id, key LIMIT ?',
            $stream,
            (int)$id,
            $key,
            $limit + 1
        );
        $entries = array_map(self::entry(...), array_slice($rows, 0, $limit));
        $last = end($entries);
        return [$entries, count($rows) > $limit ? "$last->id:$last->key" : null];
    }

    public function count(string $stream): int
    {
        return $this->db->value('SELECT count(*) FROM map WHERE stream = ? AND id IS NOT NULL', $stream);
    }

    public function entriesOf(string $stream, string $id): array
    {
        $sql = 'SELECT ' . self::COLUMNS . ' FROM map WHERE stream = ? AND id = ?';
        return array_map(self::entry(...), $this->db->rows($sql, $stream, (int)$id));
    }

    /** @return list<array<string, mixed>> every key, what it stands for, and how often it was created and updated */
    public function dump(string $stream): array
    {
        $rows = $this->db->rows('SELECT * FROM map WHERE stream = ? AND id IS NOT NULL ORDER BY id, key', $stream);
        $fields = $this->box->records($stream)->all();
        return array_map(static fn ($row) => [
            'key' => $row['key'],
            'id' => (string)$row['id'],
            'digest' => $row['digest'],
            'fields' => (object)($fields[$row['id']] ?? []),
            'created_count' => $row['created_count'],
            'updated_count' => $row['updated_count'],
            'linked' => $row['adopted'] === 1,
            'imported_at' => $row['imported_at'],
        ], $rows);
    }

    /** @param array<string, mixed> $row */
    private static function entry(array $row): Entry
    {
        return new Entry(
            $row['key'],
            $row['stream'],
            $row['id'] === null ? null : (string)$row['id'],
            $row['digest'],
            $row['adopted'] === 1,
            $row['print']
        );
    }
}
