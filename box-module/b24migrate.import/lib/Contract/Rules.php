<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

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
