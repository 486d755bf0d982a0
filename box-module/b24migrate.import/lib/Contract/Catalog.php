<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** The contract's table of all streams, in the order in which they are imported. */
final class Catalog
{
    public const ENTITIES = ['users', 'groups', 'chats', 'feed', 'tasks', 'workflows', 'crm'];

    /** What every message and comment has. */
    private const SAID = ['time' => 'date!', 'text' => 'text', '[file]' => 'files'];
    /** The entity of each stream, and its fields by kind: `!` must be there, and a name may be a pattern of names. */
    private const TABLE = [
        'departments' => ['users', ['text' => 'NAME!', 'int' => 'SORT', 'department' => 'PARENT', 'user' => 'UF_HEAD']],
        'users' => ['users', [
            'text' => 'NAME! LAST_NAME SECOND_NAME EMAIL! XML_ID USER_TYPE TIME_ZONE (PERSONAL|WORK)_[A-Z0-9_]+',
            'date' => 'DATE_REGISTER PERSONAL_BIRTHDAY',
            'flag' => 'ACTIVE',
            '[department]' => 'UF_DEPARTMENT',
            'file' => 'PERSONAL_PHOTO',
            'any' => 'UF_EMPLOYMENT_DATE UF_TIMEMAN UF_SKILLS UF_INTERESTS UF_WEB_SITES UF_XING UF_LINKEDIN UF_FACEBOOK'
                . ' UF_TWITTER UF_SKYPE UF_SKYPE_LINK UF_ZOOM UF_DISTRICT UF_PHONE_INNER',
        ]],
        'groups' => ['groups', [
            'text' => 'NAME! DESCRIPTION TYPE SUBJECT_NAME KEYWORDS',
            'flag' => 'ACTIVE VISIBLE OPENED CLOSED PROJECT',
            'time' => 'DATE_CREATE DATE_UPDATE DATE_ACTIVITY PROJECT_DATE_START PROJECT_DATE_FINISH',
            'owner' => 'OWNER_ID!',
            'user' => 'SCRUM_MASTER_ID',
            'file' => 'IMAGE',
        ]],
        'group_members' => ['groups', ['group' => 'GROUP_ID!', 'user' => 'USER_ID!', 'role' => 'ROLE!']],
        'crm_types' => ['crm', ['text' => 'title! entityTypeId code', 'flag' => 'is[A-Z]\w*Enabled']],
        'crm_categories' => ['crm', [
            'type' => 'entityTypeId!',
            'text' => 'name!',
            'int' => 'sort',
            'flag' => 'isDefault',
        ]],
        'crm_stages' => ['crm', ['text' => 'ENTITY_ID! STATUS_ID! NAME! SEMANTICS COLOR', 'int' => 'SORT']],
        'crm_companies' => ['crm', CrmStreams::ITEM],
        'crm_contacts' => ['crm', CrmStreams::ITEM],
        'crm_deals' => ['crm', CrmStreams::ITEM],
        'crm_spitems' => ['crm', CrmStreams::ITEM + ['smart process' => 'entityTypeId!']],
        'tasks' => ['tasks', [
            'text' => 'title! description status priority',
            'user' => 'createdBy! responsibleId! changedBy closedBy',
            '[user]' => 'accomplices auditors',
            'time' => 'createdDate changedDate closedDate dateStart deadline startDatePlan endDatePlan',
            'int' => 'timeEstimate',
            'group' => 'groupId',
            'task' => 'parentId',
            '[text]' => 'tags',
            '[crm link]' => 'ufCrmTask',
            '[file]' => 'ufTaskWebdavFiles',
        ]],
        'task_checklists' => ['tasks', [
            'task' => 'TASK_ID!',
            'checklist' => 'PARENT_ID',
            'text' => 'TITLE!',
            'int' => 'SORT_INDEX',
            'flag' => 'IS_COMPLETE IS_IMPORTANT',
            'user' => 'CREATED_BY TOGGLED_BY',
            'time' => 'TOGGLED_DATE',
            '[member]' => 'MEMBERS',
        ]],
        'task_comments' => ['tasks', ['task' => 'task_id!', 'author' => 'author_id!'] + self::SAID],
        'chats' => ['chats', [
            'text' => 'type! name description color entity_type entity_id',
            'owner' => 'owner',
            '[user]' => 'manager_list users',
            'time' => 'date_create',
            'file' => 'avatar',
        ]],
        'chat_messages' => ['chats', [
            'chat' => 'chat_id!',
            'author' => 'author_id!',
            'object' => 'params',
            'tally' => 'reactions',
        ] + self::SAID],
        'feed_posts' => ['feed', [
            'text' => 'TITLE DETAIL_TEXT',
            'user' => 'AUTHOR_ID!',
            'time' => 'DATE_PUBLISH!',
            '[recipient]' => 'DEST',
            'flag' => 'IMPORTANT',
            '[text]' => 'TAGS',
            '[file]' => 'FILES',
        ]],
        'feed_comments' => ['feed', ['post' => 'post_id!', 'user' => 'author_id!'] + self::SAID],
        'workflow_templates' => ['workflows', [
            'text' => 'MODULE_ID! ENTITY! DOCUMENT_TYPE! NAME! DESCRIPTION',
            'tree' => 'TEMPLATE PARAMETERS VARIABLES CONSTANTS',
            'int' => 'AUTO_EXECUTE',
            'user' => 'USER_ID',
            'time' => 'MODIFIED',
        ]],
    ];

