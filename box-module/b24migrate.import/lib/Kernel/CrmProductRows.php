<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Item;

defined('B_PROLOG_INCLUDED') || exit;

/** The products of a deal, lead, quote, invoice or item of a smart process. */
final class CrmProductRows
{
    private const FIELDS = [
        'text' => 'productName measureCode',
        'number' => 'price quantity discountRate discountSum taxRate',
        'flag' => 'taxIncluded',
        'int' => 'sort discountTypeId',
        'link' => 'productId',
    ];
    private const DISCOUNT_IN_PERCENT = 2;

    /** The kernel merges equal rows; which ones are equal is to be checked on a real box. */
    public static function set(Item $item, array $wanted): void
    {
        $columns = new Columns(self::FIELDS);
        $filled = static fn(mixed $row) => array_filter((array)$row, static fn($value) => $value !== null);
        $rows = array_map(static fn(mixed $row) => $columns->toKernel($filled($row))
            + ['DISCOUNT_TYPE_ID' => self::DISCOUNT_IN_PERCENT], $wanted);
        Gateway::mustSucceed($item->setProductRowsFromArrays($rows));
    }

    public static function read(array $rows): array
    {
        $columns = new Columns(self::FIELDS);
        $none = array_fill_keys(array_column($columns->kinds, 0), null);
        return array_map(static fn(array $row) => $columns->fromKernel($row + $none), array_values($rows));
    }
}
