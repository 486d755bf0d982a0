<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

/** What a test has arranged: deaths of the process and failures of items. Kept apart from what the box holds. */
final class Stage implements Accidents
{
    private const SCHEMA = <<<'SQL'
        CREATE TABLE death(point TEXT, times INTEGER, how TEXT);
        CREATE TABLE failure(glob TEXT, code TEXT, retry INTEGER, times INTEGER);
        CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER);
        CREATE TABLE highest(chat TEXT PRIMARY KEY, number INTEGER);
        CREATE TABLE waiting(chat TEXT, number INTEGER, call INTEGER, retry INTEGER, overtaken INTEGER,
            PRIMARY KEY (chat, number))
        SQL;

    public readonly Db $db;

    /** @var array<string, true> points where somebody is to die */
    private readonly array $deadly;

    public function __construct(string $path)
    {
        $this->db = new Db($path, self::SCHEMA);
        $this->deadly = array_fill_keys(array_column($this->db->rows('SELECT point FROM death'), 'point'), true);
    }

    public function at(string $point): void
    {
        if (!isset($this->deadly[$point])) {
            return;
        }
        $sql = 'SELECT rowid, how FROM death WHERE point = ? AND times > 0 ORDER BY rowid LIMIT 1';
        $death = $this->db->inTransaction(function () use ($sql, $point): ?array {
            $death = $this->db->rows($sql, $point)[0] ?? null;
            $this->db->run('UPDATE death SET times = times - 1 WHERE rowid = ?', $death['rowid'] ?? 0);
            return $death;
        });
        match ($death['how'] ?? null) {
            null => null,
            'kill' => posix_kill(posix_getpid(), SIGKILL),
            'gone' => self::vanish(),
        };
    }

    public function arrangeDeath(string $point, int $times, string $how): void
    {
        $this->db->run('INSERT INTO death VALUES (?, ?, ?)', $point, $times, $how);
    }

    public function arrangeFailure(string $glob, string $code, bool $retry, int $times): void
    {
        $this->db->run('INSERT INTO failure VALUES (?, ?, ?, ?)', $glob, $code, $retry, $times);
    }

    /** @return ?array{code: string, retry: int} what an item with this key has to fail with */
    public function failure(string $key): ?array
    {
        foreach ($this->db->rows('SELECT rowid, * FROM failure WHERE times > 0 ORDER BY rowid') as $row) {
            $taken = 'UPDATE failure SET times = times - 1 WHERE rowid = ? AND times > 0';
            if (fnmatch($row['glob'], $key) && $this->db->run($taken, $row['rowid']) === 1) {
                return ['code' => $row['code'], 'retry' => $row['retry']];
            }
        }
        return null;
    }

    /** As a web server answers for a worker that died: nothing that was open is finished. */
    private static function vanish(): never
    {
        while (ob_get_level() > 0) {
            ob_end_clean();
        }
        header('Content-Type: text/html');
        http_response_code(502);
        exit('<html><body>502 Bad Gateway</body></html>');
    }
}
