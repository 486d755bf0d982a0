<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

/** One record of each stream for the selftest: old, and by the person that the selftest has made. */
final class Samples
{
    private const NAME = 'b24migrate selftest';
    private const BEFORE = '2019-02-03T04:05:06Z';
    private const LATER = '2020-03-04T05:06:07Z';

    /**
     * @param array<string, string> $ids of what was made before, by stream
     * @return array<string, mixed>
     */
    public static function of(string $stream, array $ids, string $rootDepartment): array
    {
        $person = $ids['users'] ?? '';
        return match ($stream) {
            'departments' => ['NAME' => self::NAME, 'PARENT' => $rootDepartment, 'SORT' => 900],
            'users' => [
                'NAME' => 'Selftest', 'LAST_NAME' => 'B24migrate', 'EMAIL' => 'selftest@b24migrate.invalid',
                'ACTIVE' => true, 'UF_DEPARTMENT' => [$ids['departments'] ?? $rootDepartment],
                'DATE_REGISTER' => '2019-02-03', 'PERSONAL_BIRTHDAY' => '1980-01-31',
            ],
            'groups' => [
                'NAME' => self::NAME, 'OWNER_ID' => $person, 'VISIBLE' => false, 'OPENED' => false,
                'DATE_CREATE' => self::BEFORE, 'DATE_UPDATE' => self::LATER, 'DATE_ACTIVITY' => self::LATER,
            ],
            'group_members' => ['GROUP_ID' => $ids['groups'] ?? '', 'USER_ID' => $person, 'ROLE' => 'A'],
            'chats' => [
                'type' => 'chat', 'name' => self::NAME, 'owner' => $person, 'users' => [$person],
                'date_create' => self::BEFORE,
            ],
            'chat_messages' => self::said(['chat_id' => $ids['chats'] ?? ''], $person),
            'feed_posts' => [
                'TITLE' => self::NAME, 'DETAIL_TEXT' => self::NAME, 'AUTHOR_ID' => $person,
                'DATE_PUBLISH' => self::BEFORE, 'DEST' => ["U$person"],
            ],
            'feed_comments' => self::said(['post_id' => $ids['feed_posts'] ?? ''], $person),
            'workflow_templates' => self::template($person),
            default => str_starts_with($stream, 'crm_')
                ? self::ofCrm($stream, $ids, $person)
                : self::ofTasks($stream, $ids, $person),
        };
    }

    /** @param array<string, string> $ids @return array<string, mixed> */
    private static function ofCrm(string $stream, array $ids, string $person): array
    {
        $type = $ids['crm_types'] ?? '';
        $category = $ids['crm_categories'] ?? '';
        $stage = "DT{$type}_$category:B24M";
        $by = [
            'assignedById' => $person, 'createdBy' => $person, 'updatedBy' => $person,
            'createdTime' => self::BEFORE, 'updatedTime' => self::LATER,
        ];
        $phone = ['fm' => [['typeId' => 'PHONE', 'valueType' => 'WORK', 'value' => '+70000000000']]];
        $client = ['companyId' => $ids['crm_companies'] ?? null, 'contactIds' => [$ids['crm_contacts'] ?? '']];
        return match ($stream) {
            'crm_types' => [
                'title' => self::NAME, 'isCategoriesEnabled' => true, 'isStagesEnabled' => true,
                'isClientEnabled' => true,
            ],
            'crm_categories' => ['entityTypeId' => $type, 'name' => self::NAME, 'sort' => 900, 'isDefault' => false],
            'crm_stages' => [
                'ENTITY_ID' => "DYNAMIC_{$type}_STAGE_$category", 'STATUS_ID' => $stage, 'NAME' => self::NAME,
                'SORT' => 15, 'COLOR' => '#ABCDEF',
            ],
            'crm_companies' => ['title' => self::NAME] + $by + $phone,
            'crm_contacts' => ['name' => self::NAME, 'companyIds' => [$ids['crm_companies'] ?? '']] + $by + $phone,
            'crm_deals' => ['title' => self::NAME, 'categoryId' => '0', 'movedTime' => self::LATER] + $client + $by,
            'crm_spitems' => [
                'entityTypeId' => $type, 'title' => self::NAME, 'categoryId' => $category, 'stageId' => $stage,
            ] + $client + $by,
        };
    }

    /** @param array<string, string> $ids @return array<string, mixed> */
    private static function ofTasks(string $stream, array $ids, string $person): array
    {
        $task = $ids['tasks'] ?? '';
        return match ($stream) {
            'tasks' => [
                'title' => self::NAME, 'status' => '5', 'createdBy' => $person, 'responsibleId' => $person,
                'closedBy' => $person, 'groupId' => $ids['groups'] ?? null, 'createdDate' => self::BEFORE,
                'closedDate' => self::LATER, 'deadline' => self::LATER, 'tags' => ['selftest'],
            ],
            'task_checklists' => [
                'TASK_ID' => $task, 'TITLE' => self::NAME, 'SORT_INDEX' => 3, 'IS_COMPLETE' => true,
                'CREATED_BY' => $person, 'TOGGLED_BY' => $person, 'TOGGLED_DATE' => self::LATER,
            ],
            'task_comments' => self::said(['task_id' => $task], $person),
        };
    }

    /** @param array<string, string> $where @return array<string, mixed> */
    private static function said(array $where, string $person): array
    {
        return $where + ['author_id' => $person, 'date' => self::LATER, 'text' => self::NAME];
    }

    /** @return array<string, mixed> */
    private static function template(string $person): array
    {
        $nothing = ['Type' => 'SequentialWorkflowActivity', 'Name' => 'Template', 'Activated' => 'Y'];
        return [
            'MODULE_ID' => 'crm', 'ENTITY' => 'CCrmDocumentDeal', 'DOCUMENT_TYPE' => 'DEAL', 'NAME' => self::NAME,
            'USER_ID' => $person, 'MODIFIED' => self::LATER,
            'TEMPLATE' => [$nothing + ['Properties' => ['Title' => self::NAME], 'Children' => []]],
        ];
    }
}
