<?php

// Modules currency, catalog and iblock: what the CRM sells, and in what money.

declare(strict_types=1);

namespace Bitrix\Currency {

    use Bitrix\Main\ORM\Data\DataManager;

    class CurrencyTable extends DataManager
    {
        protected const TABLE = 'currencies';
    }

    class CurrencyLangTable extends DataManager
    {
        protected const TABLE = 'currency_lang';
    }
}

namespace Bitrix\Catalog {

    use B24migrate\Import\Tests\Kernel\Rows;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;

    class MeasureTable extends DataManager
    {
        protected const TABLE = 'measures';
    }

    class VatTable extends DataManager
    {
        protected const TABLE = 'vats';
        protected const DEFAULTS = ['EXCLUDE_VAT' => 'N', 'ACTIVE' => 'Y', 'SORT' => 100];

        /** There is one entry without tax. */
        public static function add(array $data)
        {
            $free = ['EXCLUDE_VAT' => 'Y'];
            return ($data['EXCLUDE_VAT'] ?? 'N') === 'Y' && Rows::matching(self::TABLE, $free) !== []
                ? (new AddResult(0))->addError(new Error('There is an entry without tax already'))
                : parent::add($data);
        }
    }

    class GroupTable extends DataManager
    {
        protected const TABLE = 'price_types';
    }

    class GroupAccessTable extends DataManager
    {
        protected const TABLE = 'price_type_access';
    }

    class PriceTable extends DataManager
    {
        protected const TABLE = 'prices';
    }

    class ProductTable extends DataManager
    {
        public const TYPE_PRODUCT = 1;
        public const TYPE_SKU = 3;
        public const TYPE_OFFER = 4;
        public const TYPE_FREE_OFFER = 5;
        public const TYPE_EMPTY_SKU = 6;
        public const TYPE_SERVICE = 7;
        protected const TABLE = 'products';
    }
}

namespace Bitrix\Catalog\Model {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Catalog\ProductTable;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DeleteResult;
    use Bitrix\Main\ORM\Data\UpdateResult;

    /** Whatever changes here dates the element to now. */
    class Entity
    {
        protected static function touch(int $element): void
        {
            World::set('b_iblock_element', $element, ['TIMESTAMP_X' => World::now()]
                + World::row('b_iblock_element', $element));
        }
    }

    class Product extends Entity
    {
        public static function add(array $data): AddResult
        {
            $row = $data['fields'];
            $block = World::row('b_iblock_element', $row['ID'])['IBLOCK_ID'];
            $offers = $block === \Bitrix\Crm\Product\Catalog::getDefaultOfferId();
            if ($offers !== ($row['TYPE'] === ProductTable::TYPE_OFFER)) {
                return (new AddResult(0))->addError(new Error('This catalogue has no products of the type'));
            }
            if (!self::isPriced($row)) {
                return (new AddResult(0))->addError(new Error('A purchasing price has no currency'));
            }
            World::set('products', $row['ID'], $row);
            self::touch($row['ID']);
            return new AddResult($row['ID']);
        }

        public static function update($id, array $data): UpdateResult
        {
            if (!self::isPriced($data['fields'])) {
                return (new UpdateResult())->addError(new Error('A purchasing price has no currency'));
            }
            World::set('products', $id, $data['fields'] + World::row('products', $id));
            self::touch($id);
            return new UpdateResult();
        }

        /** 0 is a price, too. */
        private static function isPriced(array $row): bool
        {
            return !isset($row['PURCHASING_PRICE']) || ($row['PURCHASING_CURRENCY'] ?? '') !== '';
        }
    }

    /** A price of an offer is that of its product, too. */
    class Price extends Entity
    {
        public static function add(array $data): AddResult
        {
            $row = $data['fields'];
            if (!isset(World::$tables['currencies'][$row['CURRENCY']])) {
                return (new AddResult(0))->addError(new Error('There is no such currency'));
            }
            self::touch($row['PRODUCT_ID']);
            $parent = World::$tables['property_values'][$row['PRODUCT_ID']][\CCatalogSku::PARENT] ?? null;
            $parent && World::put('prices', ['PRODUCT_ID' => (int)$parent] + $row);
            return new AddResult(World::put('prices', $row));
        }

