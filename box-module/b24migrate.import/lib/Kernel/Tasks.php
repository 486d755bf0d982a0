<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Type\DateTime;
use Bitrix\Tasks\Control\{Member, Tag};
use Bitrix\Tasks\Internals\Counter\Agent;
use Bitrix\Tasks\Internals\Helper\Task\Dependence;
use Bitrix\Tasks\Internals\{SearchIndex, TaskTable};
use Bitrix\Tasks\Internals\Task\{CheckListTable, LabelTable, MemberTable, TaskTagTable, ViewedTable};
use Bitrix\Tasks\Util\Type\DateTime as Moment;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Tasks, written below the kernel's own services: those notify, comment and log whatever flags are set. So the dates of
 * a project do not limit the deadlines of its tasks either. That the card of a task lacks nothing is to be checked on a
 * real box.
 */
final class Tasks extends Gateway
{
    protected const TABLE = TaskTable::class;
    /** Comments and checklists move it. */
    protected const VOLATILE = ['changedDate', 'changedBy'];
    protected const FIELDS = [
        'text' => 'title description status priority',
        'id' => 'createdBy responsibleId changedBy closedBy groupId parentId',
        'moment' => 'createdDate changedDate closedDate dateStart deadline startDatePlan endDatePlan',
        'int' => 'timeEstimate',
    ];
    protected const FILLED = ['STATUS', 'PRIORITY', 'CREATED_DATE', 'CHANGED_DATE', 'CHANGED_BY'];
    private const MEMBERS = ['accomplices' => ['ACCOMPLICES', 'A'], 'auditors' => ['AUDITORS', 'U']];
    private const ENTITY = 'TASKS_TASK';
    /** The last status of an open task. */
    private const IN_PROGRESS = 3;

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
        $id = (int)self::mustSucceed(TaskTable::add($row))->getId();
        if (!empty($fields['parentId'])) {
            Dependence::attachNew($id, (int)$fields['parentId']);
        }
        $this->setRelated($id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(TaskTable::class, ['ID', 'PARENT_ID'], $id));
        self::mustSucceed(TaskTable::update((int)$id, $this->row($fields)));
        $parent = (int)($fields['parentId'] ?? 0);
        if (array_key_exists('parentId', $fields) && $parent !== (int)$now['PARENT_ID']) {
            Dependence::attach((int)$id, $parent);
        }
        $this->setRelated((int)$id, $fields);
    }

    /**
     * What the kernel's own services do when a task is made: a deadline ahead gets the agent that counts it as overdue,
     * and nobody finds the comments of years among the new ones. Who has looked at a task himself is left alone.
     */
    public function settle(int $id): void
    {
        $row = self::findRow(TaskTable::class, ['STATUS', 'DEADLINE', 'FORUM_TOPIC_ID'], $id);
        $deadline = $row['DEADLINE'] ?? null;
        if ($deadline !== null && (int)$row['STATUS'] <= self::IN_PROGRESS && $deadline->getTimestamp() > time()) {
            Agent::add($id, Moment::createFromTimestamp($deadline->getTimestamp()));
        }
        if (TaskChatComments::areUsed() || empty($row['FORUM_TOPIC_ID'])) {
            return;
        }
        $of = ['select' => ['USER_ID'], 'filter' => ['=TASK_ID' => $id]];
        $people = array_unique(array_column(MemberTable::getList($of)->fetchAll(), 'USER_ID'));
        foreach (array_diff($people, array_column(ViewedTable::getList($of)->fetchAll(), 'USER_ID')) as $user) {
            $seen = ['TASK_ID' => $id, 'USER_ID' => (int)$user, 'VIEWED_DATE' => DateTime::createFromTimestamp(time())];
            self::mustSucceed(ViewedTable::add($seen));
        }
    }

    public function delete(string $id): void
    {
        // Quiet mode suppresses the notifications of the kernel.
        (new \Bitrix\Tasks\Control\Task(self::actor()))->withSkipExchangeSync()->delete((int)$id);
        $chat = TaskChatComments::areUsed() ? TaskChatComments::chatOf((int)$id) : null;
        $chat === null || $this->box->records('chats')->delete((string)$chat);
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $children = array_column(self::findRows(TaskTable::class, ['ID'], ['=PARENT_ID' => (int)$id]), 'ID');
        $comments = TaskChatComments::areUsed() ? TaskChatComments::areOn(...) : TaskForumComments::areOn(...);
        return match (true) {
            array_diff($children, $gone) !== [] => 'it has subtasks',
            self::rowExists(CheckListTable::class, ['=TASK_ID' => (int)$id]) => 'it has a checklist',
            $comments((int)$id) => 'it has comments',
            default => null,
        };
    }

    protected function loadRows(array $ids): array
    {
        $members = $attached = $custom = [];
        foreach (MemberTable::getList(['filter' => ['@TASK_ID' => $ids]])->fetchAll() as $one) {
            $members[(int)$one['TASK_ID']][$one['TYPE']][] = (string)$one['USER_ID'];
        }
        foreach ($ids as $id) {
            $known = $GLOBALS['USER_FIELD_MANAGER']->GetUserFields(self::ENTITY, $id);
            $custom[$id] = array_column($known, 'VALUE', 'FIELD_NAME');
            $attached[$id] = (array)($custom[$id]['UF_TASK_WEBDAV_FILES'] ?? []);
        }
        $files = Files::filesOf($attached);
        $tags = $this->tags($ids);
        $more = fn(int $id) => ['members' => $members[$id] ?? [], 'tags' => $tags[$id] ?? []]
            + ['files' => $files[$id], 'custom' => $custom[$id]];
        return array_map(fn(array $row) => $row + $more((int)$row['ID']), parent::loadRows($ids));
    }

    protected function toFields(array $row): array
    {
        $fields = parent::toFields($row);
        foreach (self::MEMBERS as $name => [, $type]) {
            $fields[$name] = $row['members'][$type] ?? [];
        }
        $links = array_map('strval', array_filter((array)($row['custom']['UF_CRM_TASK'] ?? [])));
        $others = array_diff_key($row['custom'], ['UF_CRM_TASK' => 1, 'UF_TASK_WEBDAV_FILES' => 1]);
        return $fields + [
            'tags' => $row['tags'],
            'ufCrmTask' => array_values(array_map(CrmNumbers::numbered(...), $links)),
            'ufTaskWebdavFiles' => $row['files'],
        ] + $this->customValues()->fromKernel($others);
    }

    private function row(array $fields): array
    {
        $row = self::columns()->toKernel($fields);
        if (isset($row['CHANGED_DATE'])) {
            $row['ACTIVITY_DATE'] = $row['CHANGED_DATE'];
        }
        return $row;
    }

    /** What lies in other tables. */
    private function setRelated(int $id, array $fields): void
    {
        $members = [];
        foreach (array_intersect_key(self::MEMBERS, $fields) as $name => [$column]) {
            $members[$column] = array_map('intval', $fields[$name] ?? []);
        }
        foreach (['createdBy' => 'CREATED_BY', 'responsibleId' => 'RESPONSIBLE_ID'] as $name => $column) {
            $members += isset($fields[$name]) ? [$column => (int)$fields[$name]] : [];
        }
        $members === [] || (new Member(self::actor(), $id))->set($members);
        if (array_key_exists('tags', $fields)) {
            (new Tag((int)($fields['createdBy'] ?? self::actor())))->set($id, $fields['tags'] ?? []);
        }
        $manager = $GLOBALS['USER_FIELD_MANAGER'];
        $now = array_column($manager->GetUserFields(self::ENTITY, $id), 'VALUE', 'FIELD_NAME');
        $custom = $this->customValues()->toKernel($fields, $now);
        if (array_key_exists('ufCrmTask', $fields)) {
            $custom['UF_CRM_TASK'] = array_map(CrmNumbers::plain(...), $fields['ufCrmTask'] ?? []);
        }
        if (array_key_exists('ufTaskWebdavFiles', $fields)) {
            $custom['UF_TASK_WEBDAV_FILES'] = Files::attachments($fields['ufTaskWebdavFiles']);
        }
        $custom === [] || $manager->Update(self::ENTITY, $id, $custom, self::actor());
        SearchIndex::setTaskSearchIndex($id);
    }

    /** @return array<int, list<string>> names by task */
    private function tags(array $ids): array
    {
        $links = TaskTagTable::getList(['filter' => ['@TASK_ID' => $ids]])->fetchAll();
        $labels = array_unique(array_column($links, 'TAG_ID'));
        $rows = self::findRows(LabelTable::class, ['ID', 'NAME'], ['@ID' => $labels]);
        $names = array_column($rows, 'NAME', 'ID');
        return self::groupBy($links, 'TASK_ID', fn(array $link) => $names[$link['TAG_ID']] ?? '');
    }
}
