<?php

// Methods of the kernel that the module calls, with how many arguments, and those that it has anew (~), by module:
// what has to be there before it may be installed. A test writes this list and compares it.

defined('B_PROLOG_INCLUDED') || exit;

return [
    'bizproc' => [
        'CBPWorkflowTemplateLoader' => 'delete:1 importTemplateFromArray:8 update:3',
        'CBPWorkflowTemplateUser' => '__construct:1 isAdmin:0',
    ],
    'blog' => [
        'Bitrix\Blog\Item\Blog' => 'getByUser:1',
        'CBlogCategory' => 'Add:1 GetList:5',
        'CBlogComment' => 'Add:2 Delete:1 GetList:5 Update:3',
        'CBlogPost' => 'Add:1 Delete:1 DeleteLog:1 GetByID:1 GetList:5 Update:3 getSocNetPerms:2',
        'CBlogPostCategory' => 'Add:1 DeleteByPostID:1',
    ],
    'crm' => [
        'Bitrix\Crm\Binding\EntityBinding' => 'markFirstAsPrimary:1 prepareEntityBindings:2 prepareEntityIDs:2',
        'Bitrix\Crm\Multifield\Assembler' => 'updateCollectionByArray:2',
        'Bitrix\Crm\Multifield\Collection' => 'getAll:0',
        'Bitrix\Crm\Service\Container' => 'getInstance:0',
        'Bitrix\Crm\Service\Context' => 'setScope:1 setUserId:1',
        'Bitrix\Crm\Service\Operation\Import'
            => '~checkSystemFieldsValues:1 ~createToDoActivity:0 ~getLastAddedItemCreatedTime:0 '
            . '~processFieldsBeforeSave:0 ~sendPullEvent:0',
        'Bitrix\Crm\Service\Operation\Settings'
            => '__construct:1 disableAllChecks:0 disableAutomation:0 disableBizProc:0 disableSaveToHistory:0 '
            . 'disableSaveToTimeline:0 setStatisticsFacade:1',
        'Bitrix\Crm\Service\Operation\Update'
            => '~createToDoActivity:0 ~isItemChanged:0 ~processFieldsBeforeSave:0 ~sendPullEvent:0',
        'CCrmStatus' => 'Add:1 GetLastError:0 Update:2 __construct:1',
    ],
    'disk' => [
        'Bitrix\Disk\Driver' => 'getInstance:0',
        'Bitrix\Disk\File' => 'loadById:1',
        'Bitrix\Disk\Folder' => 'load:1',
    ],
    'iblock' => [
        'CIBlockSection' => 'Add:3 Delete:2 GetList:4 Update:4',
    ],
    'im' => [
        'Bitrix\Im\Chat' => 'getType:1',
        'Bitrix\Im\Color' => 'getCode:1 getColors:0',
        'CIMChat' => 'Add:1 __construct:1 getGroupTypes:0',
        'CIMContactList' => 'SetRecent:1',
        'CIMDisk' => 'ChangeFolderMembers:2 GetFolderModel:1',
        'CIMMessage' => 'GetChatId:3',
        'CIMMessageParam' => 'DeleteAll:1 Set:2',
        'CIMMessenger' => 'Add:1',
    ],
    'intranet' => [
        'CIntranetInviteDialog' => 'getUserGroups:2',
    ],
    'main' => [
        'Bitrix\Main\Application' => 'getConnection:0 getDocumentRoot:0',
        'Bitrix\Main\Config\Option' => 'delete:2 get:3 set:3',
        'Bitrix\Main\EventManager' => 'getInstance:0',
        'Bitrix\Main\EventResult' => '__construct:1',
        'Bitrix\Main\Loader' => 'includeModule:1',
        'Bitrix\Main\ORM\Data\DataManager' => '~getMap:0 ~getTableName:0',
        'Bitrix\Main\ORM\Fields\BooleanField' => '__construct:1 configurePrimary:0 configureValues:2',
        'Bitrix\Main\ORM\Fields\DatetimeField' => '__construct:1 configurePrimary:0',
        'Bitrix\Main\ORM\Fields\IntegerField' => '__construct:1 configurePrimary:0',
        'Bitrix\Main\ORM\Fields\StringField' => '__construct:2 configurePrimary:0',
        'Bitrix\Main\ORM\Fields\TextField' => '__construct:1 configurePrimary:0',
        'Bitrix\Main\ORM\Fields\Validators\LengthValidator' => '__construct:2',
        'Bitrix\Main\Text\Emoji' => 'decode:1 encode:1',
        'Bitrix\Main\Type\Date' => 'createFromTimestamp:1',
        'Bitrix\Main\Type\DateTime' => 'createFromTimestamp:1',
        'CAgent' => 'GetList:2',
        'CFile' => 'CheckImageFile:1 GetFileArray:1 MakeFileArray:1 SaveFile:2',
        'CSite' => 'GetDefSite:0',
        'CTimeZone' => 'Disable:0 Enable:0',
        'CUser' => 'Add:1 Delete:1 GetList:4 Update:2',
        'CUserFieldEnum' => 'GetList:2 SetEnumValues:2',
        'CUserTypeEntity' => 'Add:1 GetList:2',
    ],
    'rest' => [
        'Bitrix\Rest\AccessException' => '__construct:1',
        'Bitrix\Rest\RestException' => '__construct:4',
        'CRestUtil' => 'isAdmin:0',
    ],
    'socialnetwork' => [
        'Bitrix\Socialnetwork\ComponentHelper' => 'getBlogPostSocNetPerms:1',
        'CSocNetFeatures' => 'SetFeature:4',
        'CSocNetGroup' => 'Delete:1 SetStat:1 Update:5 createGroup:3',
        'CSocNetGroupSubject' => 'Add:1 GetList:2',
        'CSocNetLog' => 'Add:2 GetList:5 Update:2',
        'CSocNetLogComments' => 'Add:2 GetList:5 Update:2',
        'CSocNetLogRights' => 'Add:2 DeleteByLogID:1',
        'CSocNetUserToGroup' => 'Add:3 Delete:1 Update:2',
    ],
    'tasks' => [
        'Bitrix\Tasks\CheckList\Task\TaskCheckListTree' => 'attach:2 attachNew:2 delete:2',
        'Bitrix\Tasks\Control\Member' => '__construct:2 set:2',
        'Bitrix\Tasks\Control\Tag' => '__construct:1 set:2',
        'Bitrix\Tasks\Control\Task' => '__construct:1 delete:1 withSkipExchangeSync:0',
        'Bitrix\Tasks\Internals\Counter\Agent' => 'add:2',
        'Bitrix\Tasks\Internals\Helper\Task\Dependence' => 'attach:2 attachNew:2',
        'Bitrix\Tasks\Internals\SearchIndex' => 'setTaskSearchIndex:1',
    ],
];
