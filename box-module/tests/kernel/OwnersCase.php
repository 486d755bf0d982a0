<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Port\Records;

/** A deal, a contact and an item of a smart process, whom nothing that happens around them may change. */
abstract class OwnersCase extends KernelCase
{
    protected const DEAL = ['ownerTypeId' => 2, 'ownerId' => '5'];
    protected const CONTACT = ['ownerTypeId' => 3, 'ownerId' => '7'];
    protected const ITEM = ['ownerTypeId' => 1030, 'ownerId' => '10300000000009'];
    private const OWNERS = ['crm_2' => 5, 'crm_3' => 7, 'crm_1030' => 9];

    private KernelBox $real;
    private array $before = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        foreach (self::OWNERS as $table => $id) {
            World::put($table, [
                'ID' => $id, 'UPDATED_TIME' => World::now(), 'UPDATED_BY' => 13, 'ASSIGNED_BY_ID' => 12,
                'LAST_ACTIVITY_TIME' => World::now(), 'LAST_ACTIVITY_BY' => 13, 'IS_RECURRING' => 'N',
            ]);
        }
        $this->before = array_intersect_key(World::$tables, self::OWNERS);
    }

    protected function records(string $stream): Records
    {
        return $this->real->records($stream);
    }

    protected function assertPostConditions(): void
    {
        World::endOfHit();
        parent::assertPostConditions();
        self::assertEquals($this->before, array_intersect_key(World::$tables, self::OWNERS), 'no owner has changed');
        self::assertSame([], World::$tables['user_counters'] ?? []);
    }

    /** @param array<string, mixed> $fields sent, and found again */
    protected function assertKept(string $stream, string $id, array $fields): void
    {
        self::assertHolds($fields, $this->now($stream, $id));
    }

    /** @return array<string, int> how many rows are in each of these tables */
    protected static function rows(string ...$tables): array
    {
        return array_filter(array_map('count', array_intersect_key(World::$tables, array_flip($tables))));
    }
}
