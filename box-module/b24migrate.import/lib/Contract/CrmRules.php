<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** How pipelines, stages and items of the CRM belong together, and what of it a box has already. */
final class CrmRules
{
    public const DEALS = '2';
    public const DEFAULT_PIPELINE = '0';

    /** The dictionary's name; the prefix that its stages carry; both hold ids of the target; and whose it is. */
    private const STAGES_OF_CATEGORIES = [
        ['DEAL_STAGE_(?<category>\d+)', 'C{category}:', self::DEALS],
        ['SMART_INVOICE_STAGE_(?<category>\d+)', 'DT31_{category}:', '31'],
        ['DYNAMIC_(?<type>\d+)_STAGE_(?<category>\d+)', 'DT{type}_{category}:', ''],
    ];

    public static function sameTitle(array $fields, Lookup $box): ?string
    {
        return $box->find('crm_types', ['title' => $fields['title'] ?? null]);
    }

    /** By name in its type; and a default deal pipeline is the one every box has, which cannot be made twice. */
    public static function sameCategory(array $fields, Lookup $box): ?string
    {
        $type = $fields['entityTypeId'] ?? null;
        if ($type === self::DEALS && ($fields['isDefault'] ?? null) === true) {
            return self::DEFAULT_PIPELINE;
        }
        return $box->find('crm_categories', ['entityTypeId' => $type, 'name' => $fields['name'] ?? null]);
    }

    public static function sameStage(array $fields, Lookup $box): ?string
    {
        $dictionary = ['ENTITY_ID' => $fields['ENTITY_ID'] ?? null];
        return $box->find('crm_stages', $dictionary + ['STATUS_ID' => $fields['STATUS_ID'] ?? null])
            ?? $box->find('crm_stages', $dictionary + ['NAME' => $fields['NAME'] ?? null]);
    }

    /** The category and type in a dictionary's name exist, and the stage's own prefix names the same ones. */
    public static function stageIsInItsCategory(array $fields, Inspection $seen): void
    {
        foreach (self::STAGES_OF_CATEGORIES as [$pattern, $prefix, $owner]) {
            if (preg_match("/^$pattern$/D", (string)($fields['ENTITY_ID'] ?? ''), $parts) !== 1) {
                continue;
            }
            $seen->field = 'ENTITY_ID';
            isset($parts['type']) && Kind::of('smart process')($parts['type'], $seen);
            self::categoryOf($parts['type'] ?? $owner, $parts['category'], $seen);
            $seen->field = 'STATUS_ID';
            $wanted = strtr($prefix, ['{type}' => $parts['type'] ?? '', '{category}' => $parts['category']]);
            if (!str_starts_with((string)($fields['STATUS_ID'] ?? ''), $wanted)) {
                throw $seen->refuse("must begin with $wanted");
            }
        }
    }

    /** A record is in a pipeline of its own type; `0` is the one that is there without anybody's doing. */
    public static function categoryIsOfItsType(array $fields, Inspection $seen, string $stream): void
    {
        $seen->field = 'categoryId';
        $category = $fields['categoryId'] ?? null;
        $type = array_search($stream, Kind::CRM_STREAMS, true);
        if ($category !== null && ($category !== self::DEFAULT_PIPELINE || $type === false)) {
            self::categoryOf((string)($type ?: $fields['entityTypeId'] ?? ''), $category, $seen);
        }
    }

    public static function dealStageExists(array $fields, Inspection $seen): void
    {
        $category = $fields['categoryId'] ?? self::DEFAULT_PIPELINE;
        $dictionary = $category === self::DEFAULT_PIPELINE ? 'DEAL_STAGE' : "DEAL_STAGE_$category";
        self::stageExists($dictionary, $fields, $seen);
    }

    /** For an item without a category the prefix of its stage names it. */
    public static function smartStageExists(array $fields, Inspection $seen): void
    {
        $category = self::categoryByStage($fields);
        self::stageExists("DYNAMIC_{$fields['entityTypeId']}_STAGE_$category", $fields, $seen);
    }

    private static function categoryByStage(array $fields): ?string
    {
        preg_match('/^DT\d+_(\d+):/', (string)($fields['stageId'] ?? ''), $parts);
        return $fields['categoryId'] ?? $parts[1] ?? null;
    }

    public static function leadStageExists(array $fields, Inspection $seen): void
    {
        self::stageExists('STATUS', $fields, $seen);
    }

    public static function quoteStageExists(array $fields, Inspection $seen): void
    {
        self::stageExists('QUOTE_STATUS', $fields, $seen);
    }

    public static function invoiceStageExists(array $fields, Inspection $seen): void
    {
        self::stageExists('SMART_INVOICE_STAGE_' . self::categoryByStage($fields), $fields, $seen);
    }

    /** Where the number of a type and an id are fields of their own. */
    public static function ownerExists(array $fields, Inspection $seen, string $type, string $id, ?array $types): void
    {
        $number = (string)($fields[$type] ?? '');
        $word = in_array($number, Kind::CRM_TYPES_OF_EVERY_BOX, true) || (int)$number < 128 ? $number : 'smart';
        $seen->field = $type;
        if ($types !== null && !in_array($word, $types, true)) {
            throw $seen->refuse("$number cannot be an owner here");
        }
        $seen->field = $id;
        if (isset($fields[$type], $fields[$id])) {
            Kind::crmItem((string)$fields[$type], $fields[$id], $seen);
        }
    }

    private static function stageExists(string $dictionary, array $fields, Inspection $seen): void
    {
        $stage = $fields['stageId'] ?? null;
        if ($stage === null) {
            return;
        }
        $seen->field = 'stageId';
        if ($seen->box->find('crm_stages', ['ENTITY_ID' => $dictionary, 'STATUS_ID' => $stage]) === null) {
            throw $seen->missing('STAGE_NOT_FOUND', "$dictionary has no stage $stage");
        }
    }

    /** Pipelines of different types are different, even if they have the same ID in the source. */
    private static function categoryOf(string $type, string $category, Inspection $seen): void
    {
        $fields = $seen->referAndRead('crm_categories', $category, 'PARENT_NOT_FOUND');
        if (($fields['entityTypeId'] ?? null) !== $type) {
            throw $seen->missing('PARENT_NOT_FOUND', "type $type has no category $category");
        }
    }
}
