<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\PriceTable;
use Bitrix\Currency\{CurrencyLangTable, CurrencyTable};
use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

/** Currencies, by their codes. Those that the box has stay as they are, and so does its base currency. */
final class CatalogCurrencies extends Gateway
{
    protected const TABLE = CurrencyTable::class;
    protected const FIELDS = ['text' => 'CURRENCY', 'number' => 'AMOUNT', 'int' => 'AMOUNT_CNT SORT'];
    private const LANG = ['FULL_NAME', 'FORMAT_STRING', 'DEC_POINT', 'THOUSANDS_SEP', 'DECIMALS'];

    public function has(string $id): bool
    {
        return self::rows([$id]) !== [];
    }

    public function find(array $values): ?string
    {
        return self::rows([(string)$values['CURRENCY']])[0]['CURRENCY'] ?? null;
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach (self::rows($ids) as $row) {
            $found[$row['CURRENCY']] = $this->toFields($row) + ['LANG' => []];
        }
        $query = ['select' => ['*'], 'filter' => ['@CURRENCY' => array_keys($found)]];
        foreach ($found === [] ? [] : CurrencyLangTable::getList($query)->fetchAll() as $row) {
            $found[$row['CURRENCY']]['LANG'][$row['LID']] = array_intersect_key($row, array_flip(self::LANG));
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $code = \CCurrency::Add($this->row($fields) + ['AMOUNT' => 1, 'AMOUNT_CNT' => 1, 'BASE' => 'N']);
        return (string)($code ?: throw self::refusal('the box does not take this currency', 'CURRENCY'));
    }

    public function update(string $id, array $fields): void
    {
        $row = array_diff_key($this->row($fields), ['CURRENCY' => true]);
        $this->has($id) || throw self::deletedFault();
        $row === [] || \CCurrency::Update($id, $row) || throw self::refusal('the box does not take this currency');
    }

    public function delete(string $id): void
    {
        \CCurrency::Delete($id) ?: throw self::refusal('the box does not let this currency go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        foreach ([1 => 'leads', 2 => 'deals', 7 => 'quotes', 31 => 'invoices'] as $type => $word) {
            if (CrmItems::count($type, ['=CURRENCY_ID' => $id]) > 0) {
                return "$word are in it";
            }
        }
        $isPrice = Loader::includeModule('catalog') && self::rowExists(PriceTable::class, ['=CURRENCY' => $id]);
        return $isPrice ? 'prices are in it' : null;
    }

    /** What is not sent or empty stays; rows of languages are objects of texts and numbers. */
    private function row(array $fields): array
    {
        $filled = array_filter($fields, static fn(mixed $value) => !in_array($value, [null, [], ''], true));
        $row = self::columns()->toKernel($filled);
        $languages = array_map(static fn(mixed $one): array => (array)$one, (array)($filled['LANG'] ?? []));
        return $languages === [] ? $row : ['LANG' => $languages] + $row;
    }

    private static function rows(array $codes): array
    {
        return $codes === [] ? [] : CurrencyTable::getList([
            'select' => ['CURRENCY', 'AMOUNT', 'AMOUNT_CNT', 'SORT'], 'filter' => ['@CURRENCY' => $codes],
        ])->fetchAll();
    }
}