    /** Streams of later versions of the contract, which `import.info` names where a box serves them. */
    private const LATER = CrmStreams::TABLE + ActivityStreams::TABLE;

    /** @return array<string, string> entities by stream, of these entities */
    public static function streams(array $entities = self::ENTITIES): array
    {
        return array_intersect(array_map(static fn (array $row) => $row[0], self::TABLE + self::LATER), $entities);
    }

    public static function isOfLaterVersion(string $name): bool
    {
        return isset(self::LATER[$name]);
    }

    public static function stream(string $name): ?Stream
    {
        [$entity, $fields] = self::TABLE[$name] ?? self::LATER[$name] ?? [null, []];
        return $entity === null ? null : new Stream($name, $entity, Kind::named($fields), ...self::behaviour($name));
    }

    /** @return array<string, mixed> further arguments of a Stream */
    private static function behaviour(string $name): array
    {
        return match ($name) {
            'departments' => ['linkedTo' => Rules::rootDepartment(...), 'keptWhenLinked' => ['NAME', 'PARENT']],
            'users' => ['rules' => [Rules::emailIsFree(...)], 'oneAtATime' => true],
            'chats' => ['rules' => [Rules::groupOfChatExists(...)]],
            'chat_messages' => ['rules' => [Rules::paramsWithoutWhatTravelsElsewhere(...)]],
            'crm_types' => ['linkedTo' => CrmRules::sameTitle(...), 'oneAtATime' => true],
            'crm_categories' => ['linkedTo' => CrmRules::sameCategory(...), 'oneAtATime' => true],
            'crm_stages' => [
                'rules' => [CrmRules::stageIsInItsCategory(...)],
                'linkedTo' => CrmRules::sameStage(...),
                // the order of a pipeline is one thing: the box's own places between those of the source would mix it
                'takenWhenLinked' => ['SORT'],
                'oneAtATime' => true,
            ],
            'crm_companies', 'crm_contacts' => ['rules' => [CrmRules::categoryIsOfItsType(...)]],
            'crm_deals' => ['rules' => [CrmRules::categoryIsOfItsType(...), CrmRules::dealStageExists(...)]],
            'crm_spitems' => [
                'rules' => [CrmRules::categoryIsOfItsType(...), CrmRules::smartStageExists(...)],
                'typedBy' => 'entityTypeId',
            ],
            'workflow_templates' => ['rules' => [Rules::activitiesAreAllowed(...)]],
            default => CrmStreams::behaviour($name) + ActivityStreams::behaviour($name),
        };
    }
}
