<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** What several fields of a record must be together, outside the CRM. */
final class Rules
{
    /** A company has one root: whatever comes without a parent is that one. */
    public static function rootDepartment(array $fields, Lookup $box): ?string
    {
        return isset($fields['PARENT']) ? null : $box->rootDepartment();
    }

    public static function emailIsFree(array $fields, Inspection $seen): void
    {
        $takenBy = isset($fields['EMAIL']) ? $seen->box->find('users', ['EMAIL' => $fields['EMAIL']]) : null;
        if ($takenBy !== null && $takenBy !== $seen->itself) {
            throw new ItemFault('DUPLICATE_EMAIL', 'EMAIL', "EMAIL: user $takenBy has the same address");
        }
    }

    /** What a template runs on the box is the box's own: anything else only by name, and by its administrator's will. */
    public static function activitiesAreAllowed(array $fields, Inspection $seen): void
    {
        $allowed = $seen->box->allowedActivities();
        $refused = array_filter(
            Activities::forbidden($fields),
            static fn ($name) => !in_array(strtolower($name), $allowed, true)
        );
        if ($refused !== []) {
            $seen->field = 'TEMPLATE';
            $names = mb_substr(implode(', ', $refused), 0, 300);
            throw $seen->refuse("activities that are not allowed on this box: $names. An administrator of the box "
                . 'allows them by name: php install.php --allow-activities NAMES');
        }
    }

    public static function groupOfChatExists(array $fields, Inspection $seen): void
    {
        if (($fields['entity_type'] ?? null) === 'SONET_GROUP' && isset($fields['entity_id'])) {
            $seen->field = 'entity_id';
            Kind::of('group')($fields['entity_id'], $seen);
        }
    }

    public static function paramsWithoutWhatTravelsElsewhere(array $fields, Inspection $seen): void
    {
        if (array_intersect_key((array)($fields['params'] ?? []), ['FILE_ID' => 1, 'LIKE' => 1]) !== []) {
            $seen->field = 'params';
            throw $seen->refuse('FILE_ID and LIKE travel as files and reactions');
        }
    }
}
