<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

use B24migrate\Import\Contract\Kind\CrmItem;
use B24migrate\Import\Contract\Kind\Kind;
use B24migrate\Import\Contract\Kind\Many;
use B24migrate\Import\Contract\Kind\Plain;
use B24migrate\Import\Contract\Kind\Ref;
use B24migrate\Import\Contract\Kind\Shape;

/** The streams of the CRM: its structure, which is linked where the box has it, and its items. */
final class CrmStreams
{
    public static function types(): Stream
    {
        return new Stream(
            'crm_types',
            'crm',
            Streams::all('title entityTypeId code', Plain::text()),
            required: ['title'],
            patterns: ['is[A-Z]\w*Enabled' => Plain::flag()],
            linkedTo: CrmRules::sameTitle(...),
            oneAtATime: true
        );
    }

    public static function categories(): Stream
    {
        return new Stream(
            'crm_categories',
            'crm',
            Streams::all('name', Plain::text()) + Streams::all('sort', Plain::whole())
                + ['entityTypeId' => CrmItem::type(), 'isDefault' => Plain::flag()],
            required: ['entityTypeId', 'name'],
            linkedTo: CrmRules::sameCategory(...),
            oneAtATime: true
        );
    }

    public static function stages(): Stream
    {
        return new Stream(
            'crm_stages',
            'crm',
            Streams::all('ENTITY_ID STATUS_ID NAME SEMANTICS COLOR', Plain::text()) + ['SORT' => Plain::whole()],
            required: ['ENTITY_ID', 'STATUS_ID', 'NAME'],
            rules: [CrmRules::stageIsInItsCategory(...)],
            linkedTo: CrmRules::sameStage(...),
            oneAtATime: true
        );
    }

    public static function companies(): Stream
    {
        return self::items('crm_companies', [CrmRules::inCategoryOf('4')]);
    }

    public static function contacts(): Stream
    {
        return self::items('crm_contacts', [CrmRules::inCategoryOf('3')]);
    }

    public static function deals(): Stream
    {
        return self::items('crm_deals', [CrmRules::inCategoryOf(CrmRules::DEALS), CrmRules::dealStageExists(...)]);
    }

    public static function smartItems(): Stream
    {
        return new Stream(
            'crm_spitems',
            'crm',
            self::itemFields() + ['entityTypeId' => new Ref('crm_types', 'TYPE_NOT_FOUND')],
            required: ['entityTypeId'],
            patterns: self::parents(),
            rules: [CrmRules::inCategoryOf(null), CrmRules::smartStageExists(...)],
            typedBy: 'entityTypeId'
        );
    }

    /** @param list<\Closure(array<string, mixed>, Inspection): void> $rules */
    private static function items(string $name, array $rules): Stream
    {
        return new Stream($name, 'crm', self::itemFields(), patterns: self::parents(), rules: $rules);
    }

    /** @return array<string, Kind> any record may hang on one of a smart process */
    private static function parents(): array
    {
        return ['parentId\d+' => CrmItem::parent()];
    }

    /** @return array<string, Kind> */
    private static function itemFields(): array
    {
        $multifield = Streams::all('typeId valueType value', Plain::text());
        $productRow = Streams::all('productName measureCode', Plain::text())
            + Streams::all('price quantity discountRate taxRate', Plain::number())
            + ['taxIncluded' => Plain::flag(), 'sort' => Plain::whole()];
        return Streams::all('title name lastName secondName comments sourceId currencyId stageId', Plain::text())
            + Streams::all('assignedById createdBy updatedBy movedBy', Ref::user())
            + Streams::all('createdTime updatedTime movedTime', Plain::time())
            + Streams::all('opened isManualOpportunity closed', Plain::flag())
            + Streams::all('begindate closedate', Plain::date())
            + [
                'companyId' => new Ref('crm_companies'),
                'companyIds' => new Many(new Ref('crm_companies')),
                'contactIds' => new Many(new Ref('crm_contacts')),
                'observers' => new Many(Ref::user()),
                'categoryId' => new Ref('crm_categories', also: [CrmRules::DEFAULT_PIPELINE]),
                'opportunity' => Plain::number(),
                'fm' => new Many(new Shape($multifield, ['typeId', 'value'])),
                'productRows' => new Many(new Shape($productRow)),
            ];
    }
}
