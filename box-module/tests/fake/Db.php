<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

/** One SQLite file. What is committed survives the death of the process; what is not is taken back by it. */
final class Db
{
    private readonly \PDO $pdo;
    private int $depth = 0;

    /** @var array<string, \PDOStatement> */
    private array $prepared = [];

    public function __construct(public readonly string $path, string $schema)
    {
        $this->pdo = new \PDO("sqlite:$path", null, null, [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
        // NORMAL: the system's memory outlives a process that is killed, and no test pulls the plug
        $this->pdo->exec('PRAGMA busy_timeout = 20000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
        if ($this->value('PRAGMA user_version') === 0) {
            $this->inTransaction(function () use ($schema): void {
                if ($this->value('PRAGMA user_version') === 0) {
                    $this->pdo->exec("$schema; PRAGMA user_version = 1");
                }
            });
        }
    }

    public function run(string $sql, mixed ...$values): int
    {
        return $this->executed($sql, $values)->rowCount();
    }

    /** @return list<array<string, mixed>> */
    public function rows(string $sql, mixed ...$values): array
    {
        return $this->executed($sql, $values)->fetchAll(\PDO::FETCH_ASSOC);
    }

    public function value(string $sql, mixed ...$values): mixed
    {
        $rows = $this->executed($sql, $values)->fetchAll(\PDO::FETCH_NUM);
        return $rows[0][0] ?? null;
    }

    /** Runs the work in one transaction; one inside another is part of it. */
    public function inTransaction(callable $work): mixed
    {
        if ($this->depth > 0) {
            return $work();
        }
        $this->pdo->exec('BEGIN IMMEDIATE');
        $this->depth++;
        try {
            $result = $work();
            $this->pdo->exec('COMMIT');
            return $result;
        } catch (\Throwable $error) {
            $this->pdo->exec('ROLLBACK');
            throw $error;
        } finally {
            $this->depth--;
        }
    }

    public static function marks(array $values): string
    {
        return implode(', ', array_fill(0, count($values), '?'));
    }

    /** @param list<mixed> $values */
    private function executed(string $sql, array $values): \PDOStatement
    {
        $statement = $this->prepared[$sql] ??= $this->pdo->prepare($sql);
        foreach ($values as $place => $value) {
            $kind = is_int($value) || is_bool($value) ? \PDO::PARAM_INT : \PDO::PARAM_STR;
            $statement->bindValue($place + 1, $value, $value === null ? \PDO::PARAM_NULL : $kind);
        }
        $statement->execute();
        return $statement;
    }
}
