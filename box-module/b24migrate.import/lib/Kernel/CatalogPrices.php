<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\Model\Price;
use Bitrix\Catalog\PriceTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Prices of products. The kernel may have made one already: the lowest of the offers of a product. */
final class CatalogPrices extends Gateway
{
    protected const TABLE = PriceTable::class;
    protected const FIELDS = [
        'id' => 'productId catalogGroupId', 'number' => 'price', 'text' => 'currency',
        'int' => 'quantityFrom quantityTo',
    ];
    /** A price of offers that changes is that of their product, too. */
    protected const VOLATILE = ['price'];

    public function create(string $key, array $fields): string
    {
        $row = self::row($fields) + ['QUANTITY_FROM' => null, 'QUANTITY_TO' => null];
        $same = array_diff_key($row, ['PRICE' => 1, 'CURRENCY' => 1]);
        $filter = array_combine(array_map(static fn(string $name) => "=$name", array_keys($same)), $same);
        $there = $this->firstWithoutKey(self::findRows(PriceTable::class, ['ID'], $filter));
        if ($there !== null) {
            $this->update($there, $fields);
            return $there;
        }
        return (string)self::mustSucceed(Price::add(['fields' => $row]))->getId();
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(PriceTable::class, ['ID'], $id));
        self::mustSucceed(Price::update((int)$id, ['fields' => self::row($fields)]));
    }

    public function delete(string $id): void
    {
        self::mustSucceed(Price::delete((int)$id));
    }

    private static function row(array $fields): array
    {
        // A range without an end is null, not 0.
        $row = self::columns()->toKernel($fields);
        return array_map(static fn(mixed $value) => $value === false ? null : $value, $row);
    }
}
