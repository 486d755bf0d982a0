<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\{AddressTable, BankDetailTable, EntityRequisite, RequisiteTable};
use Bitrix\Crm\Requisite\LinkTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Requisites of companies and contacts. */
final class Requisites extends RequisiteRecords
{
    protected const TABLE = RequisiteTable::class;
    protected const FIELDS = [
        'int' => 'ENTITY_TYPE_ID SORT', 'id' => 'ENTITY_ID PRESET_ID', 'text' => 'NAME CODE XML_ID ORIGINATOR_ID',
        'flag' => 'ACTIVE ADDRESS_ONLY',
    ];
    private const CUSTOM = 'CRM_REQUISITE';
    private const QUIET = ['ALLOW_SET_SYSTEM_FIELDS' => true, 'DISABLE_REQUIRED_USER_FIELD_CHECK' => true];

    public function create(string $key, array $fields): string
    {
        $result = (new EntityRequisite())->add($this->row($fields), self::QUIET);
        $id = (int)self::mustSucceed($result)->getId();
        $this->finish($id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(RequisiteTable::class, ['ID'], $id));
        self::mustSucceed((new EntityRequisite())->update((int)$id, $this->row($fields), self::QUIET));
        $this->finish((int)$id, $fields);
    }

    public function delete(string $id): void
    {
        self::mustSucceed((new EntityRequisite())->delete((int)$id));
    }

    /** The kernel deletes them together with it. */
    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $holders = [
            'it has bank details' => [BankDetailTable::class, ['=ENTITY_TYPE_ID' => 8, '=ENTITY_ID' => (int)$id]],
            'it has addresses' => [AddressTable::class, ['=ENTITY_TYPE_ID' => 8, '=ENTITY_ID' => (int)$id]],
            'deals or the like have it' => [LinkTable::class, [[
                'LOGIC' => 'OR', ['=REQUISITE_ID' => (int)$id], ['=MC_REQUISITE_ID' => (int)$id],
            ]]],
        ];
        foreach ($holders as $reason => [$table, $filter]) {
            $query = ['select' => ['ENTITY_ID'], 'filter' => $filter, 'limit' => 1];
            if ($table::getList($query)->fetch() !== false) {
                return $reason;
            }
        }
        return null;
    }

    protected function loadRows(array $ids): array
    {
        return self::findRows(RequisiteTable::class, ['*', 'UF_*'], ['@ID' => $ids]);
    }

    protected function toFields(array $row): array
    {
        return parent::toFields($row) + $this->customValues()->fromKernel($row);
    }

    private function finish(int $id, array $fields): void
    {
        $custom = $this->customValues()->toKernel($fields);
        $custom === [] || $GLOBALS['USER_FIELD_MANAGER']->Update(self::CUSTOM, $id, $custom, self::actor());
        $this->saveChanges($id, $fields);
    }
}
