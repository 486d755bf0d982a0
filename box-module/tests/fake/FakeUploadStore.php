<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Port\UploadStore;

/** Keeps the bytes while a file grows, and only what was announced of it afterwards. */
final class FakeUploadStore implements UploadStore
{
    private readonly Db $db;

    public function __construct(private readonly FakeBox $box)
    {
        $this->db = $box->db;
    }

    public function upload(string $key): ?array
    {
        return $this->db->rows('SELECT name, size, sha256, received FROM upload WHERE key = ?', $key)[0] ?? null;
    }

    public function begin(string $key, string $name, int $size, string $sha256): void
    {
        $this->db->inTransaction(function () use ($key, $name, $size, $sha256): void {
            $this->db->run('DELETE FROM chunk WHERE key = ?', $key);
            $this->db->run('REPLACE INTO upload VALUES (?, ?, ?, ?, 0)', $key, $name, $size, $sha256);
        });
    }

    public function append(string $key, int $offset, string $bytes): void
    {
        $this->db->inTransaction(function () use ($key, $offset, $bytes): void {
            $this->db->run('REPLACE INTO chunk VALUES (?, ?, ?)', $key, $offset, base64_encode($bytes));
            $this->db->run('UPDATE upload SET received = ? WHERE key = ?', $offset + strlen($bytes), $key);
        });
        $this->box->accidents->at('after-append');
    }

    public function sha256(string $key): string
    {
        $running = hash_init('sha256');
        $next = 'SELECT place, bytes FROM chunk WHERE key = ? AND place > ? ORDER BY place LIMIT 1';
        // one at a time: a file may be larger than the memory
        for ($place = -1; $row = $this->db->rows($next, $key, $place)[0] ?? null; $place = $row['place']) {
            hash_update($running, base64_decode($row['bytes']));
        }
        return hash_final($running);
    }

    public function keep(string $key): string
    {
        $upload = $this->upload($key);
        unset($upload['received']);
        return $this->box->records('files')->create($key, $upload);
    }

    public function discard(string $key): void
    {
        $this->db->inTransaction(function () use ($key): void {
            $this->db->run('DELETE FROM chunk WHERE key = ?', $key);
            $this->db->run('DELETE FROM upload WHERE key = ?', $key);
        });
    }
}
