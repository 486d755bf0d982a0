<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Requisite\{EntityLink, LinkTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Which requisites and bank details a deal, quote, invoice or item of a smart process is made out with. */
final class RequisiteLinks extends RequisiteOwned
{
    protected const TABLE = LinkTable::class;
    protected const KEY = ['ENTITY_TYPE_ID', 'ENTITY_ID'];
    protected const FIELDS = ['link' => 'REQUISITE_ID BANK_DETAIL_ID MC_REQUISITE_ID MC_BANK_DETAIL_ID'];

    /** The kernel may have made one with the record, of the requisites that its client had first. */
    public function create(string $key, array $fields): string
    {
        $id = $this->id($fields);
        $this->register($id, $fields);
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        $this->register($id, $fields + $this->toFields(self::mustExist($this->load($id) ?: null)));
    }

    public function delete(string $id): void
    {
        EntityLink::unregister(...self::parts($id));
    }

    protected function toFields(array $row): array
    {
        return self::owner($row, 'ENTITY_TYPE_ID', 'ENTITY_ID') + parent::toFields($row);
    }

    private function register(string $id, array $fields): void
    {
        $row = self::columns()->toKernel($fields) + array_fill_keys(
            ['REQUISITE_ID', 'BANK_DETAIL_ID', 'MC_REQUISITE_ID', 'MC_BANK_DETAIL_ID'],
            0
        );
        [$type, $own] = self::parts($id);
        EntityLink::register(
            $type,
            $own,
            $row['REQUISITE_ID'],
            $row['BANK_DETAIL_ID'],
            $row['MC_REQUISITE_ID'],
            $row['MC_BANK_DETAIL_ID']
        );
    }
}
