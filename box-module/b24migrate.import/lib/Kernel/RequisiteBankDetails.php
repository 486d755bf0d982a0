<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\{BankDetailTable, EntityBankDetail};
use Bitrix\Crm\Requisite\LinkTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Bank details of requisites. */
final class RequisiteBankDetails extends RequisiteRecords
{
    protected const TABLE = BankDetailTable::class;
    protected const FIELDS = [
        'int' => 'COUNTRY_ID SORT', 'id' => 'ENTITY_ID',
        'text' => 'NAME CODE XML_ID ORIGINATOR_ID COMMENTS', 'flag' => 'ACTIVE',
    ];
    private const OF_REQUISITES = ['ENTITY_TYPE_ID' => 8];

    public function create(string $key, array $fields): string
    {
        $result = (new EntityBankDetail())->add($this->row($fields) + self::OF_REQUISITES);
        $id = (int)self::mustSucceed($result)->getId();
        $this->saveChanges($id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(BankDetailTable::class, ['ID'], $id));
        self::mustSucceed((new EntityBankDetail())->update((int)$id, $this->row($fields) + self::OF_REQUISITES));
        $this->saveChanges((int)$id, $fields);
    }

    public function delete(string $id): void
    {
        self::mustSucceed((new EntityBankDetail())->delete((int)$id));
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $either = ['LOGIC' => 'OR', ['=BANK_DETAIL_ID' => (int)$id], ['=MC_BANK_DETAIL_ID' => (int)$id]];
        $query = ['select' => ['ENTITY_ID'], 'filter' => [$either], 'limit' => 1];
        return LinkTable::getList($query)->fetch() === false ? null : 'deals or the like have it';
    }
}
