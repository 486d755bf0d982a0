<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

defined('B_PROLOG_INCLUDED') || exit;

/** One record of each stream for the selftest: old, and by the person that the selftest has made. */
final class Samples
{
    private const NAME = 'b24migrate selftest';
    private const BEFORE = '2019-02-03T04:05:06Z';
    private const LATER = '2020-03-04T05:06:07Z';
    private const SAID = ['author_id' => '{users}', 'date' => self::LATER, 'text' => self::NAME];
    private const BY = [
        'assignedById' => '{users}', 'createdBy' => '{users}', 'updatedBy' => '{users}', 'createdTime' => self::BEFORE,
        'updatedTime' => self::LATER,
    ];
    private const PHONE = ['fm' => [['typeId' => 'PHONE', 'valueType' => 'WORK', 'value' => '+70000000000']]];
    private const CLIENT = ['companyId' => '{crm_companies}', 'contactIds' => ['{crm_contacts}']];
    private const STAGE = 'DT{crm_types}_{crm_categories}:B24M';
    /** `{stream}` is the id of what was made in it. */
    private const OF = [
        'departments' => ['NAME' => self::NAME, 'PARENT' => '{root}', 'SORT' => 900],
        'users' => [
            'NAME' => 'Selftest', 'LAST_NAME' => 'B24migrate', 'EMAIL' => 'selftest@b24migrate.invalid',
            'ACTIVE' => true, 'UF_DEPARTMENT' => ['{departments}'], 'DATE_REGISTER' => '2019-02-03',
            'PERSONAL_BIRTHDAY' => '1980-01-31',
        ],
        'groups' => [
            'NAME' => self::NAME, 'OWNER_ID' => '{users}', 'VISIBLE' => false, 'OPENED' => false,
            'DATE_CREATE' => self::BEFORE, 'DATE_UPDATE' => self::LATER, 'DATE_ACTIVITY' => self::LATER,
        ],
        'group_members' => ['GROUP_ID' => '{groups}', 'USER_ID' => '{users}', 'ROLE' => 'A'],
        'crm_types' => [
            'title' => self::NAME, 'isCategoriesEnabled' => true, 'isStagesEnabled' => true, 'isClientEnabled' => true,
        ],
        'crm_categories' => [
            'entityTypeId' => '{crm_types}', 'name' => self::NAME, 'sort' => 900, 'isDefault' => false,
        ],
        'crm_stages' => [
            'ENTITY_ID' => 'DYNAMIC_{crm_types}_STAGE_{crm_categories}', 'STATUS_ID' => self::STAGE,
            'NAME' => self::NAME, 'SORT' => 15, 'COLOR' => '#ABCDEF',
        ],
        'crm_companies' => ['title' => self::NAME] + self::BY + self::PHONE,
        'crm_contacts' => ['name' => self::NAME, 'companyIds' => ['{crm_companies}']] + self::BY + self::PHONE,
        'crm_deals' => [
            'title' => self::NAME, 'categoryId' => '0', 'movedTime' => self::LATER,
        ] + self::CLIENT + self::BY,
        'crm_spitems' => [
            'entityTypeId' => '{crm_types}', 'title' => self::NAME, 'categoryId' => '{crm_categories}',
            'stageId' => self::STAGE,
        ] + self::CLIENT + self::BY,
        'tasks' => [
            'title' => self::NAME, 'status' => '5', 'createdBy' => '{users}', 'responsibleId' => '{users}',
            'closedBy' => '{users}', 'groupId' => '{groups}', 'createdDate' => self::BEFORE,
            'closedDate' => self::LATER, 'deadline' => self::LATER, 'tags' => ['selftest'],
        ],
        'task_checklists' => [
            'TASK_ID' => '{tasks}', 'TITLE' => self::NAME, 'SORT_INDEX' => 3, 'IS_COMPLETE' => true,
            'CREATED_BY' => '{users}', 'TOGGLED_BY' => '{users}', 'TOGGLED_DATE' => self::LATER,
        ],
        'task_comments' => ['task_id' => '{tasks}'] + self::SAID,
        'chats' => [
            'type' => 'chat', 'name' => self::NAME, 'owner' => '{users}', 'users' => ['{users}'],
            'date_create' => self::BEFORE,
        ],
        'chat_messages' => ['chat_id' => '{chats}'] + self::SAID,
        'feed_posts' => [
            'TITLE' => self::NAME, 'DETAIL_TEXT' => self::NAME, 'AUTHOR_ID' => '{users}',
            'DATE_PUBLISH' => self::BEFORE, 'DEST' => ['U{users}'],
        ],
        'feed_comments' => ['post_id' => '{feed_posts}'] + self::SAID,
        'workflow_templates' => [
            'MODULE_ID' => 'crm', 'ENTITY' => 'CCrmDocumentDeal', 'DOCUMENT_TYPE' => 'DEAL', 'NAME' => self::NAME,
            'USER_ID' => '{users}', 'MODIFIED' => self::LATER, 'TEMPLATE' => [[
                'Type' => 'SequentialWorkflowActivity', 'Name' => 'Template', 'Activated' => 'Y',
                'Properties' => ['Title' => self::NAME], 'Children' => [],
            ]],
        ],
    ];

    /** @param array<string, string> $ids of what was made before, by stream */
    public static function of(string $stream, array $ids): array
    {
        $named = array_combine(array_map(static fn ($name) => '{' . $name . '}', array_keys($ids)), $ids);
        $fields = self::OF[$stream];
        array_walk_recursive($fields, static function (mixed &$value) use ($named): void {
            $value = is_string($value) ? strtr($value, $named) : $value;
        });
        // what this box could not make is not referred to
        return array_filter($fields, static fn ($value) => !is_string($value) || !str_contains($value, '{'));
    }
}
