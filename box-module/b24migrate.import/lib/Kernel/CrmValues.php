<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\CustomFields;
use Bitrix\Crm\Binding\EntityBinding;
use Bitrix\Crm\Item;
use Bitrix\Crm\Multifield\Assembler;
use Bitrix\Crm\Multifield\Collection;
use Bitrix\Crm\Service\Container;
use Bitrix\Crm\Service\Factory;
use Bitrix\Main\Type\Date;

/** The fields of a CRM item, as the contract and as the kernel spell them. */
final class CrmValues
{
    /** In the order in which they are set: a stage belongs to a pipeline, a price to a currency. */
    private const KINDS = [
        'categoryId' => 'category', 'currencyId' => 'code', 'stageId' => 'code',
        'title' => 'text', 'name' => 'text', 'lastName' => 'text', 'secondName' => 'text', 'comments' => 'text',
        'sourceId' => 'text', 'assignedById' => 'user', 'createdBy' => 'user', 'updatedBy' => 'user',
        'movedBy' => 'user', 'companyId' => 'id',
        'createdTime' => 'moment', 'updatedTime' => 'moment', 'movedTime' => 'moment',
        'opened' => 'bool', 'closed' => 'bool', 'isManualOpportunity' => 'bool', 'begindate' => 'date',
        'closedate' => 'date', 'opportunity' => 'number', 'observers' => 'ids',
    ];
    /** An item always has them, so there is nothing to clear. */
    private const NEVER_EMPTY = ['category', 'code', 'user', 'moment'];
    private const BINDINGS = [
        'contactIds' => ['CONTACT_BINDINGS', \CCrmOwnerType::Contact],
        'companyIds' => ['COMPANY_BINDINGS', \CCrmOwnerType::Company],
    ];
    private const PRODUCT_ROW = [
        'productName' => ['PRODUCT_NAME', 'text'], 'price' => ['PRICE', 'number'], 'quantity' => ['QUANTITY', 'number'],
        'discountRate' => ['DISCOUNT_RATE', 'number'], 'taxRate' => ['TAX_RATE', 'number'],
        'taxIncluded' => ['TAX_INCLUDED', 'flag'], 'measureCode' => ['MEASURE_CODE', 'text'], 'sort' => ['SORT', 'int'],
    ];
    private const DISCOUNT_IN_PERCENT = 2;

    public function __construct(private readonly CustomFields $customFields, private readonly string $stream)
    {
    }

    /** @param array<string, mixed> $fields */
    public function set(Item $item, Factory $factory, array $fields): void
    {
        foreach (array_intersect_key(self::KINDS, $fields) as $name => $kind) {
            if ($fields[$name] !== null || !in_array($kind, self::NEVER_EMPTY, true)) {
                $this->put($item, self::column($name), self::spell($kind, $fields[$name]));
            }
        }
        foreach ($fields as $name => $value) {
            if (preg_match('/^parentId(\d+)$/', $name, $found) === 1) {
                $this->put($item, "PARENT_ID_$found[1]", CrmNumbers::id((string)$value));
            }
        }
        foreach (array_intersect_key(self::BINDINGS, $fields) as $name => [$column, $type]) {
            $bindings = EntityBinding::prepareEntityBindings($type, array_map('intval', $fields[$name] ?? []));
            EntityBinding::markFirstAsPrimary($bindings);
            $this->put($item, $column, $bindings);
        }
        if (array_key_exists('fm', $fields) && $item->hasField('FM')) {
            $this->setMultifields($item, $fields['fm'] ?? []);
        }
        if (array_key_exists('productRows', $fields) && $item->hasField('PRODUCT_ROWS')) {
            // Whether two rows that are quite alike stay two is to be checked on a real box.
            $item->setProductRowsFromArrays(array_map(self::productRow(...), $fields['productRows'] ?? []));
        }
        foreach ($this->customRow($item, $factory, $fields) as $code => $value) {
            $this->put($item, $code, $value);
        }
    }

    /** @return array<string, mixed> */
    public function read(Item $item): array
    {
        $type = $item->getEntityTypeId();
        $fields = $this->stream === 'crm_spitems' ? ['entityTypeId' => (string)$type] : [];
        foreach (self::KINDS as $name => $kind) {
            if ($item->hasField(self::column($name))) {
                $fields[$name] = self::understand($kind, $item->get(self::column($name)), $type);
            }
        }
        foreach (self::BINDINGS as $name => [$column, $other]) {
            if ($item->hasField($column)) {
                $ids = EntityBinding::prepareEntityIDs($other, $item->get($column) ?? []);
                $fields[$name] = array_map('strval', $ids);
            }
        }
        if ($item->hasField('FM')) {
            $fields['fm'] = self::multifields($item);
        }
        if ($item->hasField('PRODUCT_ROWS')) {
            $rows = $item->getProductRows()?->toArray() ?? [];
            $fields['productRows'] = array_values(array_map(self::productRowRead(...), $rows));
        }
        return $fields + $this->parents($item) + $this->custom($item);
    }

    /** What this kind of record does not have on this box stays out of it: a company has no stage. */
    private function put(Item $item, string $column, mixed $value): void
    {
        if ($item->hasField($column)) {
            $item->set($column, $value);
        }
    }

