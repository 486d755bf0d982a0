<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\KernelMap;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class MapTest extends KernelCase
{
    private KernelMap $map;

    protected function setUp(): void
    {
        parent::setUp();
        MapTable::createTable();
        $this->map = new KernelMap();
    }

    public function testKeysThatADatabaseMightTakeForOneAreTwo(): void
    {
        $this->put('source:groups:A', '1');
        $this->put('source:groups:a', '2');
        $this->put('source:groups:a ', '3');
        $found = $this->map->entries(['source:groups:A', 'source:groups:a', 'source:groups:a ', 'unknown']);
        $this->assertSame(['1', '2', '3'], array_map(static fn($entry) => $entry->id, array_values($found)));
    }

    public function testAnEntryIsReadBackAsItWasWrittenAndReplaced(): void
    {
        $intent = new Entry('k', 'groups', null, str_repeat('a', 64));
        $this->map->put($intent);
        $this->assertEquals(['k' => $intent], $this->map->entries(['k']));
        $this->assertSame(0, $this->map->count('groups'));
        $done = new Entry('k', 'groups', '17', str_repeat('b', 64), true, str_repeat('c', 64));
        $this->map->put($done);
        $this->assertEquals(['k' => $done], $this->map->entries(['k']));
        $this->map->drop('k');
        $this->assertSame([], $this->map->entries(['k']));
    }

    public function testPagesGoInOrderOfIdsAsNumbersAndMissNothing(): void
    {
        foreach (['9', '10', '100', '10300000000005', '2'] as $id) {
            $this->put("k$id", $id);
        }
        $this->put('another key of 10', '10');
        $this->put('elsewhere', '1', 'chats');
        $this->map->put(new Entry('intent', 'groups', null, ''));
        [$seen, $after, $pages] = [[], '', 0];
        do {
            [$entries, $after] = $this->map->page('groups', (string)$after, 3);
            $seen = [...$seen, ...array_map(static fn($entry) => $entry->id, $entries)];
            $pages++;
        } while ($after !== null);
        $this->assertSame(['2', '9', '10', '10', '100', '10300000000005'], $seen);
        $this->assertSame(2, $pages);
        $this->assertSame(6, $this->map->count('groups'));
        $this->assertCount(2, $this->map->entriesOf('groups', '10'));
        $this->assertSame([], $this->map->entriesOf('chats', '10'));
    }

    public function testARecordTellsWhichKeyItWasMadeFor(): void
    {
        $this->map->put(new Entry('linked', 'groups', '10', str_repeat('0', 64), linked: true));
        $this->put('made', '10');
        $adopted = array_column($this->map->entriesOf('groups', '10'), 'linked', 'key');
        ksort($adopted);
        $this->assertSame(['linked' => true, 'made' => false], $adopted);
    }

    public function testTheTableIsMadeOnceAndDroppedWhenAsked(): void
    {
        $this->put('k', '1');
        MapTable::createTable();
        $this->assertSame(1, $this->map->count('groups'));
        MapTable::dropTable();
        $this->assertArrayNotHasKey(MapTable::getTableName(), World::$tables);
        MapTable::dropTable();
    }

    private function put(string $key, string $id, string $stream = 'groups'): void
    {
        $this->map->put(new Entry($key, $stream, $id, str_repeat('0', 64)));
    }
}
