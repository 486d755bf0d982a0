<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** The rest of the CRM, version 1.1 of the contract: leads, quotes, invoices, products and requisites. */
final class CrmStreams
{
    /** What companies, contacts, deals and items of smart processes have as well. */
    public const ITEM = [
        'text' => 'title name lastName secondName comments sourceId currencyId stageId sourceDescription utm[A-Z]\w*',
        'user' => 'assignedById createdBy updatedBy movedBy',
        'time' => 'createdTime updatedTime movedTime',
        'flag' => 'opened isManualOpportunity closed isReturnCustomer',
        'date' => 'begindate closedate',
        'number' => 'opportunity',
        'category' => 'categoryId',
        'company' => 'companyId',
        '[company]' => 'companyIds',
        '[contact]' => 'contactIds',
        '[user]' => 'observers',
        '[multifield]' => 'fm',
        '[product row]' => 'productRows',
        'lead' => 'leadId',
        'quote' => 'quoteId',
        'crm parent' => 'parentId\d+',
    ];
    private const LEAD = [
        'text' => self::ITEM['text'] . ' honorific post companyTitle statusDescription originatorId originId',
        'time' => self::ITEM['time'] . ' dateClosed',
        'date' => self::ITEM['date'] . ' birthdate',
    ] + self::ITEM;
    private const QUOTE = [
        'text' => self::ITEM['text'] . ' quoteNumber content terms client(Title|Addr|Contact|Email|Phone)',
        'date' => self::ITEM['date'] . ' actualDate',
        'int' => 'commentsType contentType termsType',
        'company' => self::ITEM['company'] . ' mycompanyId',
        'deal' => 'dealId',
        '[file]' => 'storageElementIds',
    ] + self::ITEM;
    private const INVOICE = [
        'text' => self::ITEM['text'] . ' accountNumber xmlId',
        'company' => self::ITEM['company'] . ' mycompanyId',
    ] + self::ITEM;
    private const CHANGES = ['time' => 'DATE_CREATE DATE_MODIFY', 'user' => 'CREATED_BY_ID MODIFY_BY_ID'];

    public const TABLE = [
        'crm_currencies' => ['crm', [
            'text' => 'CURRENCY!',
            'number' => 'AMOUNT',
            'int' => 'AMOUNT_CNT SORT',
            'flag' => 'BASE',
            'object' => 'LANG',
        ]],
        'crm_measures' => ['crm', ['int' => 'code!', 'text' => 'measureTitle symbol\w*', 'flag' => 'isDefault']],
        'crm_vats' => ['crm', ['text' => 'name!', 'number' => 'rate', 'int' => 'sort', 'flag' => 'active']],
        'crm_price_types' => ['crm', ['text' => 'name! xmlId', 'flag' => 'base', 'int' => 'sort']],
        'crm_catalog_sections' => ['crm', [
            'text' => 'name! code xmlId description descriptionType',
            'int' => 'sort',
            'flag' => 'active',
            'section' => 'iblockSectionId',
        ]],
        'crm_product_props' => ['crm', [
            'text' => 'name! code xmlId propertyType! userType',
            'flag' => 'multiple isRequired',
            'int' => 'sort',
            '[list value]' => 'options',
        ]],
        'crm_products' => ['crm', [
            'product kind' => 'kind!',
            'product' => 'parentId',
            'text' => 'name! code xmlId (preview|detail)Text(Type)? purchasingCurrency',
            'flag' => 'active vatIncluded',
            'int' => 'sort',
            'section' => 'iblockSectionId',
            'file' => 'previewPicture detailPicture',
            '[file]' => 'morePhoto',
            'measure' => 'measure',
            'vat' => 'vatId',
            'number' => 'weight width height length purchasingPrice',
            'user' => 'createdBy modifiedBy',
            'time' => 'dateCreate timestampX',
            'property values' => 'properties',
        ]],
        'crm_prices' => ['crm', [
            'product' => 'productId!',
            'price type' => 'catalogGroupId!',
            'number' => 'price quantityFrom quantityTo',
            'text' => 'currency',
        ]],
        'crm_requisite_presets' => ['crm', [
            'text' => 'NAME! XML_ID',
            'int' => 'COUNTRY_ID! SORT',
            'flag' => 'ACTIVE',
            '[preset field]' => 'fields',
        ]],
        'crm_requisites' => ['crm', [
            'int' => 'ENTITY_TYPE_ID! SORT',
            'id' => 'ENTITY_ID!',
            'preset' => 'PRESET_ID!',
            'text' => 'NAME CODE XML_ID ORIGINATOR_ID RQ_[A-Z0-9_]+',
            'flag' => 'ACTIVE ADDRESS_ONLY',
        ] + self::CHANGES],
        'crm_bank_details' => ['crm', [
            'requisite' => 'ENTITY_ID!',
            'int' => 'COUNTRY_ID SORT',
            'text' => 'NAME CODE XML_ID ORIGINATOR_ID RQ_[A-Z0-9_]+ COMMENTS',
            'flag' => 'ACTIVE',
        ] + self::CHANGES],
        'crm_addresses' => ['crm', [
            'int' => 'ENTITY_TYPE_ID! TYPE_ID! ANCHOR_TYPE_ID',
            'id' => 'ENTITY_ID! ANCHOR_ID',
            'text' => 'ADDRESS_1 ADDRESS_2 CITY POSTAL_CODE REGION PROVINCE COUNTRY COUNTRY_CODE',
        ]],
        'crm_leads' => ['crm', self::LEAD],
        'crm_quotes' => ['crm', self::QUOTE],
        'crm_invoices' => ['crm', self::INVOICE],
        'crm_requisite_links' => ['crm', [
            'int' => 'ENTITY_TYPE_ID!',
            'id' => 'ENTITY_ID!',
            'requisite' => 'REQUISITE_ID MC_REQUISITE_ID',
            'bank detail' => 'BANK_DETAIL_ID MC_BANK_DETAIL_ID',
        ]],
    ];

