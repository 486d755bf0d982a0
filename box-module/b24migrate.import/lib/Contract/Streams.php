<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

use B24migrate\Import\Contract\Kind\CrmItem;
use B24migrate\Import\Contract\Kind\Kind;
use B24migrate\Import\Contract\Kind\Many;
use B24migrate\Import\Contract\Kind\Plain;
use B24migrate\Import\Contract\Kind\Recipient;
use B24migrate\Import\Contract\Kind\Ref;
use B24migrate\Import\Contract\Kind\Shape;

/** Every stream of the contract outside the CRM. */
final class Streams
{
    private const USER_FIELDS_OF_EVERY_BOX = 'UF_EMPLOYMENT_DATE UF_TIMEMAN UF_SKILLS UF_INTERESTS UF_WEB_SITES UF_XING'
        . ' UF_LINKEDIN UF_FACEBOOK UF_TWITTER UF_SKYPE UF_SKYPE_LINK UF_ZOOM UF_DISTRICT UF_PHONE_INNER';

    /** @return array<string, Kind> the same kind for each of these names */
    public static function all(string $names, Kind $kind): array
    {
        return array_fill_keys(explode(' ', $names), $kind);
    }

    public static function departments(): Stream
    {
        return new Stream(
            'departments',
            'users',
            self::all('NAME', Plain::text()) + self::all('SORT', Plain::whole())
                + ['PARENT' => new Ref('departments'), 'UF_HEAD' => Ref::user()],
            required: ['NAME'],
            linkedTo: Rules::rootDepartment(...),
            keptWhenLinked: ['NAME', 'PARENT']
        );
    }

    public static function users(): Stream
    {
        return new Stream(
            'users',
            'users',
            self::all('NAME LAST_NAME SECOND_NAME EMAIL XML_ID USER_TYPE TIME_ZONE', Plain::text())
                + self::all('DATE_REGISTER PERSONAL_BIRTHDAY', Plain::date())
                + self::all(self::USER_FIELDS_OF_EVERY_BOX, Plain::any())
                + self::all('ACTIVE', Plain::flag())
                + ['UF_DEPARTMENT' => new Many(new Ref('departments')), 'PERSONAL_PHOTO' => Ref::file()],
            required: ['NAME', 'EMAIL'],
            patterns: ['(PERSONAL|WORK)_[A-Z0-9_]+' => Plain::text()],
            rules: [Rules::emailIsFree(...)],
            oneAtATime: true
        );
    }

    public static function groups(): Stream
    {
        return new Stream(
            'groups',
            'groups',
            self::all('NAME DESCRIPTION TYPE SUBJECT_NAME KEYWORDS', Plain::text())
                + self::all('ACTIVE VISIBLE OPENED CLOSED PROJECT', Plain::flag())
                + self::all('DATE_CREATE DATE_UPDATE DATE_ACTIVITY', Plain::time())
                + self::all('PROJECT_DATE_START PROJECT_DATE_FINISH', Plain::time())
                + ['OWNER_ID' => Ref::owner(), 'SCRUM_MASTER_ID' => Ref::user(), 'IMAGE' => Ref::file()],
            required: ['NAME', 'OWNER_ID']
        );
    }

    public static function groupMembers(): Stream
    {
        $fields = ['GROUP_ID' => new Ref('groups'), 'USER_ID' => Ref::user(), 'ROLE' => Plain::oneOf('A', 'E', 'K')];
        return new Stream('group_members', 'groups', $fields, required: array_keys($fields));
    }

    public static function chats(): Stream
    {
        return new Stream(
            'chats',
            'chats',
            self::all('type name description color entity_type entity_id', Plain::text())
                + self::all('manager_list users', new Many(Ref::user()))
                + ['owner' => Ref::owner(), 'date_create' => Plain::time(), 'avatar' => Ref::file()],
            required: ['type'],
            rules: [Rules::groupOfChatExists(...)]
        );
    }

