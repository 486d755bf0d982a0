<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Iblock\PropertyTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Values of the properties of products: those of people, further pictures, and the product that an offer is of. */
final class CatalogValues
{
    private const PICTURES = 'MORE_PHOTO';
    private const COLUMNS = ['ID', 'CODE', 'PROPERTY_TYPE', 'USER_TYPE', 'MULTIPLE'];
    private const FILE = 'F';
    private const DATES = ['Date', 'DateTime'];

    /** @var array<int, array<string, mixed>> rows by id */
    private readonly array $properties;
    private readonly int $parent;
    private readonly int $pictures;

    public function __construct(private readonly int $block)
    {
        $rows = PropertyTable::getList(['select' => self::COLUMNS, 'filter' => ['=IBLOCK_ID' => $block]])->fetchAll();
        $this->properties = array_column($rows, null, 'ID');
        $this->parent = (int)((\CCatalogSku::GetInfoByOfferIBlock($block) ?: [])['SKU_PROPERTY_ID'] ?? 0);
        $this->pictures = (int)array_search(self::PICTURES, array_column($this->properties, 'CODE', 'ID'), true);
    }

    /** @return list<int> elements that are offers of a product */
    public static function offersOf(int $product): array
    {
        $sku = \CCatalogSku::GetInfoByProductIBlock(CatalogSections::block()) ?: [];
        $filter = ['IBLOCK_ID' => $sku['IBLOCK_ID'] ?? 0, '=PROPERTY_' . ($sku['SKU_PROPERTY_ID'] ?? 0) => $product];
        $rows = $sku === [] ? null : \CIBlockElement::GetList(['ID' => 'ASC'], $filter, false, false, ['ID']);
        return array_map('intval', array_column(Gateway::legacyRows($rows), 'ID'));
    }

    /** @return array<int, array<string, mixed>> fields by element */
    public function read(array $elements): array
    {
        $found = [];
        $result = \CIBlockElement::GetPropertyValues($this->block, ['ID' => $elements]);
        foreach (Gateway::legacyRows($result) as $row) {
            $found[(int)$row['IBLOCK_ELEMENT_ID']] = $this->fields($row);
        }
        return $found + array_fill_keys($elements, $this->fields([]));
    }

    /** @return list<string> fields that the box has no place for */
    public function write(int $element, array $fields): array
    {
        $sent = (array)($fields['properties'] ?? []);
        if (array_key_exists('parentId', $fields) && $this->parent > 0) {
            $sent[$this->parent] = $fields['parentId'];
        }
        if (array_key_exists('morePhoto', $fields) && $this->pictures > 0) {
            $sent[$this->pictures] = $fields['morePhoto'];
        }
        $sent = array_intersect_key($sent, $this->properties);
        $now = $sent === [] ? [] : $this->raw($element);
        foreach ($sent as $id => $value) {
            $row = $this->toKernel($this->properties[$id], $value, (array)($now[$id] ?? []));
            $row === null || \CIBlockElement::SetPropertyValuesEx($element, $this->block, [$id => $row]);
        }
        return !empty($fields['morePhoto']) && $this->pictures === 0 ? ['morePhoto'] : [];
    }

    private function raw(int $element): array
    {
        $rows = Gateway::legacyRows(\CIBlockElement::GetPropertyValues($this->block, ['ID' => $element]));
        return $rows[0] ?? [];
    }

    private function fields(array $row): array
    {
        $values = [];
        foreach (array_diff_key($this->properties, [$this->parent => 1, $this->pictures => 1]) as $id => $property) {
            $there = $this->fromKernel($property, $row[$id] ?? null);
            $values += $there === [] ? [] : [(string)$id => $there];
        }
        $parent = (int)($row[$this->parent] ?? 0);
        return [
            'parentId' => $parent === 0 ? null : (string)$parent,
            'morePhoto' => array_values(Files::origins((array)($row[$this->pictures] ?? []))),
            'properties' => $values,
        ];
    }

    /** Null where nothing is to be done. A list without elements would change nothing: an empty text clears. */
    private function toKernel(array $property, mixed $value, array $now): mixed
    {
        $values = match (true) {
            $value === null, $value === '' => [],
            is_array($value) && array_is_list($value) => $value,
            default => [$value],
        };
        if ($property['PROPERTY_TYPE'] === self::FILE) {
            $isSame = array_values(Files::origins($now)) === array_map('strval', $values);
            $copies = array_map(static fn(mixed $file) => ['VALUE' => Files::copy((string)$file)], $values);
            $rows = array_combine(array_map(static fn(int $at) => "n$at", array_keys($copies)), $copies);
            return $isSame ? null : ($rows ?: ['VALUE' => ['del' => 'Y']]);
        }
        $isDate = in_array($property['USER_TYPE'], self::DATES, true);
        return array_map(static fn(mixed $one) => [
            'VALUE' => match (true) {
                $isDate && is_string($one) => strlen($one) > 10 ? Dates::text($one) : Dates::dayText($one),
                is_bool($one) => (int)$one,
                default => $one instanceof \stdClass ? (array)$one : $one,
            },
        ], $values) ?: '';
    }

    private function fromKernel(array $property, mixed $raw): array
    {
        $values = array_filter((array)($raw ?? []), static fn(mixed $one) => !in_array($one, [null, '', false], true));
        if ($property['PROPERTY_TYPE'] === self::FILE) {
            $values = Files::origins($values);
        }
        $convert = (array)\CIBlockProperty::GetUserType((string)$property['USER_TYPE']);
        $told = static fn(mixed $one): mixed => isset($convert['ConvertFromDB'])
            ? $convert['ConvertFromDB']($property, ['VALUE' => $one, 'DESCRIPTION' => ''])['VALUE'] ?? null
            : $one;
        $spelled = static fn(mixed $one): mixed => match ($property['USER_TYPE']) {
            'Date' => Dates::day($told($one)),
            'DateTime' => Dates::utc($told($one)),
            default => is_array($told($one)) ? $told($one) : (string)$told($one),
        };
        return array_map($spelled, array_values($values));
    }
}
