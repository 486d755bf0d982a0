<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

/** The table of all streams, in the order in which they are imported. */
final class Catalog
{
    public const ENTITIES = ['users', 'groups', 'chats', 'feed', 'tasks', 'workflows', 'crm'];
    public const STREAMS = [
        'departments' => 'users',
        'users' => 'users',
        'groups' => 'groups',
        'group_members' => 'groups',
        'crm_types' => 'crm',
        'crm_categories' => 'crm',
        'crm_stages' => 'crm',
        'crm_companies' => 'crm',
        'crm_contacts' => 'crm',
        'crm_deals' => 'crm',
        'crm_spitems' => 'crm',
        'tasks' => 'tasks',
        'task_checklists' => 'tasks',
        'task_comments' => 'tasks',
        'chats' => 'chats',
        'chat_messages' => 'chats',
        'feed_posts' => 'feed',
        'feed_comments' => 'feed',
        'workflow_templates' => 'workflows',
    ];

    public static function stream(string $name): ?Stream
    {
        return match ($name) {
            'departments' => Streams::departments(),
            'users' => Streams::users(),
            'groups' => Streams::groups(),
            'group_members' => Streams::groupMembers(),
            'chats' => Streams::chats(),
            'chat_messages' => Streams::chatMessages(),
            'feed_posts' => Streams::feedPosts(),
            'feed_comments' => Streams::feedComments(),
            'tasks' => Streams::tasks(),
            'task_checklists' => Streams::taskChecklists(),
            'task_comments' => Streams::taskComments(),
            'workflow_templates' => Streams::workflowTemplates(),
            'crm_types' => CrmStreams::types(),
            'crm_categories' => CrmStreams::categories(),
            'crm_stages' => CrmStreams::stages(),
            'crm_companies' => CrmStreams::companies(),
            'crm_contacts' => CrmStreams::contacts(),
            'crm_deals' => CrmStreams::deals(),
            'crm_spitems' => CrmStreams::smartItems(),
            default => null,
        };
    }
}
