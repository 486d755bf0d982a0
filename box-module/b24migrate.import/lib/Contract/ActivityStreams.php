<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** What happens around the records of the CRM, version 1.1 of the contract: calls, activities and the timeline. */
final class ActivityStreams
{
    public const TABLE = [
        'crm_recurring' => ['crm', [
            'deal' => 'DEAL_ID! BASED_ID',
            'category' => 'CATEGORY_ID',
            'flag' => 'ACTIVE',
            'date' => 'NEXT_EXECUTION LAST_EXECUTION START_DATE LIMIT_DATE',
            'int' => 'COUNTER_REPEAT LIMIT_REPEAT',
            'text' => 'IS_LIMIT',
            'object' => 'PARAMS',
        ]],
        'crm_calls' => ['crm', [
            'text' => 'CALL_ID! PHONE_NUMBER CALL_FAILED_CODE CALL_FAILED_REASON CALL_CATEGORY PORTAL_NUMBER COMMENT'
                . ' COST_CURRENCY',
            'int' => 'CALL_TYPE! CALL_DURATION CALL_VOTE',
            'number' => 'COST',
            'user' => 'PORTAL_USER_ID',
            'time' => 'CALL_START_DATE!',
            'crm owner' => 'owner',
            'file' => 'RECORD_FILE',
            'activity' => 'CRM_ACTIVITY_ID',
        ]],
        'crm_activities' => ['crm', [
            'crm owner' => 'OWNER!',
            '[crm owner]' => 'BINDINGS',
            '[communication]' => 'COMMUNICATIONS',
            'int' => 'TYPE_ID! DESCRIPTION_TYPE STATUS PRIORITY DIRECTION',
            'text' => 'PROVIDER_ID PROVIDER_TYPE_ID SUBJECT DESCRIPTION LOCATION ORIGINATOR_ID ORIGIN_ID',
            'time' => 'CREATED LAST_UPDATED START_TIME END_TIME DEADLINE',
            'flag' => 'COMPLETED IS_INCOMING_CHANNEL',
            'user' => 'RESPONSIBLE_ID AUTHOR_ID EDITOR_ID',
            'object' => 'SETTINGS PROVIDER_PARAMS',
            '[file]' => 'FILES',
        ]],
        'crm_comments' => ['crm', [
            '[crm owner]' => 'OWNERS!',
            'user' => 'AUTHOR_ID!',
            'time' => 'CREATED!',
            'text' => 'COMMENT',
            '[file]' => 'FILES',
        ]],
        'crm_notes' => ['crm', [
            'activity' => 'activityId',
            'timeline comment' => 'commentId',
            'text' => 'text!',
            'user' => 'createdById updatedById',
            'time' => 'createdTime updatedTime',
        ]],
        'crm_logs' => ['crm', [
            'crm owner' => 'OWNER!',
            'text' => 'title! text iconCode',
            'user' => 'authorId',
            'time' => 'created',
        ]],
    ];

    /** @return array<string, mixed> further arguments of a Stream */
    public static function behaviour(string $name): array
    {
        return match ($name) {
            'crm_comments' => ['rules' => [self::hasOwner(...)]],
            'crm_notes' => ['rules' => [self::isOfOne(...)]],
            default => [],
        };
    }

    public static function hasOwner(array $fields, Inspection $seen): void
    {
        if (($fields['OWNERS'] ?? null) === []) {
            $seen->field = 'OWNERS';
            throw $seen->refuse('must name a record');
        }
    }

    public static function isOfOne(array $fields, Inspection $seen): void
    {
        if (isset($fields['activityId']) === isset($fields['commentId'])) {
            $seen->field = 'activityId';
            throw $seen->refuse('a note is one of an activity or of a comment');
        }
    }
}
