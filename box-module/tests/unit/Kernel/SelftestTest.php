<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Door;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** All gateways together, from the method to the tables of the kernel and back. */
final class SelftestTest extends KernelCase
{
    /** @return list<array{string}> */
    public function versions(): array
    {
        return [['25.600.0'], ['25.950.0']];
    }

    /** @dataProvider versions */
    public function testOneOfEachKindComesGoesAndLeavesNothing(string $version): void
    {
        World::$versions['tasks'] = $version;
        MapTable::createTable();
        $told = (new Door(new KernelBox()))->answer('import.selftest', '{}');
        $bad = array_filter($told['streams'], static fn($one) => $one['error'] || $one['differs'] || $one['left']);
        $this->assertSame([], array_values($bad));
        $this->assertTrue($told['ok']);
        $this->assertSame([], World::$tables[MapTable::getTableName()]);
    }
}
