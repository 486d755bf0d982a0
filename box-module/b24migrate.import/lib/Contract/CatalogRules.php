<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** What a box has already of currencies, measures, taxes, price types, properties and templates of requisites. */
final class CatalogRules
{
    public static function sameCurrency(array $fields, Lookup $box): ?string
    {
        return $box->find('crm_currencies', ['CURRENCY' => $fields['CURRENCY'] ?? null]);
    }

    public static function sameMeasure(array $fields, Lookup $box): ?string
    {
        return $box->find('crm_measures', ['code' => $fields['code'] ?? null]);
    }

    /** No tax differs from a tax of 0 %, and a box has one entry for it, under any name. */
    public static function sameVat(array $fields, Lookup $box): ?string
    {
        return isset($fields['rate'])
            ? $box->find('crm_vats', ['name' => $fields['name'] ?? null, 'rate' => $fields['rate']])
            : $box->find('crm_vats', ['withoutTax' => true]);
    }

    /** Every box has one base price; the others are identified by their XML_ID, or else by their name. */
    public static function samePriceType(array $fields, Lookup $box): ?string
    {
        return (($fields['base'] ?? null) === true ? $box->find('crm_price_types', ['base' => true]) : null)
            ?? (($fields['xmlId'] ?? '') === '' ? null : $box->find('crm_price_types', ['xmlId' => $fields['xmlId']]))
            ?? $box->find('crm_price_types', ['name' => $fields['name'] ?? null]);
    }

    public static function sameSection(array $fields, Lookup $box): ?string
    {
        $name = ['name' => $fields['name'] ?? null];
        if (isset($fields['iblockSectionId'])) {
            return $box->find('crm_catalog_sections', $name + ['iblockSectionId' => $fields['iblockSectionId']]);
        }
        $found = $box->find('crm_catalog_sections', $name);
        $above = $found === null ? null : $box->read('crm_catalog_sections', $found)['iblockSectionId'] ?? null;
        return $above === null ? $found : null;
    }

    /**
     * By code, or else by name, and by type, among those of products, or among those of offers: the key says which. One
     * that holds values of another kind is another thing.
     */
    public static function sameProperty(array $fields, Lookup $box, string $key): ?string
    {
        $name = ($fields['code'] ?? '') === '' ? ['name' => $fields['name'] ?? null] : ['code' => $fields['code']];
        $type = ['propertyType' => $fields['propertyType'] ?? null];
        return $box->find('crm_product_props', ['kind' => self::kindOfProperty($key)] + $name + $type);
    }

    /** `source:crm_product_props:offer:12` */
    public static function kindOfProperty(string $key): string
    {
        return str_contains($key, ':offer:') ? 'offer' : 'product';
    }

    public static function samePreset(array $fields, Lookup $box): ?string
    {
        $named = ['COUNTRY_ID' => $fields['COUNTRY_ID'] ?? null, 'NAME' => $fields['NAME'] ?? null];
        $code = ($fields['XML_ID'] ?? '') === '' ? null : $fields['XML_ID'];
        return $box->find('crm_requisite_presets', ['XML_ID' => $code]) ?? $box->find('crm_requisite_presets', $named);
    }

    public static function offerHasParent(array $fields, Inspection $seen): void
    {
        if (($fields['kind'] ?? null) === 'offer' && !isset($fields['parentId'])) {
            $seen->field = 'parentId';
            throw $seen->refuse('an offer is one of a product');
        }
    }
}
