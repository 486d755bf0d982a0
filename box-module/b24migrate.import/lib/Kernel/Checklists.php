<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Tasks\CheckList\Task\TaskCheckListTree;
use Bitrix\Tasks\Internals\Task\CheckList\MemberTable;
use Bitrix\Tasks\Internals\Task\CheckListTable;
use Bitrix\Tasks\Internals\Task\CheckListTreeTable;

/**
 * Checklists and their items: rows in the tables, since the kernel's own way comments on every one of them. That a list
 * without items needs no place in the tree is to be checked on a real box.
 */
final class Checklists extends Gateway
{
    private const FIELDS = [
        'TASK_ID' => ['TASK_ID', 'id'],
        'TITLE' => ['TITLE', 'text'],
        'SORT_INDEX' => ['SORT_INDEX', 'int'],
        'IS_COMPLETE' => ['IS_COMPLETE', 'flag'],
        'IS_IMPORTANT' => ['IS_IMPORTANT', 'flag'],
        'CREATED_BY' => ['CREATED_BY', 'id'],
        'TOGGLED_BY' => ['TOGGLED_BY', 'id'],
        'TOGGLED_DATE' => ['TOGGLED_DATE', 'moment'],
    ];
    private const ACCOMPLICE = 'A';

    public function has(string $id): bool
    {
        return self::exists(CheckListTable::class, $id);
    }

    public function read(array $ids): array
    {
        $ids = array_map('intval', $ids);
        $parents = $this->parents($ids);
        $members = [];
        foreach (self::all(MemberTable::class, ['ITEM_ID', 'USER_ID', 'TYPE'], ['@ITEM_ID' => $ids]) as $one) {
            $members[(int)$one['ITEM_ID']][] = ['ID' => (string)$one['USER_ID'], 'TYPE' => $one['TYPE']];
        }
        $found = [];
        foreach (self::all(CheckListTable::class, ['*'], ['@ID' => $ids]) as $row) {
            $id = (int)$row['ID'];
            $found[(string)$id] = (new Columns(self::FIELDS))->fromKernel($row)
                + ['PARENT_ID' => $parents[$id] ?? null, 'MEMBERS' => $members[$id] ?? []];
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        // Both must be there; who made an old item is not always known.
        $row['CREATED_BY'] = ($row['CREATED_BY'] ?? false) ?: $this->actor();
        $row['SORT_INDEX'] = (int)($row['SORT_INDEX'] ?? 0);
        $result = CheckListTable::add($row);
        $this->mustSucceed($result);
        $id = (int)$result->getId();
        if (!empty($fields['PARENT_ID'])) {
            TaskCheckListTree::attachNew($id, (int)$fields['PARENT_ID']);
        }
        $this->setMembers($id, $fields['MEMBERS'] ?? []);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::present(self::one(CheckListTable::class, ['ID'], $id));
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        if (empty($row['CREATED_BY'])) {
            unset($row['CREATED_BY']);
        }
        $this->mustSucceed(CheckListTable::update((int)$id, $row));
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
        $this->mustSucceed(CheckListTable::delete((int)$id));
    }

    public function needed(string $id, array $gone = []): ?string
    {
        $filter = ['=PARENT_ID' => (int)$id, '=LEVEL' => 1];
        $rows = CheckListTreeTable::getList(['select' => ['CHILD_ID'], 'filter' => $filter])->fetchAll();
        $children = array_map('strval', array_column($rows, 'CHILD_ID'));
        return array_diff($children, $gone) === [] ? null : 'it has items below it';
    }

    /** @param list<int> $ids @return array<int, string> the item directly above, by item */
    private function parents(array $ids): array
    {
        $filter = ['@CHILD_ID' => $ids, '=LEVEL' => 1];
        $rows = CheckListTreeTable::getList(['select' => ['CHILD_ID', 'PARENT_ID'], 'filter' => $filter])->fetchAll();
        return array_map('strval', array_column($rows, 'PARENT_ID', 'CHILD_ID'));
    }

    /** @param list<array{ID: string, TYPE?: ?string}> $members */
    private function setMembers(int $id, array $members): void
    {
        foreach ($members as $member) {
            $type = $member['TYPE'] ?? self::ACCOMPLICE;
            $this->mustSucceed(MemberTable::add(['ITEM_ID' => $id, 'USER_ID' => (int)$member['ID'], 'TYPE' => $type]));
        }
    }

    private function dropMembers(int $id): void
    {
        foreach (self::all(MemberTable::class, ['ID'], ['=ITEM_ID' => $id]) as $member) {
            MemberTable::delete($member['ID']);
        }
    }
}
