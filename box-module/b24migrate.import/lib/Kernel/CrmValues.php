<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\CustomFields;
use Bitrix\Crm\Binding\EntityBinding;
use Bitrix\Crm\Item;
use Bitrix\Crm\Multifield\{Assembler, Collection};
use Bitrix\Crm\Service\{Container, Factory};

defined('B_PROLOG_INCLUDED') || exit;

/** The fields of a CRM item, as the contract and as the kernel spell them. */
final class CrmValues
{
    /** In the order in which they are set: a stage belongs to a pipeline, a price to a currency. */
    private const FIELDS = [
        'code' => 'currencyId stageId',
        'text' => 'title name lastName secondName comments sourceId sourceDescription',
        'link' => 'assignedById createdBy updatedBy movedBy companyId',
        'moment' => 'createdTime updatedTime movedTime',
        'bool' => 'opened closed isManualOpportunity',
        'date' => 'begindate closedate',
        'number' => 'opportunity',
        'ids' => 'observers',
    ];
    private const MORE = [
        'crm_leads' => [
            'text' => 'honorific post companyTitle statusDescription originatorId originId',
            'moment' => 'dateClosed',
            'date' => 'birthdate',
        ],
        'crm_quotes' => [
            'text' => 'quoteNumber content terms clientTitle clientAddr clientContact clientEmail clientPhone',
            'link' => 'mycompanyId',
            'int' => 'commentsType contentType termsType',
            'date' => 'actualDate',
        ],
        'crm_invoices' => ['text' => 'accountNumber xmlId', 'link' => 'mycompanyId'],
    ];
    /** Written into the table when the operation is done: it would work them out, or copy a lead into its clients. */
    private const PAST_OPERATION = ['link' => 'leadId quoteId dealId', 'bool' => 'isReturnCustomer'];
    /** An item always has them, so there is nothing to clear. */
    private const FILLED = [
        'CURRENCY_ID', 'STAGE_ID', 'ASSIGNED_BY_ID', 'CREATED_BY', 'UPDATED_BY', 'MOVED_BY', 'CREATED_TIME',
        'UPDATED_TIME', 'MOVED_TIME', 'QUOTE_NUMBER', 'ACCOUNT_NUMBER', 'IS_RETURN_CUSTOMER',
    ];
    private const BINDINGS = [
        'contactIds' => ['CONTACT_BINDINGS', \CCrmOwnerType::Contact],
        'companyIds' => ['COMPANY_BINDINGS', \CCrmOwnerType::Company],
    ];
    private const ON_DISK = 3;
    /** What lies in other tables, and is there only when it is asked for. */
    public const ELSEWHERE = ['CONTACT_BINDINGS', 'COMPANY_BINDINGS', 'PRODUCT_ROWS', 'OBSERVERS'];

    public function __construct(private readonly CustomFields $customFields, private readonly string $stream)
    {
    }

    public function set(Item $item, Factory $factory, array $fields): void
    {
        isset($fields['categoryId']) && self::put($item, 'CATEGORY_ID', CrmNumbers::id($fields['categoryId']));
        foreach ($this->columns()->toKernel($fields) as $column => $value) {
            self::put($item, $column, $value);
        }
        foreach ($fields as $name => $value) {
            if (preg_match('/^parentId(\d+)$/', $name, $found) === 1) {
                self::put($item, "PARENT_ID_$found[1]", CrmNumbers::id((string)$value));
            }
        }
        foreach (array_intersect_key(self::BINDINGS, $fields) as $name => [$column, $type]) {
            $bindings = EntityBinding::prepareEntityBindings($type, array_map('intval', $fields[$name] ?? []));
            EntityBinding::markFirstAsPrimary($bindings);
            self::put($item, $column, $bindings);
        }
        if (array_key_exists('fm', $fields) && $item->hasField('FM')) {
            $this->setMultifields($item, $fields['fm'] ?? []);
        }
        if (array_key_exists('productRows', $fields) && $item->hasField('PRODUCT_ROWS')) {
            CrmProductRows::set($item, $fields['productRows'] ?? []);
        }
        if (array_key_exists('storageElementIds', $fields)) {
            self::put($item, 'STORAGE_TYPE_ID', self::ON_DISK);
            $now = (array)$item->get('STORAGE_ELEMENT_IDS');
            $files = $fields['storageElementIds'] ?? [];
            $author = (int)($fields['createdBy'] ?? 0);
            self::put($item, 'STORAGE_ELEMENT_IDS', CrmFiles::save($files, $now, 'storageElementIds', $author));
        }
        foreach ($this->customRow($item, $factory, $fields) as $code => $value) {
            self::put($item, $code, $value);
        }
    }

    /** Steps after the item is written, without notifications and without changes of its dates. */
    public function setPastOperation(Item $item, Factory $factory, array $fields): void
    {
        $row = (new Columns(self::PAST_OPERATION, self::FILLED))->toKernel($fields);
        $row = array_filter($row, $item->hasField(...), ARRAY_FILTER_USE_KEY);
        $row === [] || Gateway::mustSucceed($factory->getDataClass()::update($item->getId(), $row));
        if (array_key_exists('storageElementIds', $fields) && $item->hasField('STORAGE_ELEMENT_IDS')) {
            // The action that a factory adds to its operations would do it.
            \CCrmQuote::DoSaveElementIDs($item->getId(), self::ON_DISK, (array)$item->get('STORAGE_ELEMENT_IDS'));
        }
    }

