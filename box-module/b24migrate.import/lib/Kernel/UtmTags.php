<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\UtmTable;

defined('B_PROLOG_INCLUDED') || exit;

/** UTM tags of items: rows in a table of their own, read for many items at once. */
final class UtmTags
{
    public const FIELDS = 'utmSource utmMedium utmCampaign utmContent utmTerm';

    /** @return array<int, array<string, string>> values by item and column */
    public static function of(int $type, array $ids): array
    {
        $filter = ['=ENTITY_TYPE_ID' => $type, '@ENTITY_ID' => $ids];
        $rows = $ids === [] ? [] : UtmTable::getList(['select' => ['*'], 'filter' => $filter])->fetchAll();
        $tags = [];
        foreach ($rows as $row) {
            $tags[(int)$row['ENTITY_ID']][$row['CODE']] = $row['VALUE'];
        }
        return $tags;
    }
}