    /** @return array<string, mixed> further arguments of a Stream */
    public static function behaviour(string $name): array
    {
        return self::linking($name) + match ($name) {
            'crm_products' => ['rules' => [CatalogRules::offerHasParent(...)]],
            'crm_requisites' => ['rules' => [self::owner(['3', '4'])]],
            'crm_requisite_links' => ['rules' => [self::owner(['2', '7', '31', 'smart'])]],
            'crm_addresses' => [
                'rules' => [self::owner(['1', '8']), self::owner(null, 'ANCHOR_TYPE_ID', 'ANCHOR_ID')],
            ],
            'crm_leads' => ['rules' => [CrmRules::leadStageExists(...)]],
            'crm_quotes' => ['rules' => [CrmRules::quoteStageExists(...)]],
            'crm_invoices' => ['rules' => [CrmRules::categoryIsOfItsType(...), CrmRules::invoiceStageExists(...)]],
            default => [],
        };
    }

    /** What the box has is taken, and stays as it is there. */
    private static function linking(string $name): array
    {
        [$same, $kept] = match ($name) {
            'crm_currencies' => [CatalogRules::sameCurrency(...), 'CURRENCY AMOUNT AMOUNT_CNT'],
            'crm_measures' => [
                CatalogRules::sameMeasure(...), 'code measureTitle symbol symbolIntl symbolLetterIntl isDefault',
            ],
            'crm_vats' => [CatalogRules::sameVat(...), 'name rate sort active'],
            'crm_price_types' => [CatalogRules::samePriceType(...), 'name base sort xmlId'],
            'crm_catalog_sections' => [CatalogRules::sameSection(...), ''],
            'crm_product_props' => [CatalogRules::sameProperty(...), 'name code propertyType userType multiple'],
            'crm_requisite_presets' => [
                CatalogRules::samePreset(...), 'NAME COUNTRY_ID ACTIVE SORT XML_ID fields',
            ],
            default => [null, ''],
        };
        return $same === null ? [] : [
            'oneAtATime' => true,
            'linkedTo' => $same,
            'keptWhenLinked' => explode(' ', $kept),
            // values that a list of the box lacks are added to it: otherwise products could not have them
            'takenWhenLinked' => $name === 'crm_product_props' ? ['options'] : [],
            'neverWritten' => $name === 'crm_currencies' ? ['BASE'] : [],
            'hasOptions' => $name === 'crm_product_props',
        ];
    }

    /** @param ?list<string> $types of which a record can be the owner; null: of all */
    private static function owner(?array $types, string $type = 'ENTITY_TYPE_ID', string $id = 'ENTITY_ID'): \Closure
    {
        return static fn (array $fields, Inspection $seen) => CrmRules::ownerExists($fields, $seen, $type, $id, $types);
    }
}
