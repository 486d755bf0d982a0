<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Tests\Kernel\KernelCase;

/** The cursor that the map of a real box gives is one that the door takes back. */
final class PagesTest extends KernelCase
{
    public function testEveryRecordIsListedOnceInPagesOfOne(): void
    {
        MapTable::createTable();
        $door = new Router(new KernelBox());
        $digest = str_repeat('a', 64);
        $items = array_map(
            static fn ($n) => ['key' => "d$n", 'digest' => $digest, 'fields' => ['NAME' => "D$n", 'PARENT' => '1']],
            range(1, 3)
        );
        $body = Json::encode(['stream' => 'departments', 'items' => $items]);
        $made = array_column($door->answer('import.users.batch', $body)['items'], 'id');
        [$seen, $after] = [[], ''];
        do {
            $body = Json::encode(['stream' => 'departments', 'after' => $after, 'limit' => 1]);
            $page = $door->answer('import.users.list', $body);
            array_push($seen, ...array_column($page['items'], 'id'));
            $after = $page['cursor'];
        } while ($after !== null);
        $this->assertSame($made, $seen);
        $this->assertCount(3, array_filter($seen));
    }
}