        public static function update($id, array $data): UpdateResult
        {
            World::set('prices', $id, $data['fields'] + World::row('prices', $id));
            return new UpdateResult();
        }

        public static function delete($id): DeleteResult
        {
            unset(World::$tables['prices'][$id]);
            return new DeleteResult();
        }
    }
}

namespace Bitrix\Crm\Product {

    class Catalog
    {
        public static function getDefaultId(): ?int
        {
            return 14;
        }

        public static function getDefaultOfferId(): ?int
        {
            return isset(\B24migrate\Import\Tests\Kernel\World::$options['crm']['no_offers']) ? null : 15;
        }
    }
}

namespace Bitrix\Crm {

    use Bitrix\Main\ORM\Data\DataManager;

    class ProductRowTable extends DataManager
    {
        protected const TABLE = 'product_rows';
    }
}

namespace Bitrix\Iblock {

    use Bitrix\Main\ORM\Data\DataManager;

    class ElementTable extends DataManager
    {
        protected const TABLE = 'b_iblock_element';
    }

    class SectionTable extends DataManager
    {
        protected const TABLE = 'sections';
    }

    class PropertyTable extends DataManager
    {
        protected const TABLE = 'properties';
    }

    class PropertyEnumerationTable extends DataManager
    {
        protected const TABLE = 'property_enums';
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;

    class CAllCurrency
    {
        /** Switching the base currency would leave all rates as they are. */
        public static function Add($arFields)
        {
            if (preg_match('/^[A-Z]{3}$/', $arFields['CURRENCY']) !== 1) {
                $GLOBALS['APPLICATION']->say('A currency has three letters.<br>');
                return false;
            }
            $arFields['BASE'] === 'Y' && World::$noise[] = 'the base currency was switched';
            self::languages($arFields['CURRENCY'], $arFields['LANG'] ?? []);
            World::set('currencies', $arFields['CURRENCY'], array_diff_key($arFields, ['LANG' => 1]));
            return $arFields['CURRENCY'];
        }

        public static function Update($currency, $arFields)
        {
            $now = World::$tables['currencies'][$currency];
            if ($now['BASE'] === 'Y' && (float)($arFields['AMOUNT'] ?? 1) !== 1.0) {
                $GLOBALS['APPLICATION']->say('The rate of the base currency is 1.<br>');
                return false;
            }
            self::languages($currency, $arFields['LANG'] ?? []);
            World::set('currencies', $currency, array_diff_key($arFields, ['LANG' => 1]) + $now);
            return $currency;
        }

        public static function Delete($currency)
        {
            unset(World::$tables['currencies'][$currency]);
            return true;
        }

        private static function languages(string $currency, array $languages): void
        {
            foreach ($languages as $id => $row) {
                World::set('currency_lang', "$currency$id", ['CURRENCY' => $currency, 'LID' => $id] + $row);
            }
        }
    }

    class CCurrency extends CAllCurrency
    {
    }

    /** A price type that nobody sees is refused, and a box of a small edition has one alone. */
    class CCatalogGroup
    {
        public static function Add($arFields)
        {
            if (empty($arFields['USER_GROUP']) || empty($arFields['USER_GROUP_BUY'])) {
                $GLOBALS['APPLICATION']->say('Nobody sees it.<br>');
                return false;
            }
            $arFields['BASE'] === 'Y' && World::$noise[] = 'the base price was switched';
            return World::put('price_types', array_diff_key($arFields, ['USER_LANG' => 1]));
        }

        public static function Update($ID, $arFields)
        {
            World::set('price_types', $ID, $arFields + World::row('price_types', $ID));
            return $ID;
        }

