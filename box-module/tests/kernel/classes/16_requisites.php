<?php

// Module crm: templates of requisites, requisites, bank details, addresses and links.

declare(strict_types=1);

namespace Bitrix\Crm {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;

    class PresetTable extends DataManager
    {
        protected const TABLE = 'presets';
    }

    class RequisiteTable extends DataManager
    {
        protected const TABLE = 'requisites';

        /** Custom values lie in a table beside it. */
        public static function getList(array $parameters = []): \B24migrate\Import\Tests\Kernel\Rows
        {
            $custom = static fn(array $row): array => World::$tables['uf:CRM_REQUISITE'][$row['ID'] ?? 0] ?? [];
            $rows = parent::getList($parameters)->fetchAll();
            return new \B24migrate\Import\Tests\Kernel\Rows(array_map(static fn($row) => $custom($row) + $row, $rows));
        }
    }

    class BankDetailTable extends DataManager
    {
        protected const TABLE = 'bank_details';
    }

    class AddressTable extends DataManager
    {
        protected const TABLE = 'addresses';
    }

    /** Whoever writes by these classes writes now, and by the one who calls. */
    class EntityPreset
    {
        public const Requisite = 8;

        public function add($fields, $options = array())
        {
            return PresetTable::add(['DATE_CREATE' => World::now()] + $fields);
        }

        public function update($id, $fields, $options = array())
        {
            return PresetTable::update($id, $fields);
        }

        public function delete($id, $options = array())
        {
            return PresetTable::delete($id);
        }
    }

    class EntityRequisite
    {
        public function add($fields, $options = [])
        {
            unset($fields['DATE_MODIFY'], $fields['MODIFY_BY_ID']);
            $now = ['DATE_CREATE' => World::now(), 'CREATED_BY_ID' => 1];
            $fields = ($options['ALLOW_SET_SYSTEM_FIELDS'] ?? false) ? $fields : $now + $fields;
            return self::refuse($fields) ?? RequisiteTable::add(self::bent($fields));
        }

        public function update($id, $fields, $options = array())
        {
            unset($fields['DATE_CREATE'], $fields['CREATED_BY_ID']);
            $now = ['DATE_MODIFY' => World::now(), 'MODIFY_BY_ID' => 1];
            return self::refuse($fields) ?? RequisiteTable::update($id, $now + self::bent($fields));
        }

        public function delete($id, $options = array())
        {
            return RequisiteTable::delete($id);
        }

        private static function refuse(array $fields): ?Result
        {
            $isLong = mb_strlen((string)($fields['RQ_INN'] ?? '')) > 15;
            return $isLong ? (new AddResult(0))->addError(new Error('RQ_INN is too long')) : null;
        }

        /** What has an address alone keeps nothing else. */
        private static function bent(array $fields): array
        {
            $isOfCountry = static fn(string $name) => str_starts_with($name, 'RQ_');
            return ($fields['ADDRESS_ONLY'] ?? 'N') === 'Y'
                ? array_filter($fields, static fn(string $name) => !$isOfCountry($name), ARRAY_FILTER_USE_KEY)
                : $fields;
        }
    }

    class EntityBankDetail
    {
        public function add($fields, $options = array())
        {
            unset($fields['DATE_MODIFY'], $fields['MODIFY_BY_ID']);
            return BankDetailTable::add(['DATE_CREATE' => World::now(), 'CREATED_BY_ID' => 1] + $fields);
        }

        public function update($id, $fields, $options = array())
        {
            return BankDetailTable::update($id, ['DATE_MODIFY' => World::now(), 'MODIFY_BY_ID' => 1] + $fields);
        }

        public function delete($id, $options = array())
        {
            return BankDetailTable::delete($id);
        }
    }

    class EntityAddress
    {
        /** An address without words is not kept, and a code of another country is emptied. */
        public static function register($entityTypeID, $entityID, $typeID, array $data, array $options = [])
        {
            $facts = ['ANCHOR_TYPE_ID' => 1, 'ANCHOR_ID' => 1, 'TYPE_ID' => 1, 'COUNTRY_CODE' => 1];
            $words = array_diff_key($data, $facts);
            if (array_filter($words) === []) {
                return;
            }
            $isKnown = ($data['COUNTRY'] ?? '') === 'Россия' && ($data['COUNTRY_CODE'] ?? '') === 'RU';
            World::set('addresses', "$entityTypeID:$entityID:$typeID", [
                'ENTITY_TYPE_ID' => $entityTypeID, 'ENTITY_ID' => $entityID, 'TYPE_ID' => $typeID,
                'COUNTRY_CODE' => $isKnown ? 'RU' : '',
            ] + $data + ['ANCHOR_TYPE_ID' => $entityTypeID, 'ANCHOR_ID' => $entityID]);
        }

        public static function unregister($entityTypeID, $entityID, $typeID)
        {
            unset(World::$tables['addresses']["$entityTypeID:$entityID:$typeID"]);
        }
    }
}

namespace Bitrix\Crm\Requisite {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\DataManager;

    class LinkTable extends DataManager
    {
        protected const TABLE = 'requisite_links';
    }

    class EntityLink
    {
        public static function register(
            $entityTypeId,
            $entityId,
            $requisiteId = 0,
            $bankDetailId = 0,
            $mcRequisiteId = 0,
            $mcBankDetailId = 0
        ) {
            World::set('requisite_links', "$entityTypeId:$entityId", [
                'ENTITY_TYPE_ID' => $entityTypeId, 'ENTITY_ID' => $entityId, 'REQUISITE_ID' => $requisiteId,
                'BANK_DETAIL_ID' => $bankDetailId, 'MC_REQUISITE_ID' => $mcRequisiteId,
                'MC_BANK_DETAIL_ID' => $mcBankDetailId,
            ]);
        }

        public static function unregister($entityTypeId, $entityId)
        {
            unset(World::$tables['requisite_links']["$entityTypeId:$entityId"]);
        }
    }
}
