<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** The records of the CRM that something belongs to: `{"ownerTypeId": 2, "ownerId": "12"}` is [2, 12] on the box. */
final class CrmOwners
{
    private const INVOICES = 31;
    private const FIRST_SMART_TYPE = 128;

    /** @return array{int, int} type and id on the box */
    public static function parts(mixed $owner): array
    {
        ['ownerTypeId' => $type, 'ownerId' => $id] = (array)$owner;
        return [$type, self::isNumbered($type) ? CrmNumbers::id($id) : (int)$id];
    }

    /** @return ?array{ownerTypeId: int, ownerId: string} null where there is none */
    public static function owner(int $type, int $id): ?array
    {
        $number = self::isNumbered($type) ? CrmNumbers::number($type, $id) : (string)$id;
        return $type > 0 && $id > 0 ? ['ownerTypeId' => $type, 'ownerId' => $number] : null;
    }

    /** @return list<array{int, int}> each once, in their order */
    public static function each(array $owners): array
    {
        return array_values(array_unique(array_map(self::parts(...), $owners), SORT_REGULAR));
    }

    /**
     * Rows that link things to records of the CRM.
     *
     * @return array<int, list<array{ownerTypeId: int, ownerId: string}>> by thing
     */
    public static function group(array $rows, string $thing, string $type, string $id): array
    {
        $owners = [];
        foreach ($rows as $row) {
            $owners[(int)$row[$thing]][] = self::owner((int)$row[$type], (int)$row[$id]);
        }
        return array_map(static fn(array $of) => array_values(array_filter($of)), $owners);
    }

    /** As `CrmItems` names them. */
    private static function isNumbered(int $type): bool
    {
        return $type === self::INVOICES || $type >= self::FIRST_SMART_TYPE;
    }
}
