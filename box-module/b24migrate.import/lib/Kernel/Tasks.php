<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Type\DateTime;
use Bitrix\Tasks\Control\Member;
use Bitrix\Tasks\Control\Tag;
use Bitrix\Tasks\Internals\Helper\Task\Dependence;
use Bitrix\Tasks\Internals\SearchIndex;
use Bitrix\Tasks\Internals\Task\CheckListTable;
use Bitrix\Tasks\Internals\Task\LabelTable;
use Bitrix\Tasks\Internals\Task\MemberTable;
use Bitrix\Tasks\Internals\Task\TaskTagTable;
use Bitrix\Tasks\Internals\TaskTable;

/**
 * Tasks, written below the kernel's own services: those notify, comment and log whatever they are told. So the dates of
 * a project do not limit the deadlines of its tasks either. That the card of such a task lacks nothing is to be checked
 * on a real box.
 */
final class Tasks extends Gateway
{
    private const FIELDS = [
        'title' => ['TITLE', 'text'],
        'description' => ['DESCRIPTION', 'text'],
        'status' => ['STATUS', 'text'],
        'priority' => ['PRIORITY', 'text'],
        'createdBy' => ['CREATED_BY', 'id'],
        'responsibleId' => ['RESPONSIBLE_ID', 'id'],
        'changedBy' => ['CHANGED_BY', 'id'],
        'closedBy' => ['CLOSED_BY', 'id'],
        'groupId' => ['GROUP_ID', 'id'],
        'parentId' => ['PARENT_ID', 'id'],
        'createdDate' => ['CREATED_DATE', 'moment'],
        'changedDate' => ['CHANGED_DATE', 'moment'],
        'closedDate' => ['CLOSED_DATE', 'moment'],
        'dateStart' => ['DATE_START', 'moment'],
        'deadline' => ['DEADLINE', 'moment'],
        'startDatePlan' => ['START_DATE_PLAN', 'moment'],
        'endDatePlan' => ['END_DATE_PLAN', 'moment'],
        'timeEstimate' => ['TIME_ESTIMATE', 'int'],
    ];
    private const MEMBERS = ['accomplices' => ['ACCOMPLICES', 'A'], 'auditors' => ['AUDITORS', 'U']];
    private const ENTITY = 'TASKS_TASK';

    public function has(string $id): bool
    {
        return self::exists(TaskTable::class, $id);
    }

