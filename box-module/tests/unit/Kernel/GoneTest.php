<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** What somebody deletes between the look and the write. */
final class GoneTest extends KernelCase
{
    /** @return array<string, array{string, string}> */
    public function streams(): array
    {
        $crm = ['crm_stages', 'crm_companies', 'crm_contacts', 'crm_deals'];
        $others = ['tasks', 'task_checklists', 'task_comments', 'workflow_templates'];
        $streams = array_fill_keys([...$crm, ...$others], '77');
        $streams += ['crm_types' => '1032', 'crm_categories' => '10300000000077', 'crm_spitems' => '10300000000077'];
        return array_map(static fn(string $name, string $id) => [$name, $id], array_keys($streams), $streams);
    }

    /** @dataProvider streams */
    public function testARecordThatIsGoneIsNotUpdated(string $stream, string $id): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        $this->expectException(ItemFault::class);
        $this->expectExceptionMessage('somebody has deleted this record');
        (new KernelBox())->records($stream)->update($id, array_fill_keys(['title', 'TITLE', 'NAME', 'text'], 'x'));
    }
}
