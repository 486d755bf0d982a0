<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\{CatalogRules, ListValues};
use B24migrate\Import\Port\Entry;
use Bitrix\Iblock\{PropertyEnumerationTable, PropertyTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Properties of products and of offers, with the values of those that are lists. */
final class CatalogProperties extends TableGateway
{
    /** A catalogue may keep its values in a table of its own, which gets a column with each property. */
    protected const ATOMIC = false;
    protected const TABLE = PropertyTable::class;
    protected const FIELDS = [
        'text' => 'name code xmlId propertyType userType', 'flag' => 'multiple isRequired', 'int' => 'sort',
    ];
    protected const FILLED = ['SORT', 'PROPERTY_TYPE'];
    protected const LOSSES = [
        'isRequired' => 'Old products may have no value, and the box would refuse them: mark it when all is done.',
    ];
    private const VALUE = ['text' => 'value xmlId', 'int' => 'sort', 'flag' => 'default:DEF'];

    public function find(array $values): ?string
    {
        $block = CatalogSections::block($values['kind']);
        return $this->findByFields(array_diff_key($values, ['kind' => 1]), ['=IBLOCK_ID' => $block]);
    }

    public function read(array $ids): array
    {
        $found = parent::read($ids);
        foreach (self::values(array_keys($found)) as $property => $rows) {
            $found[$property]['options'] = array_map(self::option(...), $rows);
        }
        return $found;
    }

    /** A code that a property of another type has is left out: by it people mean that one. */
    public function create(string $key, array $fields): string
    {
        $property = new \CIBlockProperty();
        $row = self::columns()->toKernel($fields)
            + ['IBLOCK_ID' => CatalogSections::block(CatalogRules::kindOfProperty($key)), 'ACTIVE' => 'Y'];
        $same = ['=IBLOCK_ID' => $row['IBLOCK_ID'], '=CODE' => $row['CODE'] ?? ''];
        if ($same['=CODE'] !== '' && self::rowExists(PropertyTable::class, $same)) {
            $this->leftOut[] = 'code';
            $row['CODE'] = '';
        }
        $id = $property->Add($row)
            ?: throw self::refusal('the box does not take this property', said: $property->LAST_ERROR);
        try {
            $this->saveValues((int)$id, $fields['options'] ?? []);
        } catch (\Throwable $fault) {
            $this->delete((string)$id);
            throw $fault;
        }
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(PropertyTable::class, ['*'], $id));
        $property = new \CIBlockProperty();
        $row = self::columns()->toKernel($fields) + array_intersect_key($now, ['IBLOCK_ID' => 1, 'NAME' => 1]);
        // What kind of values a property has is not changed: those that are there would be lost.
        $row = array_diff_key($row, ['PROPERTY_TYPE' => 1, 'USER_TYPE' => 1, 'MULTIPLE' => 1]);
        $property->Update((int)$id, $row)
            ?: throw self::refusal('the box does not take this property', said: $property->LAST_ERROR);
        $this->saveValues((int)$id, $fields['options'] ?? []);
    }

    public function delete(string $id): void
    {
        \CIBlockProperty::Delete((int)$id) ?: throw self::refusal('the box does not let this property go');
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $block = CatalogSections::block(CatalogRules::kindOfProperty($key));
        $looks = [
            '=IBLOCK_ID' => $block, '=NAME' => $fields['name'], '=PROPERTY_TYPE' => $fields['propertyType'],
            '@CODE' => array_unique([(string)($fields['code'] ?? ''), '']),
        ];
        return $this->firstWithoutKey(self::findRows(PropertyTable::class, ['ID'], $looks));
    }

    public function options(string $id, array $sent): array
    {
        return ListValues::match($sent, array_map(self::option(...), self::values([$id])[$id] ?? []));
    }

    /**
     * A value that the source does not have any more stays: products may still have it. Those of a property that is the
     * box's own stay as they are.
     */
    private function saveValues(int $id, array $sent): void
    {
        $columns = new Columns(self::VALUE);
        $entries = $this->box->map()->entriesOf($this->stream, (string)$id);
        $isOurs = array_filter($entries, static fn(Entry $one) => !$one->linked) !== [];
        $matched = $this->options((string)$id, $sent);
        foreach ($sent as $option) {
            $filled = array_filter((array)$option, static fn(mixed $one) => !in_array($one, [null, ''], true));
            $row = $columns->toKernel($filled);
            $value = $matched[((array)$option)['id']] ?? null;
            $saved = match (true) {
                $value === null => \CIBlockPropertyEnum::Add(['PROPERTY_ID' => $id] + $row),
                $isOurs => \CIBlockPropertyEnum::Update((int)$value, $row),
                default => true,
            };
            $saved ?: throw self::refusal('the box does not take a value of this property', 'options');
        }
    }

    /** @return array<int, list<array<string, mixed>>> rows by property */
    private static function values(array $ids): array
    {
        $rows = self::findRows(PropertyEnumerationTable::class, ['*'], ['@PROPERTY_ID' => array_map('intval', $ids)]);
        return self::groupBy($rows, 'PROPERTY_ID', static fn(array $row) => $row);
    }

    private static function option(array $row): array
    {
        return ['id' => (string)$row['ID']] + (new Columns(self::VALUE))->fromKernel($row);
    }
}