    public function read(array $ids): array
    {
        $ids = array_map('intval', $ids);
        $rows = self::all(TaskTable::class, ['*'], ['@ID' => $ids]);
        $members = [];
        foreach (MemberTable::getList(['filter' => ['@TASK_ID' => $ids]])->fetchAll() as $one) {
            $members[(int)$one['TASK_ID']][$one['TYPE']][] = (string)$one['USER_ID'];
        }
        $tags = $this->tags($ids);
        $found = [];
        foreach ($rows as $row) {
            $id = (int)$row['ID'];
            $fields = (new Columns(self::FIELDS))->fromKernel($row);
            foreach (self::MEMBERS as $name => [, $type]) {
                $fields[$name] = $members[$id][$type] ?? [];
            }
            $found[(string)$id] = $fields + ['tags' => $tags[$id] ?? []] + $this->custom($id);
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $now = DateTime::createFromTimestamp(time());
        $row = $this->row($fields) + [
            'CREATED_DATE' => $now,
            'CHANGED_DATE' => Dates::moment($fields['createdDate'] ?? null) ?? $now,
            'CHANGED_BY' => (int)$fields['createdBy'],
            'STATUS_CHANGED_BY' => (int)($fields['closedBy'] ?? $fields['createdBy']),
            'DESCRIPTION_IN_BBCODE' => 'Y',
            'GUID' => '{' . bin2hex(random_bytes(16)) . '}',
            'XML_ID' => self::stamp($key),
            'SITE_ID' => \CSite::GetDefSite(),
        ];
        $row += ['STATUS_CHANGED_DATE' => $row['CLOSED_DATE'] ?? $row['CHANGED_DATE']];
        $result = TaskTable::add($row);
        $this->mustSucceed($result);
        $id = (int)$result->getId();
        if (!empty($fields['parentId'])) {
            Dependence::attachNew($id, (int)$fields['parentId']);
        }
        $this->setAround($id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::present(self::one(TaskTable::class, ['ID', 'PARENT_ID'], $id));
        $this->mustSucceed(TaskTable::update((int)$id, $this->row($fields)));
        $parent = (int)($fields['parentId'] ?? 0);
        if (array_key_exists('parentId', $fields) && $parent !== (int)$now['PARENT_ID']) {
            Dependence::attach((int)$id, $parent);
        }
        $this->setAround((int)$id, $fields);
    }

    public function delete(string $id): void
    {
        // The silence of the hit covers what the kernel wants to tell about it.
        (new \Bitrix\Tasks\Control\Task($this->actor()))->withSkipExchangeSync()->delete((int)$id);
        $chat = ChatComments::areUsed() ? ChatComments::chatOf((int)$id) : null;
        $chat === null || $this->box->records('chats')->delete((string)$chat);
    }

    public function needed(string $id, array $gone = []): ?string
    {
        $children = array_column(self::all(TaskTable::class, ['ID'], ['=PARENT_ID' => (int)$id]), 'ID');
        $comments = ChatComments::areUsed() ? ChatComments::areOn(...) : ForumComments::areOn(...);
        return match (true) {
            array_diff($children, $gone) !== [] => 'it has subtasks',
            self::any(CheckListTable::class, ['=TASK_ID' => (int)$id]) => 'it has a checklist',
            $comments((int)$id) => 'it has comments',
            default => null,
        };
    }

    /** Comments and checklists move it. */
    public function restless(): array
    {
        return ['changedDate', 'changedBy'];
    }

    /** @param array<string, mixed> $fields @return array<string, mixed> */
    private function row(array $fields): array
    {
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        if (isset($row['CHANGED_DATE'])) {
            $row['ACTIVITY_DATE'] = $row['CHANGED_DATE'];
        }
        // Fields that must have a value keep the kernel's own.
        foreach (['STATUS', 'PRIORITY', 'CREATED_DATE', 'CHANGED_DATE', 'CHANGED_BY'] as $column) {
            if (empty($row[$column])) {
                unset($row[$column]);
            }
        }
        return $row;
    }

    /** What lies in other tables. @param array<string, mixed> $fields */
    private function setAround(int $id, array $fields): void
    {
        $members = [];
        foreach (array_intersect_key(self::MEMBERS, $fields) as $name => [$column]) {
            $members[$column] = array_map('intval', $fields[$name] ?? []);
        }
        foreach (['createdBy' => 'CREATED_BY', 'responsibleId' => 'RESPONSIBLE_ID'] as $name => $column) {
            $members += isset($fields[$name]) ? [$column => (int)$fields[$name]] : [];
        }
        $members === [] || (new Member($this->actor(), $id))->set($members);
        if (array_key_exists('tags', $fields)) {
            (new Tag((int)($fields['createdBy'] ?? $this->actor())))->set($id, $fields['tags'] ?? []);
        }
        $custom = (new CustomValues($this->box->customFields()))->toKernel('tasks', null, $fields);
        if (array_key_exists('ufCrmTask', $fields)) {
            $custom['UF_CRM_TASK'] = array_map(CrmNumbers::plain(...), $fields['ufCrmTask'] ?? []);
        }
        if (array_key_exists('ufTaskWebdavFiles', $fields)) {
            $custom['UF_TASK_WEBDAV_FILES'] = array_map(Files::attachment(...), $fields['ufTaskWebdavFiles'] ?? []);
        }
        $custom === [] || $GLOBALS['USER_FIELD_MANAGER']->Update(self::ENTITY, $id, $custom, $this->actor());
        SearchIndex::setTaskSearchIndex($id);
    }

    /** @return array<string, mixed> */
    private function custom(int $id): array
    {
        $row = array_column($GLOBALS['USER_FIELD_MANAGER']->GetUserFields(self::ENTITY, $id), 'VALUE', 'FIELD_NAME');
        $links = array_filter((array)($row['UF_CRM_TASK'] ?? []));
        $files = (array)($row['UF_TASK_WEBDAV_FILES'] ?? []);
        unset($row['UF_CRM_TASK'], $row['UF_TASK_WEBDAV_FILES']);
        return [
            'ufCrmTask' => array_values(array_map(CrmNumbers::numbered(...), array_map('strval', $links))),
            'ufTaskWebdavFiles' => Files::attachedTo($files),
        ] + (new CustomValues($this->box->customFields()))->fromKernel('tasks', null, $row);
    }

    /** @param list<int> $ids @return array<int, list<string>> names by task */
    private function tags(array $ids): array
    {
        $links = TaskTagTable::getList(['filter' => ['@TASK_ID' => $ids]])->fetchAll();
        $labels = array_unique(array_column($links, 'TAG_ID'));
        $rows = $labels === [] ? [] : self::all(LabelTable::class, ['ID', 'NAME'], ['@ID' => $labels]);
        $names = array_column($rows, 'NAME', 'ID');
        $tags = [];
        foreach ($links as $link) {
            $tags[(int)$link['TASK_ID']][] = $names[$link['TAG_ID']] ?? '';
        }
        return $tags;
    }
}
