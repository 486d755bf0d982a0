<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

/** The database of the box: locks of others, transactions that can be taken back, tables. */
final class FakeConnection
{
    /** @var array<string, true> locks that somebody else holds, or we */
    public static array $locks = [];
    /** @var list<array<string, array<int|string, array<string, mixed>>>> what was there before */
    private static array $before = [];

    public function lock(string $name, int $seconds = 0): bool
    {
        if (strlen($name) > 64) {
            throw new \LogicException('MySQL allows 64 characters for the name of a lock');
        }
        $free = !isset(self::$locks[$name]);
        self::$locks[$name] = true;
        return $free;
    }

    public function unlock(string $name): void
    {
        unset(self::$locks[$name]);
    }

    public function startTransaction(): void
    {
        self::$before[] = World::$tables;
        World::$inTransaction = true;
    }

    public function commitTransaction(): void
    {
        array_pop(self::$before);
        World::$inTransaction = self::$before !== [];
    }

    public function rollbackTransaction(): void
    {
        World::$tables = array_pop(self::$before) ?? World::$tables;
        World::$inTransaction = self::$before !== [];
    }

    public function isTableExists(string $table): bool
    {
        return isset(World::$tables[$table]);
    }

    public function createIndex(string $table, string $name, array $columns): void
    {
        World::call('createIndex', [$table, $columns]);
    }

    public function dropTable(string $table): void
    {
        unset(World::$tables[$table]);
    }
}