    /** @param list<array{typeId: string, valueType?: ?string, value: string}> $wanted */
    private function setMultifields(Item $item, array $wanted): void
    {
        $list = [];
        foreach ($wanted as $at => $one) {
            $list[$one['typeId']]["n$at"] = ['VALUE' => $one['value'], 'VALUE_TYPE' => $one['valueType'] ?? 'WORK'];
        }
        // An empty collection: what is not in it goes when the item is saved; to be checked on a real box.
        $collection = new Collection();
        Assembler::updateCollectionByArray($collection, $list);
        $item->set('FM', $collection);
    }

    /** @return list<array<string, ?string>> */
    private static function multifields(Item $item): array
    {
        return array_map(
            static fn(object $one): array => [
                'typeId' => $one->getTypeId(), 'valueType' => $one->getValueType(), 'value' => $one->getValue(),
            ],
            $item->getFm()->getAll()
        );
    }

    /** @param array<string, mixed> $row @return array<string, mixed> */
    private static function productRow(array $row): array
    {
        $columns = ['DISCOUNT_TYPE_ID' => self::DISCOUNT_IN_PERCENT];
        foreach (self::PRODUCT_ROW as $name => [$column, $kind]) {
            if (isset($row[$name])) {
                $columns[$column] = self::spell($kind, $row[$name]);
            }
        }
        return $columns;
    }

    /** @param array<string, mixed> $row @return array<string, mixed> */
    private static function productRowRead(array $row): array
    {
        $fields = [];
        foreach (self::PRODUCT_ROW as $name => [$column, $kind]) {
            $fields[$name] = self::understand($kind, $row[$column] ?? null, 0);
        }
        return $fields;
    }

    /** @return array<string, ?string> */
    private function parents(Item $item): array
    {
        $fields = [];
        foreach ($item->getData() as $column => $value) {
            if (preg_match('/^PARENT_ID_(\d+)$/', (string)$column, $found) === 1) {
                $known = in_array((int)$found[1], [2, 3, 4], true);
                $fields["parentId$found[1]"] = (int)$value === 0 ? null
                    : ($known ? (string)$value : CrmNumbers::number((int)$found[1], (int)$value));
            }
        }
        return $fields;
    }

    /** @param array<string, mixed> $fields @return array<string, mixed> */
    private function customRow(Item $item, Factory $factory, array $fields): array
    {
        $type = (string)$item->getEntityTypeId();
        $row = (new CustomValues($this->customFields))->toKernel($this->stream, $type, $fields);
        foreach (array_intersect_key($this->customFields->of($this->stream, $type), $row) as $code => $field) {
            $spell = match ($field['type']) {
                'file' => fn(mixed $copy): int => self::saved($factory, $code, $copy),
                // The ORM of items takes objects where legacy classes take strings of the site.
                'date' => fn(mixed $text): ?Date => Dates::date(Dates::day($text)),
                'datetime' => fn(mixed $text): ?Date => Dates::moment(Dates::utc($text)),
                'crm' => fn(mixed $code): mixed => ctype_digit((string)$code) ? CrmNumbers::id((string)$code)
                    : CrmNumbers::plain((string)$code),
                default => null,
            };
            if ($spell !== null) {
                $one = $row[$code];
                $row[$code] = $field['multiple'] ? array_map($spell, $one) : ($one ? $spell($one) : '');
            }
        }
        return $row;
    }

    /** @return array<string, mixed> */
    private function custom(Item $item): array
    {
        $type = (string)$item->getEntityTypeId();
        $row = [];
        foreach ($this->customFields->of($this->stream, $type) as $code => $field) {
            if ($item->hasField($code)) {
                $value = $item->get($code);
                $row[$code] = $field['type'] === 'crm' && $value
                    ? array_map(static fn(mixed $one): string => CrmNumbers::numbered((string)$one), (array)$value)
                    : $value;
            }
        }
        return (new CustomValues($this->customFields))->fromKernel($this->stream, $type, $row);
    }

    /** @param array<string, mixed> $copy */
    private static function saved(Factory $factory, string $code, array $copy): int
    {
        $id = (int)\CFile::SaveFile($copy + ['MODULE_ID' => 'crm'], 'crm');
        // Items refuse files that were not announced; how they are is to be checked on a real box.
        Container::getInstance()->getFileUploader()
            ->registerFileId($factory->getFieldsCollection()->getField($code), $id);
        return $id;
    }

    private static function spell(string $kind, mixed $value): mixed
    {
        return match ($kind) {
            'category' => CrmNumbers::id((string)$value),
            'code' => CrmNumbers::plain((string)$value),
            'id', 'user' => (int)$value,
            'bool' => (bool)$value,
            'number' => (float)$value,
            'date' => Dates::date($value),
            default => Columns::spell($kind, $value),
        };
    }

    private static function understand(string $kind, mixed $value, int $type): mixed
    {
        return match ($kind) {
            'category' => (int)$value === 0 ? '0' : CrmNumbers::number($type, (int)$value),
            'code' => $value === null || $value === '' ? null : CrmNumbers::numbered((string)$value),
            'user' => Columns::understand('id', $value),
            'bool' => $value === true || $value === 'Y',
            'number' => $value === null ? null : self::number((float)$value),
            'date' => Dates::day($value),
            default => Columns::understand($kind, $value),
        };
    }

    private static function number(float $value): int|float
    {
        return floor($value) === $value && abs($value) < 1e15 ? (int)$value : $value;
    }

    /** isManualOpportunity -> IS_MANUAL_OPPORTUNITY */
    public static function column(string $name): string
    {
        return strtoupper((string)preg_replace('/(?<=[a-z])(?=[A-Z])/', '_', $name));
    }
}