    public static function chatMessages(): Stream
    {
        return new Stream(
            'chat_messages',
            'chats',
            self::said(Ref::userOrSystem()) + [
                'chat_id' => new Ref('chats', 'CHAT_NOT_FOUND'),
                'params' => Plain::object(),
                'reactions' => Plain::tally(),
            ],
            required: ['chat_id', 'author_id', 'date'],
            rules: [Rules::paramsWithoutWhatTravelsElsewhere(...)]
        );
    }

    public static function feedPosts(): Stream
    {
        return new Stream(
            'feed_posts',
            'feed',
            self::all('TITLE DETAIL_TEXT', Plain::text()) + [
                'AUTHOR_ID' => Ref::user(),
                'DATE_PUBLISH' => Plain::time(),
                'DEST' => new Many(new Recipient()),
                'IMPORTANT' => Plain::flag(),
                'TAGS' => new Many(Plain::text()),
                'FILES' => new Many(Ref::file()),
            ],
            required: ['AUTHOR_ID', 'DATE_PUBLISH']
        );
    }

    public static function feedComments(): Stream
    {
        $fields = ['post_id' => new Ref('feed_posts')] + self::said(Ref::user());
        return new Stream('feed_comments', 'feed', $fields, required: ['post_id', 'author_id', 'date']);
    }

    public static function tasks(): Stream
    {
        return new Stream(
            'tasks',
            'tasks',
            self::all('title description status priority', Plain::text())
                + self::all('createdBy responsibleId changedBy closedBy', Ref::user())
                + self::all('accomplices auditors', new Many(Ref::user()))
                + self::all('createdDate changedDate closedDate dateStart', Plain::time())
                + self::all('deadline startDatePlan endDatePlan', Plain::time())
                + self::all('timeEstimate', Plain::whole()) + [
                'groupId' => new Ref('groups'),
                'parentId' => new Ref('tasks'),
                'tags' => new Many(Plain::text()),
                'ufCrmTask' => new Many(CrmItem::binding()),
                'ufTaskWebdavFiles' => new Many(Ref::file()),
            ],
            required: ['title', 'createdBy', 'responsibleId']
        );
    }

    public static function taskChecklists(): Stream
    {
        return new Stream(
            'task_checklists',
            'tasks',
            self::all('IS_COMPLETE IS_IMPORTANT', Plain::flag()) + self::all('CREATED_BY TOGGLED_BY', Ref::user()) + [
                'TASK_ID' => new Ref('tasks'),
                'PARENT_ID' => new Ref('task_checklists'),
                'TITLE' => Plain::text(),
                'SORT_INDEX' => Plain::whole(),
                'TOGGLED_DATE' => Plain::time(),
                'MEMBERS' => new Many(new Shape(['ID' => Ref::user(), 'TYPE' => Plain::text()], ['ID'])),
            ],
            required: ['TASK_ID', 'TITLE']
        );
    }

    public static function taskComments(): Stream
    {
        $fields = ['task_id' => new Ref('tasks')] + self::said(Ref::userOrSystem());
        return new Stream('task_comments', 'tasks', $fields, required: ['task_id', 'author_id', 'date']);
    }

    public static function workflowTemplates(): Stream
    {
        return new Stream(
            'workflow_templates',
            'workflows',
            self::all('MODULE_ID ENTITY DOCUMENT_TYPE NAME DESCRIPTION', Plain::text())
                + self::all('TEMPLATE PARAMETERS VARIABLES CONSTANTS', Plain::tree())
                + ['AUTO_EXECUTE' => Plain::whole(), 'USER_ID' => Ref::user(), 'MODIFIED' => Plain::time()],
            required: ['MODULE_ID', 'ENTITY', 'DOCUMENT_TYPE', 'NAME']
        );
    }

    /** @return array<string, Kind> what every message and comment has */
    private static function said(Kind $author): array
    {
        return [
            'author_id' => $author,
            'date' => Plain::time(),
            'text' => Plain::text(),
            'files' => new Many(Ref::file()),
        ];
    }
}
