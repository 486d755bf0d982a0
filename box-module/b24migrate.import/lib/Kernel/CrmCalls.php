<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Disk\File;
use Bitrix\Voximplant\StatisticTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Calls, in the statistics of the telephony. The card of an activity finds its call there by its number, which is kept
 * as it is. Only the statistics' own search index learns of a new row.
 */
final class CrmCalls extends Gateway
{
    protected const TABLE = StatisticTable::class;
    protected const NEEDS = [StatisticTable::class];
    protected const FIELDS = [
        'text' => 'CALL_ID PHONE_NUMBER CALL_FAILED_CODE CALL_FAILED_REASON CALL_CATEGORY PORTAL_NUMBER COMMENT'
            . ' COST_CURRENCY',
        'place' => 'CALL_TYPE:INCOMING CALL_DURATION',
        'int' => 'CALL_VOTE',
        'number' => 'COST',
        'link' => 'PORTAL_USER_ID CRM_ACTIVITY_ID RECORD_FILE:CALL_WEBDAV_ID',
        'moment' => 'CALL_START_DATE',
    ];
    protected const FILLED = ['CALL_START_DATE', 'INCOMING'];
    /** What the columns take, in characters: the table refuses more. */
    private const LONGEST = [
        'PHONE_NUMBER' => 20, 'CALL_ID' => 255, 'CALL_FAILED_CODE' => 255, 'CALL_FAILED_REASON' => 255,
        'CALL_CATEGORY' => 20, 'PORTAL_NUMBER' => 50, 'COST_CURRENCY' => 50,
    ];
    private const OUTGOING = '1';

    public function create(string $key, array $fields): string
    {
        $row = $this->row($fields) + ['INCOMING' => self::OUTGOING, 'CALL_DURATION' => 0, 'PHONE_NUMBER' => ''];
        return (string)self::mustSucceed(StatisticTable::add($row))->getId();
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(StatisticTable::class, ['ID'], $id));
        self::mustSucceed(StatisticTable::update((int)$id, $this->row($fields)));
    }

    public function delete(string $id): void
    {
        self::mustSucceed(StatisticTable::delete((int)$id));
    }

    protected function loadRows(array $ids): array
    {
        $columns = ['ID', 'CRM_ENTITY_TYPE', 'CRM_ENTITY_ID', ...array_column(self::columns()->kinds, 0)];
        return self::findRows(StatisticTable::class, $columns, ['@ID' => $ids]);
    }

    protected function toFields(array $row): array
    {
        $type = (int)\CCrmOwnerType::ResolveID((string)$row['CRM_ENTITY_TYPE']);
        return ['owner' => CrmOwners::owner($type, (int)$row['CRM_ENTITY_ID'])] + parent::toFields($row);
    }

    private function row(array $fields): array
    {
        $row = self::columns()->toKernel($fields);
        // Empty is not 0: a call without a price, or an unrated one.
        $row = array_fill_keys(array_intersect(['COST', 'CALL_VOTE'], array_keys($fields, null, true)), null) + $row;
        // The column holds the number of a kind as text.
        $row = (isset($row['INCOMING']) ? ['INCOMING' => (string)$row['INCOMING']] : []) + $row;
        foreach (self::LONGEST as $column => $most) {
            if (mb_strlen($row[$column] ?? '') > $most) {
                $row[$column] = mb_substr($row[$column], 0, $most);
                $this->leftOut[] = $column;
            }
        }
        if (array_key_exists('owner', $fields)) {
            [$type, $id] = $fields['owner'] === null ? [0, 0] : CrmOwners::parts($fields['owner']);
            $row['CRM_ENTITY_TYPE'] = $type === 0 ? '' : (string)\CCrmOwnerType::ResolveName($type);
            $row['CRM_ENTITY_ID'] = $id;
        }
        if (array_key_exists('RECORD_FILE', $fields)) {
            // Nothing, rather than 0, where there is no record: a list of calls asks for that.
            $row['CALL_WEBDAV_ID'] = $row['CALL_WEBDAV_ID'] ?: null;
            $file = $row['CALL_WEBDAV_ID'] === null ? null : File::loadById($row['CALL_WEBDAV_ID']);
            $row['CALL_RECORD_ID'] = $file?->getFileId();
        }
        return $row;
    }
}
