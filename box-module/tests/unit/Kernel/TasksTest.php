<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class TasksTest extends KernelCase
{
    private const TASK = [
        'title' => 'Отчёт', 'description' => '[b]всё[/b]', 'status' => '5', 'priority' => '2', 'createdBy' => '12',
        'responsibleId' => '13', 'changedBy' => '14', 'closedBy' => '13', 'groupId' => '4', 'parentId' => null,
        'createdDate' => '2019-01-02T03:04:05Z', 'changedDate' => '2020-01-02T03:04:05Z',
        'closedDate' => '2020-01-02T03:04:05Z', 'dateStart' => null, 'deadline' => '2019-12-31T21:00:00Z',
        'startDatePlan' => null, 'endDatePlan' => null, 'timeEstimate' => 3600, 'accomplices' => ['15', '16'],
        'auditors' => ['17'], 'tags' => ['срочно'], 'ufCrmTask' => ['D_5', 'T406_10300000000012'],
    ];

    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
    }

    public function testATaskIsReadBackAsItWasSent(): void
    {
        $file = $this->file();
        $task = self::TASK + ['ufTaskWebdavFiles' => [$file]];
        $tasks = $this->real->records('tasks');
        $id = $tasks->create('source:tasks:1', $task);
        $this->assertEquals($task, $tasks->read([$id])[$id]);
        $this->assertSame(['D_5', 'T406_12'], World::$tables['uf:TASKS_TASK'][(int)$id]['UF_CRM_TASK']);
        $this->assertSame([[(int)$id]], World::calls('setTaskSearchIndex'));
        $this->assertSame('2020-01-02T03:04:05Z', Dates::utc(World::row('tasks', $id)['ACTIVITY_DATE']));
    }

    public function testATimeInACustomFieldIsNotShiftedByTheZoneOfWhoeverCalls(): void
    {
        $this->real->customFields()->create('tasks', null, ['code' => 'UF_WHEN', 'type' => 'datetime']);
        $tasks = $this->real->records('tasks');
        $id = $tasks->create('a', self::TASK + ['UF_WHEN' => '2024-03-31T00:30:00Z']);
        $stored = World::$tables['uf:TASKS_TASK'][(int)$id]['UF_WHEN'];
        $this->assertSame('2024-03-31T00:30:00Z', Dates::utc($stored));
        $this->assertSame('2024-03-31T00:30:00Z', $tasks->read([$id])[$id]['UF_WHEN']);
    }

    public function testALateParentIsAttachedAndTakenAway(): void
    {
        $tasks = $this->real->records('tasks');
        $parent = $tasks->create('a', self::TASK);
        $id = $tasks->create('b', self::TASK);
        $this->assertArrayNotHasKey('task_tree', World::$tables);
        $tasks->update($id, ['parentId' => $parent] + self::TASK);
        $this->assertSame(['PARENT' => (int)$parent], World::$tables['task_tree'][(int)$id]);
        $this->assertSame($parent, $tasks->read([$id])[$id]['parentId']);
        $this->assertSame('it has subtasks', $tasks->reasonToKeep($parent));
        $this->assertNull($tasks->reasonToKeep($parent, [$id]));
        $tasks->update($id, self::TASK);
        $this->assertSame(['PARENT' => 0], World::$tables['task_tree'][(int)$id]);
        $this->assertNull($tasks->read([$id])[$id]['parentId']);
    }

    public function testEmptyDatesOfATaskThatMustHaveOnesAreLeftToTheBox(): void
    {
        $tasks = $this->real->records('tasks');
        $id = $tasks->create('a', ['title' => 'x', 'createdBy' => '12', 'responsibleId' => '12', 'status' => null]);
        $this->assertSame('2', $tasks->read([$id])[$id]['status']);
        $this->assertNotNull($tasks->read([$id])[$id]['createdDate']);
        $this->assertSame('12', $tasks->read([$id])[$id]['changedBy']);
    }

    public function testTheLowestPriorityIsOne(): void
    {
        $tasks = $this->real->records('tasks');
        $id = $tasks->create('a', ['priority' => '0'] + self::TASK);
        $this->assertSame('0', $tasks->read([$id])[$id]['priority']);
    }

    public function testADeletionIsNotToldToAnybody(): void
    {
        $tasks = $this->real->records('tasks');
        $id = $tasks->create('a', self::TASK);
        $tasks->delete($id);
        $this->assertFalse($tasks->has($id));
    }

    public function testAChecklistKeepsItsTreeItsPeopleAndWhoTickedItWhen(): void
    {
        $lists = $this->real->records('task_checklists');
        $root = $lists->create('a', ['TASK_ID' => '5', 'TITLE' => 'Список', 'PARENT_ID' => null]);
        $item = [
            'TASK_ID' => '5', 'TITLE' => 'Пункт', 'SORT_INDEX' => 3, 'IS_COMPLETE' => true, 'IS_IMPORTANT' => false,
            'CREATED_BY' => '12', 'TOGGLED_BY' => '13', 'TOGGLED_DATE' => '2019-01-02T03:04:05Z', 'PARENT_ID' => $root,
            'MEMBERS' => [['ID' => '14', 'TYPE' => 'A'], ['ID' => '15', 'TYPE' => 'U']],
        ];
        $id = $lists->create('b', $item);
        $this->assertEquals($item, $lists->read([$id])[$id]);
        $this->assertSame('1', $lists->read([$root])[$root]['CREATED_BY']);
        $this->assertSame('it has items below it', $lists->reasonToKeep($root));
        $this->assertNull($lists->reasonToKeep($root, [$id]));
        $lists->update($id, ['SORT_INDEX' => null, 'CREATED_BY' => null] + $item);
        $this->assertSame(0, World::row('checklists', $id)['SORT_INDEX'], 'none is the first place');
        $this->assertSame('12', $lists->read([$id])[$id]['CREATED_BY'], 'somebody has always made it');
        $lists->update($id, ['MEMBERS' => [['ID' => '15']], 'PARENT_ID' => null, 'IS_COMPLETE' => false] + $item);
        $read = $lists->read([$id])[$id];
        $this->assertSame([[['ID' => '15', 'TYPE' => 'A']], null, false], [
            $read['MEMBERS'], $read['PARENT_ID'], $read['IS_COMPLETE'],
        ]);
        $lists->delete($id);
        $this->assertFalse($lists->has($id));
    }
}
