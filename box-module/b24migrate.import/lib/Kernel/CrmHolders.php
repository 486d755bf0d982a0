<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\Map;
use Bitrix\Crm\Relation\EntityRelationTable;
use Bitrix\Crm\{AddressTable, DealRecurTable, RequisiteTable};

defined('B_PROLOG_INCLUDED') || exit;

/** What holds on to a record of the CRM: others that name it, and what the kernel deletes together with it. */
final class CrmHolders
{
    private const LEADS = 1;
    private const DEALS = 2;
    private const CLIENTS = [3, 4];
    /** By the type of the record: which records of which type name it, and in which column. */
    private const NAMED = [
        4 => [
            [3, 'COMPANY_ID', 'contacts'], [2, 'COMPANY_ID', 'deals'], [1, 'COMPANY_ID', 'leads'],
            [7, 'COMPANY_ID', 'quotes'], [31, 'COMPANY_ID', 'invoices'], [7, 'MYCOMPANY_ID', 'quotes'],
            [31, 'MYCOMPANY_ID', 'invoices'],
        ],
        3 => [
            [2, 'CONTACT_ID', 'deals'], [1, 'CONTACT_ID', 'leads'], [7, 'CONTACT_ID', 'quotes'],
            [31, 'CONTACT_ID', 'invoices'],
        ],
        2 => [[7, 'DEAL_ID', 'quotes']],
        1 => [
            [2, 'LEAD_ID', 'deals'], [3, 'LEAD_ID', 'contacts'], [4, 'LEAD_ID', 'companies'], [7, 'LEAD_ID', 'quotes'],
        ],
        7 => [[2, 'QUOTE_ID', 'deals']],
    ];

    /** @param list<string> $gone records to be taken for deleted, as the contract numbers those of `CrmItems` */
    public static function reasonToKeep(int $type, int $id, Map $map, array $gone): ?string
    {
        foreach (self::NAMED[$type] ?? [] as [$of, $column, $word]) {
            if (CrmItems::count($of, ["=$column" => $id]) > 0) {
                return "it has $word";
            }
        }
        $own = ['=ENTITY_TYPE_ID' => $type, '=ENTITY_ID' => $id];
        return match (true) {
            array_diff(self::below($type, $id), $gone) !== [] => 'it has records below it',
            in_array($type, self::CLIENTS, true) && self::has(RequisiteTable::class, $own) => 'it has requisites',
            $type === self::LEADS && self::has(AddressTable::class, $own) => 'it has addresses',
            $type === self::DEALS && self::has(DealRecurTable::class, ['=DEAL_ID' => $id]) => 'it has a schedule',
            // The kernel itself chooses requisites for a deal; those that the import has chosen go first.
            $map->entriesOf('crm_requisite_links', "$type:$id") !== [] => 'its requisites are chosen',
            default => CrmTimeline::reasonToKeep($type, $id),
        };
    }

    /** @return list<string> items of smart processes and the like, whose numbers tell their types */
    private static function below(int $type, int $id): array
    {
        $filter = ['=SRC_ENTITY_TYPE_ID' => $type, '=SRC_ENTITY_ID' => $id];
        $query = ['select' => ['DST_ENTITY_TYPE_ID', 'DST_ENTITY_ID'], 'filter' => $filter];
        $rows = class_exists(EntityRelationTable::class) ? EntityRelationTable::getList($query)->fetchAll() : [];
        return array_map(static fn(array $row): string
            => CrmNumbers::number((int)$row['DST_ENTITY_TYPE_ID'], (int)$row['DST_ENTITY_ID']), $rows);
    }

    private static function has(string $table, array $filter): bool
    {
        return class_exists($table) && $table::getCount($filter) > 0;
    }
}