    private function columns(): Columns
    {
        $fields = self::FIELDS + ['utm' => UtmTags::FIELDS];
        foreach (self::MORE[$this->stream] ?? [] as $kind => $names) {
            $fields[$kind] = isset($fields[$kind]) ? "$fields[$kind] $names" : $names;
        }
        return new Columns($fields, self::FILLED);
    }

    /**
     * @param array<string, Item> $parts the item, and the same with each of what lies elsewhere
     * @param array<string, string> $utm by column
     */
    public function read(Factory $factory, array $parts, array $utm): array
    {
        $item = $parts['*'];
        $type = $item->getEntityTypeId();
        $get = fn(string $column): mixed => ($parts[$column] ?? $item)->get($column);
        $fields = $this->stream === 'crm_spitems' ? ['entityTypeId' => (string)$type] : [];
        $kinds = $this->columns()->kinds + (new Columns(self::PAST_OPERATION))->kinds;
        foreach ($kinds as $name => [$column, $kind]) {
            if ($item->hasField($column)) {
                $fields[$name] = Columns::fromColumn($kind, $kind === 'utm' ? $utm[$column] ?? null : $get($column));
            }
        }
        if ($item->hasField('STORAGE_ELEMENT_IDS')) {
            $fields['storageElementIds'] = array_values(CrmFiles::origins((array)$get('STORAGE_ELEMENT_IDS')));
        }
        if ($item->hasField('CATEGORY_ID')) {
            $category = (int)$get('CATEGORY_ID');
            $fields['categoryId'] = $category === 0 ? '0' : CrmNumbers::number($type, $category);
        }
        foreach (self::BINDINGS as $name => [$column, $other]) {
            if ($item->hasField($column)) {
                $fields[$name] = array_map('strval', EntityBinding::prepareEntityIDs($other, $get($column) ?? []));
            }
        }
        if ($item->hasField('FM')) {
            $fields['fm'] = self::multifields($item);
        }
        if ($item->hasField('PRODUCT_ROWS')) {
            $fields['productRows'] = CrmProductRows::read($get('PRODUCT_ROWS')?->toArray() ?? []);
        }
        return CrmStamp::hide($fields) + self::parents($factory, $item) + $this->custom($item);
    }

    /** What this kind of record does not have on this box stays out of it: a company has no stage. */
    private static function put(Item $item, string $column, mixed $value): void
    {
        if ($item->hasField($column)) {
            $item->set($column, $value);
        }
    }

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

    private static function multifields(Item $item): array
    {
        return array_map(
            static fn(object $one): array => [
                'typeId' => $one->getTypeId(), 'valueType' => $one->getValueType(), 'value' => $one->getValue(),
            ],
            $item->getFm()->getAll()
        );
    }

    /** The data of an item would tell them too, but at the price of a query for each. */
    private static function parents(Factory $factory, Item $item): array
    {
        $fields = [];
        foreach ($factory->getFieldsCollection() as $field) {
            if (preg_match('/^PARENT_ID_(\d+)$/', $field->getName(), $found) === 1) {
                [$type, $id] = [(int)$found[1], (int)$item->get($field->getName())];
                $fields["parentId$type"] = $id === 0 ? null : CrmNumbers::ofRecord($type, $id);
            }
        }
        return $fields;
    }

    /** The ORM of items takes objects where legacy classes take strings of the site. */
    private function customRow(Item $item, Factory $factory, array $fields): array
    {
        $known = $this->customFields->of($this->stream, (string)$item->getEntityTypeId());
        return (new CustomValues($known))->toKernel($fields, [], [
            'date' => static fn(string $day) => Dates::date($day),
            'datetime' => static fn(string $utc) => Dates::moment($utc),
            'crm' => static fn(string $code) => ctype_digit($code) ? CrmNumbers::id($code) : CrmNumbers::plain($code),
            // A file that is there already is not copied again.
            'file' => static fn(string $file, string $code): int
                => array_search($file, Files::origins((array)$item->get($code)), true)
                    ?: self::saveFile($factory, $code, Files::copy($file)),
        ]);
    }

    private function custom(Item $item): array
    {
        $known = $this->customFields->of($this->stream, (string)$item->getEntityTypeId());
        $row = [];
        foreach (array_filter($known, $item->hasField(...), ARRAY_FILTER_USE_KEY) as $code => $field) {
            $row[$code] = $item->get($code);
            if ($field['type'] === 'crm') {
                $row[$code] = array_map(CrmNumbers::numbered(...), array_map('strval', (array)($row[$code] ?: [])));
            }
        }
        return (new CustomValues($known))->fromKernel($row);
    }

    private static function saveFile(Factory $factory, string $code, array $copy): int
    {
        $id = Files::save($copy, 'crm', $code);
        // Items refuse files that were not announced; how they are is to be checked on a real box.
        Container::getInstance()->getFileUploader()
            ->registerFileId($factory->getFieldsCollection()->getField($code), $id);
        return $id;
    }
}
