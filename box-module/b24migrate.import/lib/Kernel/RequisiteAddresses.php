<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\{AddressTable, EntityAddress};

defined('B_PROLOG_INCLUDED') || exit;

/** Addresses of requisites and of leads. The kernel keeps one of each kind. */
final class RequisiteAddresses extends RequisiteOwned
{
    protected const TABLE = AddressTable::class;
    protected const KEY = ['ENTITY_TYPE_ID', 'ENTITY_ID', 'TYPE_ID'];
    protected const FIELDS = [
        'text' => 'ADDRESS_1 ADDRESS_2 CITY POSTAL_CODE REGION PROVINCE COUNTRY COUNTRY_CODE', 'int' => 'TYPE_ID',
    ];
    protected const APPROXIMATIONS = [
        'COUNTRY_CODE' => 'The box empties a code that does not belong to the name of the country.',
    ];

    public function create(string $key, array $fields): string
    {
        $id = $this->id($fields);
        if ($this->has($id)) {
            throw new ItemFault('VALIDATION', 'TYPE_ID', 'TYPE_ID: the box has another address of this kind there');
        }
        $this->register($id, $fields);
        $isKept = $this->has($id);
        return $isKept ? $id : throw new ItemFault('VALIDATION', null, 'the box keeps no address without words');
    }

    public function update(string $id, array $fields): void
    {
        $this->register($id, $fields + $this->toFields(self::mustExist($this->load($id) ?: null)));
    }

    public function delete(string $id): void
    {
        [$type, $own, $kind] = self::parts($id);
        EntityAddress::unregister($type, $own, $kind);
    }

    protected function toFields(array $row): array
    {
        return self::owner($row, 'ENTITY_TYPE_ID', 'ENTITY_ID') + self::owner($row, 'ANCHOR_TYPE_ID', 'ANCHOR_ID')
            + parent::toFields($row);
    }

    private function register(string $id, array $fields): void
    {
        [$type, $own, $kind] = self::parts($id);
        $anchor = isset($fields['ANCHOR_TYPE_ID'], $fields['ANCHOR_ID'])
            ? ['ANCHOR_TYPE_ID' => $fields['ANCHOR_TYPE_ID'], 'ANCHOR_ID' => CrmNumbers::id($fields['ANCHOR_ID'])]
            : [];
        EntityAddress::register($type, $own, $kind, $anchor + self::columns()->toKernel($fields));
    }
}
