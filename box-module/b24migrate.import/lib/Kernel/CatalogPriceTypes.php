<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\{GroupAccessTable, GroupTable, PriceTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Retail, wholesale and the like. A box has one base type, and many boxes have no other. */
final class CatalogPriceTypes extends TableGateway
{
    protected const TABLE = GroupTable::class;
    protected const FIELDS = ['text' => 'name xmlId', 'flag' => 'base', 'int' => 'sort'];
    protected const LOSSES = ['base' => 'The base price of this box stays as it is.'];
    private const ADMINISTRATORS = 1;

    public function create(string $key, array $fields): string
    {
        $groups = self::groupsOfBasePrice();
        $id = \CCatalogGroup::Add($this->row($fields) + [
            'BASE' => 'N', 'SORT' => 100, 'USER_GROUP' => $groups, 'USER_GROUP_BUY' => $groups,
            'USER_LANG' => ['ru' => $fields['name'], 'en' => $fields['name']],
        ]);
        return (string)($id ?: throw self::refusal('the box does not take this price type'));
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(GroupTable::class, ['ID'], $id));
        \CCatalogGroup::Update((int)$id, $this->row($fields))
            ?: throw self::refusal('the box does not take this price type');
    }

    public function delete(string $id): void
    {
        \CCatalogGroup::Delete((int)$id) ?: throw self::refusal('the box does not let this price type go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $isUsed = self::rowExists(PriceTable::class, ['=CATALOG_GROUP_ID' => (int)$id]);
        return $isUsed ? 'products have such prices' : null;
    }

    /** Users who see the base price see the new one: the kernel refuses a price type without readers. */
    private static function groupsOfBasePrice(): array
    {
        $base = self::findRows(GroupTable::class, ['ID'], ['=BASE' => 'Y'])[0]['ID'] ?? 0;
        $rows = self::findRows(GroupAccessTable::class, ['GROUP_ID'], ['=CATALOG_GROUP_ID' => (int)$base]);
        $groups = array_values(array_unique(array_map('intval', array_column($rows, 'GROUP_ID'))));
        return $groups ?: [self::ADMINISTRATORS];
    }
}
