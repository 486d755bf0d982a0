<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

/** The database of the box: locks of others, transactions that can be taken back, tables. */
final class FakeConnection extends \Bitrix\Main\DB\Connection
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

    /** An inner one is rolled back too, but not without a word. */
    public function rollbackTransaction(): void
    {
        World::$tables = array_pop(self::$before) ?? World::$tables;
        World::$inTransaction = self::$before !== [];
        if (World::$inTransaction) {
            throw new \RuntimeException('Transaction was rolled back partially');
        }
    }

    public function isTableExists(string $table): bool
    {
        return isset(World::$tables[$table]);
    }

    public function createIndex(string $table, string $name, array $columns): void
    {
        World::call('createIndex', [$table, $columns]);
        $sizes = array_intersect_key(World::$services["columns $table"]->sizes, array_flip($columns));
        self::refuseLongKey(array_sum($sizes));
    }

    /** As old MySQL has it: 767 bytes, and four of them for a character. */
    public static function refuseLongKey(int $characters): void
    {
        if ($characters * 4 > 767) {
            throw new \RuntimeException('Specified key was too long; max key length is 767 bytes');
        }
    }

    public function dropTable(string $table): void
    {
        unset(World::$tables[$table]);
    }
}
