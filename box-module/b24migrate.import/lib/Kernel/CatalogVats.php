<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\{ProductTable, VatTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Rates of the value-added tax. No rate means that there is no such tax, which newer boxes have a flag for. */
final class CatalogVats extends TableGateway
{
    protected const TABLE = VatTable::class;
    protected const FIELDS = ['text' => 'name', 'number' => 'rate', 'int' => 'sort', 'flag' => 'active'];
    private const WITHOUT_TAX = 'EXCLUDE_VAT';

    public function find(array $values): ?string
    {
        if (!isset($values['withoutTax'])) {
            return parent::find($values);
        }
        $hasFlag = VatTable::getEntity()->hasField(self::WITHOUT_TAX);
        $filter = $hasFlag ? ['=' . self::WITHOUT_TAX => 'Y'] : ['=RATE' => null];
        $rows = self::findRows(VatTable::class, ['ID'], $filter);
        return isset($rows[0]) ? (string)$rows[0]['ID'] : null;
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return self::rowExists(ProductTable::class, ['=VAT_ID' => (int)$id]) ? 'products have it' : null;
    }

    protected function toFields(array $row): array
    {
        return (($row[self::WITHOUT_TAX] ?? 'N') === 'Y' ? ['rate' => null] : []) + parent::toFields($row);
    }

    protected function row(array $fields): array
    {
        $row = parent::row($fields);
        if (array_key_exists('rate', $fields) && VatTable::getEntity()->hasField(self::WITHOUT_TAX)) {
            $isFree = $fields['rate'] === null;
            $row = [self::WITHOUT_TAX => $isFree ? 'Y' : 'N', 'RATE' => $isFree ? null : $row['RATE']] + $row;
        }
        return $row;
    }
}
