<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Tasks\CheckList\Task\TaskCheckListTree;
use Bitrix\Tasks\Internals\Task\CheckList\MemberTable;
use Bitrix\Tasks\Internals\Task\{CheckListTable, CheckListTreeTable};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Checklists and their items: rows in the tables, since the kernel's own way comments on every one of them. That a list
 * without items needs no place in the tree, and where members lie, is to be checked on a real box.
 */
final class TaskChecklists extends Gateway
{
    protected const TABLE = CheckListTable::class;
    protected const FIELDS = [
        'id' => 'TASK_ID CREATED_BY TOGGLED_BY',
        'text' => 'TITLE',
        'place' => 'SORT_INDEX',
        'flag' => 'IS_COMPLETE IS_IMPORTANT',
        'moment' => 'TOGGLED_DATE',
    ];
    protected const FILLED = ['CREATED_BY'];
    private const ACCOMPLICE = 'A';

    public function create(string $key, array $fields): string
    {
        // Who made an old item is not always known.
        $row = self::columns()->toKernel($fields) + ['CREATED_BY' => self::actor(), 'SORT_INDEX' => 0];
        $id = (int)self::mustSucceed(CheckListTable::add($row))->getId();
        if (!empty($fields['PARENT_ID'])) {
            TaskCheckListTree::attachNew($id, (int)$fields['PARENT_ID']);
        }
        $this->setMembers($id, $fields['MEMBERS'] ?? []);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(CheckListTable::class, ['ID'], $id));
        self::mustSucceed(CheckListTable::update((int)$id, self::columns()->toKernel($fields)));
        $parent = (int)($fields['PARENT_ID'] ?? 0);
        if (array_key_exists('PARENT_ID', $fields) && $parent !== (int)($this->parents([(int)$id])[(int)$id] ?? 0)) {
            TaskCheckListTree::attach((int)$id, $parent);
        }
        if (array_key_exists('MEMBERS', $fields)) {
            $this->dropMembers((int)$id);
            $this->setMembers((int)$id, $fields['MEMBERS'] ?? []);
        }
    }

    public function delete(string $id): void
    {
        $this->dropMembers((int)$id);
        TaskCheckListTree::delete((int)$id, ['DELETE_SUBTREE' => true]);
        self::mustSucceed(CheckListTable::delete((int)$id));
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $filter = ['=PARENT_ID' => (int)$id, '=LEVEL' => 1];
        $rows = CheckListTreeTable::getList(['select' => ['CHILD_ID'], 'filter' => $filter])->fetchAll();
        $children = array_map('strval', array_column($rows, 'CHILD_ID'));
        return array_diff($children, $gone) === [] ? null : 'it has items below it';
    }

    protected function loadRows(array $ids): array
    {
        $parents = $this->parents($ids);
        $rows = self::findRows(MemberTable::class, ['ITEM_ID', 'USER_ID', 'TYPE'], ['@ITEM_ID' => $ids]);
        $member = fn(array $row) => ['ID' => (string)$row['USER_ID'], 'TYPE' => $row['TYPE']];
        $members = self::groupBy($rows, 'ITEM_ID', $member);
        $more = fn(int $id) => ['parent' => $parents[$id] ?? null, 'members' => $members[$id] ?? []];
        return array_map(fn(array $row) => $row + $more((int)$row['ID']), parent::loadRows($ids));
    }

    protected function toFields(array $row): array
    {
        return parent::toFields($row) + ['PARENT_ID' => $row['parent'], 'MEMBERS' => $row['members']];
    }

    /** @return array<int, string> the item directly above, by item */
    private function parents(array $ids): array
    {
        $filter = ['@CHILD_ID' => $ids, '=LEVEL' => 1];
        $rows = CheckListTreeTable::getList(['select' => ['CHILD_ID', 'PARENT_ID'], 'filter' => $filter])->fetchAll();
        return array_map('strval', array_column($rows, 'PARENT_ID', 'CHILD_ID'));
    }

    private function setMembers(int $id, array $members): void
    {
        foreach ($members as $member) {
            $type = $member['TYPE'] ?? self::ACCOMPLICE;
            self::mustSucceed(MemberTable::add(['ITEM_ID' => $id, 'USER_ID' => (int)$member['ID'], 'TYPE' => $type]));
        }
    }

    private function dropMembers(int $id): void
    {
        foreach (self::findRows(MemberTable::class, ['ID'], ['=ITEM_ID' => $id]) as $member) {
            MemberTable::delete($member['ID']);
        }
    }
}
