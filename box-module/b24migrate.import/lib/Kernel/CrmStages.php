<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\StatusTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Stages of pipelines, and the other dictionaries of the CRM. */
final class CrmStages extends Gateway
{
    protected const TABLE = StatusTable::class;
    protected const FIELDS = ['text' => 'ENTITY_ID STATUS_ID NAME SEMANTICS COLOR', 'int' => 'SORT'];

    public function find(array $values): ?string
    {
        $values = array_map(static fn(mixed $value) => CrmNumbers::plain((string)$value), $values);
        $filter = array_combine(array_map(static fn(string $name) => "=$name", array_keys($values)), $values);
        foreach (self::findRows(StatusTable::class, ['*'], $filter) as $row) {
            // The database may take letters for equal that are not.
            if (array_intersect_key($row, $values) == $values) {
                return (string)$row['ID'];
            }
        }
        return null;
    }

    public function create(string $key, array $fields): string
    {
        $dictionary = CrmNumbers::plain($fields['ENTITY_ID']);
        $status = new \CCrmStatus($dictionary);
        $category = preg_match('/_STAGE_(\d+)$/', $dictionary, $found) === 1 ? ['CATEGORY_ID' => (int)$found[1]] : [];
        $code = ['STATUS_ID' => CrmNumbers::plain($fields['STATUS_ID']), 'SYSTEM' => 'N'];
        $row = $this->row($fields);
        $sort = self::sortToAdd($dictionary, $row);
        $id = (int)$status->Add(['SORT' => $sort] + $code + $category + $row)
            ?: throw self::refusal('the box does not take this stage', said: $status->GetLastError());
        $sort === $row['SORT'] || self::mustSucceed(StatusTable::update($id, ['SORT' => $row['SORT']]));
        return (string)$id;
    }

    /**
     * A stage is added only before the successful one of its pipeline, or behind it when it is a failed one. The box
     * has its successful stage early (60, 40), and its place in the source arrives later. What is there may be moved.
     */
    private static function sortToAdd(string $dictionary, array $row): int
    {
        $successful = ['=ENTITY_ID' => $dictionary, '=SEMANTICS' => 'S'];
        $won = self::findRows(StatusTable::class, ['ID', 'SORT'], $successful)[0]['SORT'] ?? null;
        return match (true) {
            $won === null => $row['SORT'],
            $row['SEMANTICS'] === 'F' => max($row['SORT'], (int)$won + 1),
            default => min($row['SORT'], (int)$won - 1),
        };
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(StatusTable::class, ['*'], $id));
        $status = new \CCrmStatus($now['ENTITY_ID']);
        // The kernel clears what is not passed.
        if (!$status->Update((int)$id, $this->row($fields + $now)) || $status->GetLastError()) {
            throw self::refusal('the box does not take this stage', said: $status->GetLastError());
        }
    }

    public function delete(string $id): void
    {
        self::mustSucceed(StatusTable::delete((int)$id));
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $row = self::findRow(StatusTable::class, ['ENTITY_ID', 'STATUS_ID'], $id);
        $type = match (true) {
            preg_match('/^DYNAMIC_(\d+)_STAGE_/', (string)$row['ENTITY_ID'], $found) === 1 => (int)$found[1],
            str_starts_with((string)$row['ENTITY_ID'], 'DEAL_STAGE') => \CCrmOwnerType::Deal,
            str_starts_with((string)$row['ENTITY_ID'], 'SMART_INVOICE_STAGE') => \CCrmOwnerType::SmartInvoice,
            $row['ENTITY_ID'] === 'STATUS' => \CCrmOwnerType::Lead,
            $row['ENTITY_ID'] === 'QUOTE_STATUS' => \CCrmOwnerType::Quote,
            default => 0,
        };
        $stands = $type > 0 && CrmItems::count($type, ['=STAGE_ID' => $row['STATUS_ID']]) > 0;
        return $stands ? 'items are in this stage' : null;
    }

    protected function toFields(array $row): array
    {
        $codes = array_intersect_key($row, ['ENTITY_ID' => 1, 'STATUS_ID' => 1]);
        return parent::toFields(array_map(CrmNumbers::numbered(...), $codes) + $row);
    }

    private function row(array $fields): array
    {
        return [
            'NAME' => $fields['NAME'],
            'SORT' => (int)($fields['SORT'] ?? 10),
            'SEMANTICS' => (string)($fields['SEMANTICS'] ?? ''),
            // An empty one would become a lone "#".
        ] + (empty($fields['COLOR']) ? [] : ['COLOR' => $fields['COLOR']]);
    }
}
