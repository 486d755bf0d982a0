<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\Model\Product;
use Bitrix\Catalog\{PriceTable, ProductTable};
use Bitrix\Crm\ProductRowTable;
use Bitrix\Iblock\ElementTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Products, services, products with offers, and offers: an element of an information block, and what the catalogue
 * knows of it beside. That handlers of other modules start nothing is to be checked on a real box.
 */
final class CatalogProducts extends Gateway
{
    protected const TABLE = ElementTable::class;
    protected const FIELDS = [
        'text' => 'name code xmlId previewText previewTextType detailText detailTextType', 'flag' => 'active',
        'int' => 'sort',
        'id' => 'iblockSectionId', 'link' => 'createdBy modifiedBy', 'time' => 'dateCreate',
    ];
    protected const FILLED = [
        'SORT', 'CREATED_BY', 'MODIFIED_BY', 'DATE_CREATE', 'XML_ID', 'PREVIEW_TEXT_TYPE', 'DETAIL_TEXT_TYPE',
    ];
    /** Prices and offers change a product on their way in. */
    protected const VOLATILE = ['timestampX'];
    private const IN_CATALOG = [
        'id' => 'measure vatId', 'flag' => 'vatIncluded', 'number' => 'weight width height length purchasingPrice',
        'text' => 'purchasingCurrency',
    ];
    private const MAY_BE_NULL = ['WIDTH', 'HEIGHT', 'LENGTH', 'PURCHASING_PRICE'];
    private const PICTURES = ['previewPicture' => 'PREVIEW_PICTURE', 'detailPicture' => 'DETAIL_PICTURE'];
    private const TYPES = [
        'product' => ProductTable::TYPE_PRODUCT, 'service' => ProductTable::TYPE_SERVICE,
        'parent' => ProductTable::TYPE_SKU, 'offer' => ProductTable::TYPE_OFFER,
    ];
    /** A product whose offers are all gone, and an offer whose product is gone. */
    private const KINDS = [ProductTable::TYPE_EMPTY_SKU => 'parent', ProductTable::TYPE_FREE_OFFER => 'offer'];

    /** @var array<int, CatalogValues> by information block: which properties there are is asked once */
    private array $values = [];

    public function create(string $key, array $fields): string
    {
        $kind = $fields['kind'] ?? 'product';
        $block = CatalogSections::block($kind);
        $element = new \CIBlockElement();
        $row = ['IBLOCK_ID' => $block] + $this->row($fields, []);
        $id = (int)$this->save($row, static fn(array $sent) => $element->Add($sent, false, false, false), $element);
        $facts = ['ID' => $id, 'TYPE' => self::TYPES[$kind]] + self::facts($fields);
        self::mustSucceed(Product::add(['fields' => $facts, 'external_fields' => ['IBLOCK_ID' => $block]]));
        $this->finish($id, $block, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $columns = ['IBLOCK_ID', ...array_values(self::PICTURES)];
        $now = self::mustExist(self::findRow(ElementTable::class, $columns, $id));
        $element = new \CIBlockElement();
        $write = static fn(array $sent) => $element->Update((int)$id, $sent, false, false, false);
        $this->save($this->row($fields, $now), $write, $element);
        $facts = self::facts($fields);
        $facts === [] || self::mustSucceed(Product::update((int)$id, ['fields' => $facts]));
        $this->finish((int)$id, (int)$now['IBLOCK_ID'], $fields);
    }

    public function delete(string $id): void
    {
        \CIBlockElement::Delete((int)$id) ?: throw self::refusal('the box does not let this product go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        if (self::rowExists(ProductRowTable::class, ['=PRODUCT_ID' => (int)$id])) {
            return 'deals or the like have it';
        }
        if (self::rowExists(PriceTable::class, ['=PRODUCT_ID' => (int)$id])) {
            return 'it has prices';
        }
        $offers = array_map('strval', CatalogValues::offersOf((int)$id));
        return array_diff($offers, $gone) === [] ? null : 'it has offers';
    }

    protected function loadRows(array $ids): array
    {
        $rows = array_column(parent::loadRows($ids), null, 'ID');
        $facts = array_column(self::findRows(ProductTable::class, ['*'], ['@ID' => array_keys($rows)]), null, 'ID');
        foreach (self::PICTURES as $column) {
            $rows = Files::withOrigins($rows, $column);
        }
        $blocks = self::groupBy($rows, 'IBLOCK_ID', static fn(array $row) => (int)$row['ID']);
        $values = [];
        foreach ($blocks as $block => $elements) {
            $values += $this->values($block)->read($elements);
        }
        return array_map(static fn(array $row) => $row + [
            'facts' => $facts[$row['ID']] ?? [], 'values' => $values[$row['ID']],
        ], $rows);
    }

    protected function toFields(array $row): array
    {
        $type = (int)($row['facts']['TYPE'] ?? self::TYPES['product']);
        return ['kind' => self::KINDS[$type] ?? (array_search($type, self::TYPES, true) ?: 'product')]
            + array_map(static fn(string $column) => $row[$column], self::PICTURES)
            + parent::toFields($row)
            + (new Columns(self::IN_CATALOG))->fromKernel($row['facts'])
            + ['timestampX' => Dates::utc($row['TIMESTAMP_X'])] + $row['values'];
    }

    private function row(array $fields, array $now): array
    {
        $row = self::columns()->toKernel($fields);
        foreach (self::PICTURES as $field => $column) {
            $row += $this->picture($field, $fields, $column, (int)($now[$column] ?? 0));
        }
        // Who does not say what a text is may mean both, and HTML without tags is a text.
        foreach (array_intersect_key(['PREVIEW_TEXT' => 'html', 'DETAIL_TEXT' => 'html'], $row) as $column => $kind) {
            $row += ["{$column}_TYPE" => $kind];
        }
        return $row;
    }

    /** A catalogue may want a code once: then it is left out. */
    private function save(array $row, \Closure $write, \CIBlockElement $element): int|bool
    {
        $saved = $write($row);
        if (!$saved && ($row['CODE'] ?? '') !== '') {
            $this->leftOut[] = 'code';
            $saved = $write(['CODE' => ''] + $row);
        }
        return $saved ?: throw self::refusal('the box does not take this product', said: $element->LAST_ERROR);
    }

    private function values(int $block): CatalogValues
    {
        return $this->values[$block] ??= new CatalogValues($block);
    }

    private static function facts(array $fields): array
    {
        $row = (new Columns(self::IN_CATALOG))->toKernel($fields);
        // Nothing is null there: a false would be no number, a 0 would be a size or a price, and no product is taken
        // with a purchasing price that has no currency.
        $none = array_map(Columns::column(...), array_keys($fields, null, true));
        $none = ($row['PURCHASING_CURRENCY'] ?? null) === '' ? [...$none, 'PURCHASING_PRICE'] : $none;
        $row = array_map(static fn(mixed $value) => in_array($value, [false, ''], true) ? null : $value, $row);
        return array_fill_keys(array_intersect($none, self::MAY_BE_NULL), null) + $row;
    }

    private function finish(int $id, int $block, array $fields): void
    {
        $this->leftOut = [...$this->leftOut, ...$this->values($block)->write($id, $fields)];
        if (isset($fields['timestampX'])) {
            self::mustSucceed(ElementTimeTable::update($id, ['TIMESTAMP_X' => Dates::moment($fields['timestampX'])]));
        }
    }
}