        public static function Delete($ID)
        {
            unset(World::$tables['price_types'][$ID]);
            return true;
        }
    }

    class CCatalogSku
    {
        public const PARENT = 900;

        public static function GetInfoByProductIBlock($iblockID)
        {
            return $iblockID === 14 ? ['IBLOCK_ID' => 15, 'SKU_PROPERTY_ID' => self::PARENT] : false;
        }

        public static function GetInfoByOfferIBlock($iblockID)
        {
            return $iblockID === 15 ? ['IBLOCK_ID' => 15, 'SKU_PROPERTY_ID' => self::PARENT] : false;
        }
    }

    class CAllIBlockProperty
    {
        public string $LAST_ERROR = '';

        public static function GetUserType($USER_TYPE = false)
        {
            return $USER_TYPE !== 'HTML' ? [] : [
                'ConvertFromDB' => static fn(array $property, array $value): array => [
                    'VALUE' => json_decode($value['VALUE'], true),
                ],
            ];
        }

        public static function Delete($ID)
        {
            unset(World::$tables['properties'][$ID]);
            World::$tables['property_enums'] = array_filter(
                World::$tables['property_enums'] ?? [],
                static fn(array $row) => $row['PROPERTY_ID'] !== $ID
            );
            return true;
        }

        /** A property of a catalogue with tables of its own changes one: that commits a transaction. */
        public function Add($arFields)
        {
            if (World::$inTransaction) {
                throw new \LogicException('a new column commits the transaction of MySQL');
            }
            if (($arFields['NAME'] ?? '') === '') {
                $this->LAST_ERROR = 'No name.<br>';
                return false;
            }
            return World::put('properties', $arFields + [
                'PROPERTY_TYPE' => 'S', 'MULTIPLE' => 'N', 'IS_REQUIRED' => 'N', 'SORT' => 500, 'USER_TYPE' => '',
            ]);
        }

        public function Update($ID, $arFields, $bCheckDescription = false)
        {
            World::set('properties', $ID, $arFields + World::row('properties', $ID));
            return true;
        }
    }

    class CIBlockProperty extends CAllIBlockProperty
    {
    }

    class CIBlockPropertyEnum
    {
        public static function Add($arFields)
        {
            return World::put('property_enums', $arFields + ['SORT' => 500, 'DEF' => 'N', 'XML_ID' => md5(uniqid())]);
        }

        public static function Update($ID, $arFields)
        {
            World::set('property_enums', $ID, $arFields + World::row('property_enums', $ID));
            return true;
        }
    }

    class CAllIBlockElement
    {
        public string $LAST_ERROR = '';

        public function Add($arFields, $bWorkFlow = false, $bUpdateSearch = true, $bResizePictures = false)
        {
            if (!$this->isTaken($arFields, 0)) {
                return false;
            }
            $id = World::put('b_iblock_element', self::stored($arFields) + [
                'TIMESTAMP_X' => World::now(), 'PREVIEW_PICTURE' => null, 'DETAIL_PICTURE' => null, 'SORT' => 500,
            ]);
            foreach (World::$tables['handlers of iblock/OnAfterIBlockElementAdd'] ?? [] as $handler) {
                World::call('OnAfterIBlockElementAdd', [$handler['TO_MODULE_ID'] ?? 'init.php']);
            }
            $row = World::row('b_iblock_element', $id);
            World::set('b_iblock_element', $id, ['XML_ID' => ($row['XML_ID'] ?? '') ?: (string)$id] + $row);
            return $id;
        }

        public static function Delete($ID)
        {
            unset(World::$tables['b_iblock_element'][$ID], World::$tables['products'][$ID]);
            unset(World::$tables['property_values'][$ID]);
            return true;
        }

