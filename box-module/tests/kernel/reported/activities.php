<?php

// Classes that were not looked at: what the reference and public sources say of them. Each method as PHP spells it.

declare(strict_types=1);

$orm = 'Bitrix\Main\ORM\Data\DataManager';

return [
    'CDatabaseMysql' => ['methods' => [
        'Add($tablename, $arFields, $arCLOBFields = [], $strFileDir = "", $ignore_errors = false, '
            . '$error_position = "", $arOptions = [])',
        'Update($table_name, $arFields, $WHERE = "", $error_position = "", $DEBUG = false, $ignore_errors = false, '
            . '$additional_check = true)',
    ]],
    'CAllAgent' => ['methods' => [
        'static AddAgent($name, $module = "", $period = "N", $interval = 86400, $datecheck = "", $active = "Y", '
            . '$next_exec = "", $sort = 100, $user_id = false, $existError = true)',
    ]],
    'CCrmOwnerType' => ['methods' => ['static ResolveID($name)', 'static ResolveName($typeID)']],
    'CCrmActivity' => [
        'file' => 'modules/crm/classes/mysql/crm_activity.php',
        'methods' => [
            'static Add(&$arFields, $checkPerms = true, $regEvent = true, $options = [])',
            'static SaveBindings($ID, $arBindings, $registerEvents = true, $checkPerms = true, '
                . '$registerBindingsChanges = true)',
            'static SaveCommunications($ID, $arComms, $arFields = [], $registerEvents = true, $checkPerms = true)',
            'static DoSaveElementIDs($ID, $storageTypeID, $arElementIDs)',
            'static GetList($arOrder = [], $arFilter = [], $arGroupBy = false, $arNavStartParams = false, '
                . '$arSelectFields = [], $arOptions = [])',
            'static GetCommunicationList($arOrder = [], $arFilter = [], $arGroupBy = false, '
                . '$arNavStartParams = false, $arSelectFields = [], $arOptions = [])',
            'static SynchronizeUserActivity($ownerTypeID, $ownerID, $userID)',
        ],
    ],
    'Bitrix\Crm\ActivityTable' => [
        'file' => 'modules/crm/lib/activity.php',
        'extends' => $orm,
        'table' => 'b_crm_act',
        'fields' => 'ID TYPE_ID PROVIDER_ID PROVIDER_TYPE_ID PROVIDER_GROUP_ID DIRECTION OWNER_ID OWNER_TYPE_ID'
            . ' ASSOCIATED_ENTITY_ID SUBJECT DESCRIPTION DESCRIPTION_TYPE COMPLETED IS_HANDLEABLE RESPONSIBLE_ID'
            . ' PRIORITY NOTIFY_TYPE NOTIFY_VALUE LOCATION CREATED LAST_UPDATED START_TIME END_TIME DEADLINE PARENT_ID'
            . ' URN ORIGIN_ID ORIGINATOR_ID AUTHOR_ID EDITOR_ID RESULT_STATUS RESULT_STREAM RESULT_SOURCE_ID'
            . ' RESULT_MARK RESULT_VALUE RESULT_SUM RESULT_CURRENCY_ID AUTOCOMPLETE_RULE SEARCH_CONTENT SETTINGS'
            . ' PROVIDER_PARAMS',
    ],
    'Bitrix\Crm\ActivityBindingTable' => [
        'file' => 'modules/crm/lib/activitybinding.php',
        'extends' => $orm,
        'table' => 'b_crm_act_bind',
        'fields' => 'ID ACTIVITY_ID OWNER_ID OWNER_TYPE_ID',
    ],
    'Bitrix\Crm\ActivityElementTable' => [
        'file' => 'modules/crm/lib/activityelement.php',
        'extends' => $orm,
        'table' => 'b_crm_act_elem',
        'fields' => 'ACTIVITY_ID STORAGE_TYPE_ID ELEMENT_ID',
    ],
    'Bitrix\Crm\Activity\Entity\IncomingChannelTable' => [
        'file' => 'modules/crm/lib/activity/entity/incomingchanneltable.php',
        'extends' => $orm,
        'table' => 'b_crm_act_incoming_channel',
        'fields' => 'ID ACTIVITY_ID RESPONSIBLE_ID COMPLETED',
    ],
    'Bitrix\Crm\Activity\MailMetaTable' => [
        'file' => 'modules/crm/lib/activity/mailmeta.php',
        'extends' => $orm,
        'table' => 'b_crm_act_mail_meta',
        'fields' => 'ACTIVITY_ID MSG_ID_HASH MSG_INREPLY_HASH MSG_HEADER_HASH',
        'methods' => ['static add(array $data)'],
    ],
    'Bitrix\Crm\Activity\UncompletedActivity' => [
        'file' => 'modules/crm/lib/activity/uncompletedactivity.php',
        'methods' => ['static synchronizeForBindingsAndResponsibles(array $bindings, array $responsibleIds): void'],
    ],
    'Bitrix\Crm\Agent\Activity\RecalculateAllUncompletedAgent' => [
        'file' => 'modules/crm/lib/agent/activity/recalculatealluncompletedagent.php', 'methods' => ['static run()'],
    ],
    'Bitrix\Crm\Agent\Activity\FillLightCounterTimeAgent' => [
        'file' => 'modules/crm/lib/agent/activity/filllightcountertimeagent.php', 'methods' => ['static run()'],
    ],
    'Bitrix\Crm\Agent\Activity\FillFastSearchTableAgent' => [
        'file' => 'modules/crm/lib/agent/activity/fillfastsearchtableagent.php', 'methods' => ['static run()'],
    ],
    'Bitrix\Crm\Counter\EntityCountableActivityTable' => [
        'file' => 'modules/crm/lib/counter/entitycountableactivitytable.php',
        'methods' => ['static deleteByActivity(int $activityId): void'],
    ],
    'Bitrix\Crm\Counter\Monitor\CountableActivitySynchronizer' => [
        'file' => 'modules/crm/lib/counter/monitor/countableactivitysynchronizer.php',
        'methods' => ['static synchronizeByActivityId(int $activityId): void'],
    ],
    'Bitrix\Crm\DealRecurTable' => [
        'file' => 'modules/crm/lib/dealrecur.php',
        'extends' => $orm,
        'table' => 'b_crm_deal_recur',
        'fields' => 'ID DEAL_ID BASED_ID ACTIVE CATEGORY_ID IS_LIMIT COUNTER_REPEAT LIMIT_REPEAT LIMIT_DATE START_DATE'
            . ' NEXT_EXECUTION LAST_EXECUTION PARAMS',
        'methods' => ['static delete($primary)'],
    ],
    'Bitrix\Crm\Recurring\Manager' => [
        'file' => 'modules/crm/lib/recurring/manager.php',
        'constants' => [
            'SINGLE_EXECUTION', 'SINGLE_EXECUTION_NAME', 'MULTIPLY_EXECUTION', 'MULTIPLY_EXECUTION_NAME',
        ],
    ],
    'Bitrix\Crm\Recurring\Entity\ParameterMapper\Map' => [
        'file' => 'modules/crm/lib/recurring/entity/parametermapper/map.php',
        'methods' => ['fillMap(array $params = [])', 'convert($map)', 'getFormattedMap()'],
    ],
    'Bitrix\Crm\Recurring\Entity\ParameterMapper\RestDeal' => [
        'file' => 'modules/crm/lib/recurring/entity/parametermapper/restdeal.php',
        'extends' => 'Bitrix\Crm\Recurring\Entity\ParameterMapper\Map',
    ],
    'Bitrix\Crm\Recurring\Entity\ParameterMapper\SecondFormDeal' => [
        'file' => 'modules/crm/lib/recurring/entity/parametermapper/secondformdeal.php',
        'extends' => 'Bitrix\Crm\Recurring\Entity\ParameterMapper\Map',
    ],
    'Bitrix\Crm\Search\SearchContentBuilder' => [
        'file' => 'modules/crm/lib/search/searchcontentbuilder.php', 'methods' => ['build($entityID, $options = null)'],
    ],
    'Bitrix\Crm\Search\TimelineSearchContentBuilder' => [
        'file' => 'modules/crm/lib/search/timelinesearchcontentbuilder.php',
        'extends' => 'Bitrix\Crm\Search\SearchContentBuilder',
    ],
    'Bitrix\Crm\Search\ActivitySearchContentBuilder' => [
        'file' => 'modules/crm/lib/search/activitysearchcontentbuilder.php',
        'extends' => 'Bitrix\Crm\Search\SearchContentBuilder',
    ],
    'Bitrix\Crm\Search\SearchContentBuilderFactory' => [
        'file' => 'modules/crm/lib/search/searchcontentbuilderfactory.php',
        'methods' => ['static create($entityTypeID)'],
    ],
    'Bitrix\Crm\Service\Timeline\Monitor' => [
        'file' => 'modules/crm/lib/Service/Timeline/Monitor.php',
        'methods' => [
            'static getInstance()', 'static onLastActivityRecalculationByAgent(): void',
            'isTimelineChanged(\Bitrix\Crm\ItemIdentifier $timelineOwner): bool',
        ],
    ],
    'Bitrix\Crm\Timeline\TimelineType' => [
        'file' => 'modules/crm/lib/timeline/timelinetype.php', 'constants' => ['ACTIVITY', 'COMMENT', 'LOG_MESSAGE'],
    ],
    'Bitrix\Crm\Timeline\LogMessageType' => [
        'file' => 'modules/crm/lib/timeline/logmessagetype.php', 'constants' => ['REST'],
    ],
    'Bitrix\Crm\Timeline\CommentEntry' => [
        'file' => 'modules/crm/lib/timeline/commententry.php', 'methods' => ['static create(array $params)'],
    ],
    'Bitrix\Crm\Timeline\Entity\TimelineTable' => [
        'file' => 'modules/crm/lib/timeline/entity/timeline.php',
        'extends' => $orm,
        'table' => 'b_crm_timeline',
        'fields' => 'ID TYPE_ID TYPE_CATEGORY_ID CREATED AUTHOR_ID ASSOCIATED_ENTITY_ID ASSOCIATED_ENTITY_TYPE_ID'
            . ' ASSOCIATED_ENTITY_CLASS_NAME COMMENT SETTINGS',
    ],
    'Bitrix\Crm\Timeline\Entity\TimelineBindingTable' => [
        'file' => 'modules/crm/lib/timeline/entity/timelinebinding.php',
        'extends' => $orm,
        'table' => 'b_crm_timeline_bind',
        'fields' => 'OWNER_ID ENTITY_TYPE_ID ENTITY_ID IS_FIXED',
        'methods' => ['static upsert(array $data)', 'static deleteByOwner($ownerID)'],
    ],
    'Bitrix\Crm\Timeline\Entity\TimelineSearchTable' => [
        'file' => 'modules/crm/lib/timeline/entity/timelinesearch.php',
        'extends' => $orm,
        'table' => 'b_crm_timeline_search',
        'fields' => 'OWNER_ID SEARCH_CONTENT',
        'methods' => ['static deleteByOwner($ownerID)'],
    ],
    'Bitrix\Crm\Timeline\Entity\NoteTable' => [
        'file' => 'modules/crm/lib/timeline/entity/note.php',
        'extends' => $orm,
        'table' => 'b_crm_timeline_note',
        'fields' => 'ID ITEM_TYPE ITEM_ID CREATED_BY_ID CREATED_TIME UPDATED_BY_ID UPDATED_TIME TEXT',
        'constants' => ['NOTE_TYPE_HISTORY', 'NOTE_TYPE_ACTIVITY'],
    ],
    'Bitrix\Voximplant\StatisticTable' => [
        'file' => 'modules/voximplant/lib/statistic.php',
        'extends' => $orm,
        'table' => 'b_voximplant_statistic',
        'fields' => 'ID ACCOUNT_ID APPLICATION_ID APPLICATION_NAME PORTAL_USER_ID PORTAL_NUMBER PHONE_NUMBER'
            . ' INCOMING CALL_ID EXTERNAL_CALL_ID CALL_CATEGORY CALL_LOG CALL_DIRECTION CALL_DURATION'
            . ' CALL_START_DATE CALL_STATUS CALL_RECORD_ID CALL_WEBDAV_ID CALL_VOTE COST COST_CURRENCY'
            . ' CALL_FAILED_CODE CALL_FAILED_REASON CRM_ENTITY_TYPE CRM_ENTITY_ID CRM_ACTIVITY_ID REST_APP_ID'
            . ' REST_APP_NAME TRANSCRIPT_ID TRANSCRIPT_PENDING SESSION_ID REDIAL_ATTEMPT COMMENT',
    ],
    'tables' => [
        'b_crm_act' => ['SUBJECT' => 'varchar(512)', 'LOCATION' => 'varchar(256)'],
        'b_voximplant_statistic' => [
            'PHONE_NUMBER' => 'varchar(20)', 'CALL_ID' => 'varchar(255)', 'PORTAL_NUMBER' => 'varchar(50)',
            'CALL_CATEGORY' => 'varchar(20)',
        ],
    ],
];