        public static function GetPropertyValues(
            $IBLOCK_ID,
            $arElementFilter,
            $extMode = false,
            $propertyFilter = array()
        ) {
            World::call('GetPropertyValues', [$arElementFilter]);
            $rows = [];
            foreach (Rows::matching('b_iblock_element', $arElementFilter + ['IBLOCK_ID' => $IBLOCK_ID]) as $row) {
                $rows[] = ['IBLOCK_ELEMENT_ID' => $row['ID']] + (World::$tables['property_values'][$row['ID']] ?? []);
            }
            return new Rows($rows);
        }

        /** A list without elements is no value to clear with, and a file takes the place of all that were there. */
        public static function SetPropertyValuesEx($ELEMENT_ID, $IBLOCK_ID, $PROPERTY_VALUES, $FLAGS = [])
        {
            foreach ($PROPERTY_VALUES as $id => $value) {
                if ($value === []) {
                    continue;
                }
                $property = World::row('properties', $id);
                $list = !is_array($value) || isset($value['VALUE']) ? [$value] : $value;
                $plain = array_map(static fn($one) => is_array($one) ? $one['VALUE'] : $one, array_values($list));
                $plain = array_filter($plain, static fn($one) => $one !== '' && $one !== false && !isset($one['del']));
                $kept = array_map(static fn($one) => match (true) {
                    $property['PROPERTY_TYPE'] === 'F' => \CFile::SaveFile($one, 'iblock'),
                    is_array($one) => json_encode($one),
                    default => (string)$one,
                }, array_values($plain));
                $row = World::$tables['property_values'][$ELEMENT_ID] ?? [];
                $row[$id] = $property['MULTIPLE'] === 'Y' ? $kept : $kept[0] ?? null;
                World::$tables['property_values'][$ELEMENT_ID] = $row;
            }
            World::set('b_iblock_element', $ELEMENT_ID, ['TIMESTAMP_X' => World::now()]
                + World::row('b_iblock_element', $ELEMENT_ID));
        }

        protected function isTaken(array $row, int $itself): bool
        {
            $code = $row['CODE'] ?? '';
            $others = array_diff_key(World::$tables['b_iblock_element'] ?? [], [$itself => 1]);
            $isDouble = $code !== '' && in_array($code, array_column($others, 'CODE'), true)
                && isset(World::$options['iblock']['codes_once']);
            $this->LAST_ERROR = $isDouble ? 'There is an element with this code.<br>' : '';
            return !$isDouble;
        }

        protected static function stored(array $row): array
        {
            foreach (array_intersect_key($row, ['PREVIEW_PICTURE' => 1, 'DETAIL_PICTURE' => 1]) as $column => $value) {
                $row[$column] = \CFile::owned($value, $value['old_file'] ?? null);
            }
            return isset($row['DATE_CREATE']) ? ['DATE_CREATE' => World::heard($row['DATE_CREATE'])] + $row : $row;
        }
    }

    class CIBlockElement extends CAllIBlockElement
    {
        public static function GetList(
            $arOrder = array("SORT" => "ASC"),
            $arFilter = array(),
            $arGroupBy = false,
            $arNavStartParams = false,
            $arSelectFields = array()
        ) {
            $rows = [];
            foreach (Rows::matching('b_iblock_element', ['IBLOCK_ID' => $arFilter['IBLOCK_ID']]) as $row) {
                $values = World::$tables['property_values'][$row['ID']] ?? [];
                $parent = $arFilter['=PROPERTY_' . \CCatalogSku::PARENT];
                $rows = (int)($values[\CCatalogSku::PARENT] ?? 0) === $parent ? [...$rows, $row] : $rows;
            }
            return new Rows($rows);
        }

        public function Update(
            $ID,
            $arFields,
            $bWorkFlow = false,
            $bUpdateSearch = true,
            $bResizePictures = false,
            $bCheckDiskQuota = true
        ) {
            if (!$this->isTaken($arFields, $ID)) {
                return false;
            }
            World::set('b_iblock_element', $ID, ['TIMESTAMP_X' => World::now()] + self::stored($arFields)
                + World::row('b_iblock_element', $ID));
            return true;
        }
    }
}
