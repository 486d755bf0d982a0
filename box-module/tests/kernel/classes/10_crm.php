<?php

// Module crm: factories, items and the operations on them, pipelines, stages, smart processes.
// phpcs:disable Generic.NamingConventions.UpperCaseConstantName -- the kernel's own names

declare(strict_types=1);

namespace Bitrix\Crm {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;

    /** The order of a pipeline is guarded when a stage is added, and not when one is changed. */
    class StatusTable extends DataManager
    {
        protected const TABLE = 'crm_status';
        protected const DEFAULTS = ['SORT' => 10, 'COLOR' => '', 'SEMANTICS' => null, 'SYSTEM' => 'N'];

        public static function add(array $data)
        {
            $pipeline = str_contains($data['ENTITY_ID'], '_STAGE') ? ['=ENTITY_ID' => $data['ENTITY_ID']] : null;
            $won = $pipeline ? Rows::matching(self::TABLE, $pipeline + ['=SEMANTICS' => 'S'])[0] ?? null : null;
            $wrong = $won === null ? null : match ($data['SEMANTICS'] ?? 'P') {
                'S' => 'There is a successful stage already',
                'F' => $data['SORT'] > $won['SORT'] ? null : 'A failed stage stands behind the successful one',
                default => $data['SORT'] < $won['SORT'] ? null : 'A stage stands before the successful one',
            };
            return $wrong === null ? parent::add($data) : (new AddResult(0))->addError(new Error($wrong));
        }
    }

    class Field
    {
        public function __construct(private string $name)
        {
        }

        public function getName(): string
        {
            return $this->name;
        }
    }

    class ProductRowCollection
    {
        public function __construct(private array $rows)
        {
        }

        public function toArray(): array
        {
            return $this->rows;
        }
    }

    class Item
    {
        private const PLAIN = [
            'TITLE', 'NAME', 'LAST_NAME', 'SECOND_NAME', 'COMMENTS', 'SOURCE_ID', 'ASSIGNED_BY_ID', 'CREATED_BY',
            'UPDATED_BY', 'SOURCE_DESCRIPTION', 'CREATED_TIME', 'UPDATED_TIME', 'LAST_ACTIVITY_TIME',
            'LAST_ACTIVITY_BY', 'OPENED',
            'CATEGORY_ID', 'OBSERVERS', 'XML_ID', 'ORIGINATOR_ID', 'ORIGIN_ID', 'PARENT_ID_1030',
        ];
        private const MORE = [
            4 => ['CONTACT_BINDINGS', 'FM', 'LEAD_ID'],
            3 => ['COMPANY_ID', 'COMPANY_BINDINGS', 'FM', 'LEAD_ID'],
            2 => [...self::SALE, 'BEGINDATE', 'CLOSEDATE', 'CLOSED', 'IS_RETURN_CUSTOMER', 'LEAD_ID', 'QUOTE_ID'],
            1 => [
                ...self::SALE, 'FM', 'HONORIFIC', 'POST', 'COMPANY_TITLE', 'STATUS_DESCRIPTION', 'BIRTHDATE',
                'DATE_CLOSED', 'IS_RETURN_CUSTOMER',
            ],
            7 => [
                ...self::SALE, 'BEGINDATE', 'CLOSEDATE', 'CLOSED', 'ACTUAL_DATE', 'QUOTE_NUMBER', 'CONTENT', 'TERMS',
                'LEAD_ID', 'DEAL_ID', 'STORAGE_TYPE_ID', 'STORAGE_ELEMENT_IDS',
            ],
            31 => [...self::SALE, 'BEGINDATE', 'CLOSEDATE', 'ACCOUNT_NUMBER'],
        ];
        private const SALE = [
            'COMPANY_ID', 'CONTACT_BINDINGS', 'STAGE_ID', 'MOVED_BY', 'MOVED_TIME', 'OPPORTUNITY', 'CURRENCY_ID',
            'IS_MANUAL_OPPORTUNITY', 'PRODUCT_ROWS',
        ];
        private const LESS = [
            1 => ['XML_ID', 'CATEGORY_ID'],
            7 => ['XML_ID', 'ORIGINATOR_ID', 'ORIGIN_ID', 'OBSERVERS', 'MOVED_BY', 'MOVED_TIME', 'CATEGORY_ID'],
            31 => ['ORIGINATOR_ID', 'ORIGIN_ID'],
        ];
        /** What lies in other tables and is not there when nobody has asked for it. */
        public const ELSEWHERE = ['OBSERVERS', 'PRODUCT_ROWS', 'CONTACT_BINDINGS', 'COMPANY_BINDINGS'];

        /** @param list<string> $missing what was not asked for */
        public function __construct(private int $type, private array $row = [], private array $missing = [])
        {
        }

        public function getEntityTypeId(): int
        {
            return $this->type;
        }

        public function getId(): int
        {
            return (int)($this->row['ID'] ?? 0);
        }

        public function hasField(string $name): bool
        {
            $known = [...self::PLAIN, ...self::MORE[$this->type] ?? self::MORE[2]];
            return preg_match('/^(UF|UTM)_/', $name) === 1
                || in_array($name, array_diff($known, self::LESS[$this->type] ?? []), true);
        }

        public function get(string $name): mixed
        {
            if (str_starts_with($name, 'UTM_') && $this->getId() > 0) {
                throw new \LogicException('a query for each item');
            }
            return in_array($name, $this->missing, true) ? null : $this->row[$name] ?? null;
        }

        public function set(string $name, mixed $value): self
        {
            if (!$this->hasField($name)) {
                throw new \InvalidArgumentException("Item has no $name field");
            }
            $this->row[$name] = $value;
            $this->missing = array_diff($this->missing, [$name]);
            return $this;
        }

        public function getFm(): Multifield\Collection
        {
            return $this->get('FM') ?? new Multifield\Collection();
        }

        public function setProductRowsFromArrays(array $rows): \Bitrix\Main\Result
        {
            if (in_array('', array_column($rows, 'PRODUCT_NAME'), true)) {
                return (new Result())->addError(new \Bitrix\Main\Error('A product has no name'));
            }
            $this->set('PRODUCT_ROWS', new ProductRowCollection($rows));
            return new Result();
        }

        public function save(bool $isCheckUserFields = true): \Bitrix\Main\Result
        {
            $isUtm = static fn(string $name) => str_starts_with($name, 'UTM_');
            $utm = array_filter($this->row, $isUtm, ARRAY_FILTER_USE_KEY);
            $this->row = array_diff_key($this->row, $utm);
            $this->row['ID'] = World::put("crm_$this->type", $this->row);
            foreach (array_filter($utm) as $code => $value) {
                $key = "{$this->type}_{$this->row['ID']}_$code";
                World::set('crm_utm', $key, [
                    'ENTITY_TYPE_ID' => $this->type, 'ENTITY_ID' => $this->row['ID'], 'CODE' => $code,
                    'VALUE' => $value,
                ]);
            }
            return new Result();
        }
    }
}

namespace Bitrix\Crm\Multifield {

    class Value
    {
        public function __construct(private string $type, private string $valueType, private string $value)
        {
        }

        public function getTypeId(): ?string
        {
            return $this->type;
        }

        public function getValueType(): ?string
        {
            return $this->valueType;
        }

        public function getValue(): ?string
        {
            return $this->value;
        }
    }

    class Collection
    {
        private array $values = [];

        public function add(\Bitrix\Crm\Multifield\Value $value): self
        {
            $this->values[] = $value;
            return $this;
        }

        public function getAll(): array
        {
            return $this->values;
        }
    }

    class Assembler
    {
        public static function updateCollectionByArray(\Bitrix\Crm\Multifield\Collection $collection, array $list): void
        {
            foreach ($list as $type => $values) {
                foreach ($values as $key => $one) {
                    if (!str_starts_with((string)$key, 'n')) {
                        throw new \LogicException('the fake only adds');
                    }
                    $collection->add(new Value($type, $one['VALUE_TYPE'], $one['VALUE']));
                }
            }
        }
    }
}

namespace Bitrix\Crm\Binding {

    class EntityBinding
    {
        public static function prepareEntityBindings(int $type, array $ids): array
        {
            return array_map(static fn(int $id): array => ['TYPE' => $type, 'ENTITY_ID' => $id], array_values($ids));
        }

        public static function markFirstAsPrimary(array &$bindings): void
        {
            if ($bindings !== []) {
                $bindings[0]['IS_PRIMARY'] = 'Y';
            }
        }

        public static function prepareEntityIDs(int $type, array $bindings): array
        {
            return array_column($bindings, 'ENTITY_ID');
        }
    }
}

namespace Bitrix\Crm\Model\Dynamic {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;

    class Type
    {
        public function __construct(private array $row = [])
        {
        }

        public function set(string $name, mixed $value): void
        {
            $this->row[$name] = $value;
        }

        public function getEntityTypeId(): int
        {
            return (int)$this->row['ENTITY_TYPE_ID'];
        }

        public function save(): \Bitrix\Main\Result
        {
            if (World::$inTransaction) {
                throw new \LogicException('a new table commits the transaction of MySQL');
            }
            $this->row += ['ENTITY_TYPE_ID' => 1100 + 2 * count(World::$tables['crm_types'] ?? [])];
            $this->row['ID'] = World::put('crm_types', $this->row);
            return new Result();
        }

        public function delete(): \Bitrix\Main\Result
        {
            unset(World::$tables['crm_types'][$this->row['ID']]);
            return new Result();
        }
    }

    class TypeTable
    {
        public const FIELDS = [
            'TITLE', 'NAME', 'CODE', 'IS_CATEGORIES_ENABLED', 'IS_STAGES_ENABLED', 'IS_CLIENT_ENABLED',
        ];

        public static function getList(array $parameters = []): Rows
        {
            $made = fn(array $row) => new Type($row);
            return new Rows(Rows::matching('crm_types', $parameters['filter'] ?? []), $made);
        }

        public static function createObject($setDefaultValues = true): \Bitrix\Crm\Model\Dynamic\Type
        {
            return new Type();
        }

        public static function generateName(?string $title = null, int $try = 0): ?string
        {
            return 'T' . md5($title);
        }

        public static function getEntity(): \Bitrix\Main\ORM\Entity
        {
            return new \Bitrix\Main\ORM\Entity(self::class);
        }
    }
}

namespace Bitrix\Crm\Field {

    use Bitrix\Crm\Field;

    class Collection implements \IteratorAggregate
    {
        public function __construct(array $fields)
        {
        }

        public function getIterator(): \Iterator
        {
            return new \ArrayIterator([new Field('PARENT_ID_1030')]);
        }

        public function getField(string $fieldName): ?Field
        {
            return new Field($fieldName);
        }
    }
}

namespace Bitrix\Crm\Category\Entity {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\Result;

    abstract class Category
    {
        /** Code, SORT and SEMANTICS of the stages that a new pipeline has. */
        protected const STAGES = [];

        public function __construct(protected array $row)
        {
        }

        public function getId(): ?int
        {
            return $this->row['ID'] ?? null;
        }

        public function getName(): string
        {
            return $this->row['NAME'];
        }

        public function setName(string $name): Category
        {
            $this->row['NAME'] = $name;
            return $this;
        }

        abstract public function setEntityTypeId(int $entityTypeId): Category;

        public function getSort(): int
        {
            return $this->row['SORT'] ?? 500;
        }

        public function setSort(int $sort): Category
        {
            $this->row['SORT'] = $sort;
            return $this;
        }

        public function getIsDefault(): bool
        {
            return $this->row['IS_DEFAULT'] ?? false;
        }

        public function setIsDefault(bool $isDefault): Category
        {
            $this->row['IS_DEFAULT'] = $isDefault;
            return $this;
        }

        public function save(): Result
        {
            if (!isset($this->row['TYPE'])) {
                return (new Result())->addError(new Error('The type of a pipeline is required'));
            }
            $isNew = !isset($this->row['ID']);
            $this->row['ID'] = World::put("crm_categories_{$this->row['TYPE']}", $this->row);
            foreach ($isNew ? static::STAGES : [] as $code => [$sort, $semantics]) {
                World::put('crm_status', [
                    'ENTITY_ID' => $this->dictionary(), 'STATUS_ID' => $this->prefix() . $code, 'NAME' => $code,
                    'SORT' => $sort, 'SEMANTICS' => $semantics, 'COLOR' => '', 'CATEGORY_ID' => $this->row['ID'],
                ]);
            }
            return new Result();
        }

        public function delete(): Result
        {
            unset(World::$tables["crm_categories_{$this->row['TYPE']}"][$this->row['ID']]);
            return new Result();
        }

        abstract protected function dictionary(): string;

        abstract protected function prefix(): string;
    }

    class DealCategory extends Category
    {
        protected const STAGES = [
            'NEW' => [10, 'P'], 'PREPARATION' => [20, 'P'], 'PREPAYMENT_INVOICE' => [30, 'P'], 'EXECUTING' => [40, 'P'],
            'FINAL_INVOICE' => [50, 'P'], 'WON' => [60, 'S'], 'LOSE' => [70, 'F'], 'APOLOGY' => [80, 'F'],
        ];

        public function setEntityTypeId(int $entityTypeId): Category
        {
            throw new \LogicException('Deal categories does not support changing entityTypeId');
        }

        protected function dictionary(): string
        {
            return "DEAL_STAGE_{$this->row['ID']}";
        }

        protected function prefix(): string
        {
            return "C{$this->row['ID']}:";
        }
    }

    class ItemCategory extends Category
    {
        protected const STAGES = [
            'NEW' => [10, 'P'], 'PREPARATION' => [20, 'P'], 'CLIENT' => [30, 'P'], 'SUCCESS' => [40, 'S'],
            'FAIL' => [50, 'F'],
        ];

        public function setEntityTypeId(int $entityTypeId): Category
        {
            $this->row['TYPE'] = $entityTypeId;
            return $this;
        }

        protected function dictionary(): string
        {
            return "DYNAMIC_{$this->row['TYPE']}_STAGE_{$this->row['ID']}";
        }

        protected function prefix(): string
        {
            return "DT{$this->row['TYPE']}_{$this->row['ID']}:";
        }
    }
}

namespace Bitrix\Crm\Statistics {

    abstract class OperationFacade
    {
    }
}

namespace Bitrix\Crm {

    class ItemIdentifier
    {
        public function __construct(private int $entityTypeId, private int $entityId, ?int $categoryId = null)
        {
        }

        public function getEntityTypeId(): int
        {
            return $this->entityTypeId;
        }

        public function getEntityId(): int
        {
            return $this->entityId;
        }
    }
}

namespace Bitrix\Crm\Service\Factory {

    use B24migrate\Import\Tests\Kernel\World;

    class SmartInvoice extends \Bitrix\Crm\Service\Factory
    {
        /** As when somebody opens the page of invoices. A box may be unable to. */
        public static function createTypeIfNotExists(): void
        {
            if (World::$inTransaction) {
                throw new \LogicException('a new table commits the transaction of MySQL');
            }
            if ((World::$options['crm']['smart_invoices'] ?? 'Y') === 'N') {
                World::$options['crm']['smart_invoices'] = 'Y';
                World::put('crm_categories_31', ['TYPE' => 31, 'NAME' => 'Общая', 'IS_DEFAULT' => true]);
            }
        }
    }
}

namespace Bitrix\Crm\Relation {

    use Bitrix\Main\ORM\Data\DataManager;

    class EntityRelationTable extends DataManager
    {
        protected const TABLE = 'crm_relations';
    }
}

namespace Bitrix\Crm\Statistics\OperationFacade {

    use Bitrix\Crm\Statistics\OperationFacade;

    class Deal extends OperationFacade
    {
    }

    class Lead extends OperationFacade
    {
        public function __construct(public readonly string $successfulStageId)
        {
        }
    }
}

namespace Bitrix\Crm\Service {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Crm\Item;
    use Bitrix\Main\Result;

    class Context
    {
        public const SCOPE_TASK = 'task';
        public int $user = 0;

        public function setUserId(int $user): \Bitrix\Crm\Service\Context
        {
            $this->user = $user;
            return $this;
        }

        public function setScope(string $scope): \Bitrix\Crm\Service\Context
        {
            return $this;
        }
    }

    class FileUploader
    {
        /** @var list<int> */
        public static array $registered = [];

        public function registerFileId(\Bitrix\Crm\Field $field, int $id): void
        {
            self::$registered[] = $id;
        }
    }

    class Factory
    {
        /** @var ?array<int, Category> as a factory remembers them */
        private ?array $categories = null;

        public function __construct(private int $type)
        {
        }

        public function clearCategoriesCache(): self
        {
            $this->categories = null;
            return $this;
        }

        public function getEntityTypeId(): int
        {
            return $this->type;
        }

        public function getUserFieldEntityId(): string
        {
            return 'CRM_' . $this->type;
        }

        public function isCategoriesSupported(): bool
        {
            return !in_array($this->type, [1, 7], true);
        }

        public function getCategories(): array
        {
            $rows = array_values(World::$tables["crm_categories_$this->type"] ?? []);
            return $this->categories ??= array_map($this->category(...), $rows);
        }

        public function getCategory(int $id): ?\Bitrix\Crm\Category\Entity\Category
        {
            return array_values(array_filter($this->getCategories(), fn($one) => $one->getId() === $id))[0] ?? null;
        }

        public function getDefaultCategory(): ?\Bitrix\Crm\Category\Entity\Category
        {
            $defaults = array_filter($this->getCategories(), static fn($one) => $one->getIsDefault());
            return array_values($defaults)[0] ?? null;
        }

        public function createCategory(array $data = []): \Bitrix\Crm\Category\Entity\Category
        {
            return $this->category(['TYPE' => $this->type]);
        }

        private function category(array $row): \Bitrix\Crm\Category\Entity\Category
        {
            $deals = \Bitrix\Crm\Category\Entity\DealCategory::class;
            return new ($this->type === 2 ? $deals : \Bitrix\Crm\Category\Entity\ItemCategory::class)($row);
        }

        public function createItem(array $data = []): \Bitrix\Crm\Item
        {
            return new Item($this->type);
        }

        public function isFieldExists(string $name): bool
        {
            return (new Item($this->type))->hasField($name);
        }

        public function getDataClass(): string
        {
            return match ($this->type) {
                1 => \Bitrix\Crm\LeadTable::class,
                2 => \Bitrix\Crm\DealTable::class,
                3 => \Bitrix\Crm\ContactTable::class,
                4 => \Bitrix\Crm\CompanyTable::class,
                7 => \Bitrix\Crm\QuoteTable::class,
                31 => \B24migrate\Import\Tests\Kernel\InvoiceRows::class,
            };
        }

        public function getItem(int $id, array $fieldsToSelect = ['*']): ?\Bitrix\Crm\Item
        {
            World::call('getItem', [$id]);
            $row = World::row("crm_$this->type", $id);
            return $row === [] ? null : new Item($this->type, $row);
        }

        public function getItems(array $parameters = []): array
        {
            World::call('getItems', [$parameters]);
            $missing = array_diff(Item::ELSEWHERE, $parameters['select']);
            $rows = Rows::matching("crm_$this->type", $parameters['filter']);
            return array_map(fn(array $row) => new Item($this->type, $row, $missing), $rows);
        }

        public function getItemsCount(array $filter = []): int
        {
            return count(Rows::matching("crm_$this->type", $filter));
        }

        public function getFieldsCollection(): \Bitrix\Crm\Field\Collection
        {
            return new \Bitrix\Crm\Field\Collection([]);
        }

        public function getDeleteOperation(
            \Bitrix\Crm\Item $item,
            ?\Bitrix\Crm\Service\Context $context = null
        ): \Bitrix\Crm\Service\Operation\Delete {
            return new Operation\Delete($item, new Operation\Settings(new Context()));
        }
    }

    class Container
    {
        public static function getInstance(): \Bitrix\Crm\Service\Container
        {
            return new self();
        }

        public function getFactory(int $type): ?\Bitrix\Crm\Service\Factory
        {
            $smart = Rows::matching('crm_types', ['=ENTITY_TYPE_ID' => $type]) !== [];
            $off = World::$options['crm']['smart_invoices'] ?? 'Y';
            $there = $smart || in_array($type, [1, 2, 3, 4, 7], true) || ($type === 31 && $off === 'Y');
            return $there ? World::$services["factory $type"] ??= new Factory($type) : null;
        }

        public function getDynamicTypeDataClass(): string
        {
            return \Bitrix\Crm\Model\Dynamic\TypeTable::class;
        }

        public function getFileUploader(): \Bitrix\Crm\Service\FileUploader
        {
            return new FileUploader();
        }
    }

    abstract class Operation
    {
        public function __construct(
            protected Item $item,
            protected Operation\Settings $settings,
            protected ?\Bitrix\Crm\Field\Collection $fieldsCollection = null
        ) {
        }

        public function importSettings(\Bitrix\Crm\Service\Operation\Settings $settings): self
        {
            $this->settings = $settings;
            return $this;
        }

        public function launch(): \Bitrix\Main\Result
        {
            $result = $this->processFieldsBeforeSave();
            if (!$result->isSuccess() || !$this->isItemChanged()) {
                return $result;
            }
            $before = World::row('crm_' . $this->item->getEntityTypeId(), $this->item->getId());
            $result = $this->save();
            $this->afterSave($before);
            // Whoever makes an operation himself must say who counts.
            $this->settings->statistics && World::put('crm_stage_history', ['ITEM' => $this->item->getId()]);
            $this->createToDoActivity();
            $this->sendPullEvent();
            foreach (['checks', 'automation', 'bizproc', 'timeline', 'history'] as $one) {
                isset($this->settings->off[$one]) || World::$noise[] = "$one of a CRM item";
            }
            return $result;
        }

        public function isItemChanged(): bool
        {
            return true;
        }

        /** What the fields of an item do by themselves: times and people of now, a closing day on a final stage. */
        public function processFieldsBeforeSave(): \Bitrix\Main\Result
        {
            $old = World::row('crm_' . $this->item->getEntityTypeId(), $this->item->getId());
            $by = $this->settings->context->user;
            $created = $old['CREATED_TIME'] ?? World::now();
            $author = $old === [] ? $by : $old['CREATED_BY'] ?? null;
            $this->item->set('CREATED_TIME', $created)->set('CREATED_BY', $author);
            $this->item->set('UPDATED_TIME', World::now())->set('UPDATED_BY', $by);
            if ($old === []) {
                $this->item->set('LAST_ACTIVITY_TIME', $created)->set('LAST_ACTIVITY_BY', $by);
            }
            $stage = $this->item->hasField('STAGE_ID') ? (string)$this->item->get('STAGE_ID') : '';
            $final = Rows::matching('crm_status', ['=STATUS_ID' => $stage, '@SEMANTICS' => ['S', 'F']]) !== [];
            $type = $this->item->getEntityTypeId();
            if ($final && ($old['STAGE_ID'] ?? '') !== $stage && $type !== 31) {
                $today = \Bitrix\Main\Type\Date::createFromTimestamp(strtotime(World::NOW));
                $this->item->set($type === 1 ? 'DATE_CLOSED' : 'CLOSEDATE', $today);
            }
            if ($type === 1) {
                $this->item->set('IS_RETURN_CUSTOMER', self::hasClient($this->item));
            }
            foreach (['LEAD_ID', 'QUOTE_ID', 'DEAL_ID'] as $link) {
                $isNew = $this->item->hasField($link) && $this->item->get($link) !== ($old[$link] ?? null);
                $isNew && World::$noise[] = "an operation has set $link";
            }
            return new Result();
        }

        /** A lead that becomes one of a client that is known copies its phones into the client; a deal counts again. */
        private function afterSave(array $before): void
        {
            $type = World::row('crm_' . $this->item->getEntityTypeId(), $this->item->getId()) === []
                ? 0
                : $this->item->getEntityTypeId();
            $flag = 'IS_RETURN_CUSTOMER';
            $isRepeated = $this->item->hasField($flag) && $this->item->get($flag) === true;
            if ($type === 1 && $before !== [] && $isRepeated && ($before[$flag] ?? false) !== true) {
                World::$noise[] = 'a lead was copied into its client';
            }
            if ($type === 2) {
                World::set('crm_2', $this->item->getId(), ['IS_RETURN_CUSTOMER' => self::hasClient($this->item)]
                    + World::row('crm_2', $this->item->getId()));
            }
        }

        private static function hasClient(Item $item): bool
        {
            return (int)$item->get('COMPANY_ID') > 0 || !empty($item->get('CONTACT_BINDINGS'));
        }

        abstract protected function save(): \Bitrix\Main\Result;

        protected function createToDoActivity(): void
        {
        }

        protected function sendPullEvent(): void
        {
            World::$noise[] = 'a pull event of the CRM';
        }
    }
}

namespace Bitrix\Crm\Service\Operation {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Crm\Service\Context;
    use Bitrix\Crm\Service\Operation;
    use Bitrix\Main\Error;
    use Bitrix\Main\Result;
    use Bitrix\Main\Type\DateTime;

    class Settings
    {
        /** @var array<string, true> */
        public array $off = [];
        public ?\Bitrix\Crm\Statistics\OperationFacade $statistics = null;

        public function __construct(public Context $context)
        {
        }

        public function setStatisticsFacade(?\Bitrix\Crm\Statistics\OperationFacade $statisticsFacade): self
        {
            $this->statistics = $statisticsFacade;
            return $this;
        }

        public function disableAllChecks(): self
        {
            $this->off['checks'] = true;
            return $this;
        }

        public function disableAutomation(): self
        {
            $this->off['automation'] = true;
            return $this;
        }

        public function disableBizProc(): self
        {
            $this->off['bizproc'] = true;
            return $this;
        }

        public function disableSaveToTimeline(): self
        {
            $this->off['timeline'] = true;
            return $this;
        }

        public function disableSaveToHistory(): self
        {
            $this->off['history'] = true;
            return $this;
        }
    }

    class Add extends Operation
    {
        protected function save(): Result
        {
            return $this->item->save();
        }

        protected function createToDoActivity(): void
        {
            World::$noise[] = 'an activity to do';
        }
    }

    class Import extends Add
    {
        private const KEPT = ['CREATED_TIME', 'UPDATED_TIME', 'MOVED_TIME', 'CREATED_BY', 'UPDATED_BY', 'MOVED_BY'];

        /** Six fields are put back as they came; the others are as for any new item. */
        public function processFieldsBeforeSave(): \Bitrix\Main\Result
        {
            $kept = [];
            foreach (self::KEPT as $name) {
                $kept[$name] = $this->item->hasField($name) ? $this->item->get($name) : null;
            }
            $result = $this->checkSystemFieldsValues($kept);
            parent::processFieldsBeforeSave();
            foreach (array_filter($kept) as $name => $value) {
                $this->item->set($name, $value);
            }
            return $result;
        }

        public function checkSystemFieldsValues(array $systemFieldsValues): \Bitrix\Main\Result
        {
            $last = $this->getLastAddedItemCreatedTime();
            $early = $last && $systemFieldsValues['CREATED_TIME']?->getTimestamp() < $last->getTimestamp();
            ['MOVED_TIME' => $moved, 'UPDATED_TIME' => $updated] = $systemFieldsValues;
            $late = $moved && $updated && $moved->getTimestamp() > $updated->getTimestamp();
            return $early || $late ? (new Result())->addError(new Error('Times in another order')) : new Result();
        }

        protected function getLastAddedItemCreatedTime(): ?\Bitrix\Main\Type\DateTime
        {
            $rows = Rows::matching('crm_' . $this->item->getEntityTypeId(), []);
            return end($rows)['CREATED_TIME'] ?? null;
        }
    }

    class Update extends Operation
    {
        public function isItemChanged(): bool
        {
            return false;
        }

        protected function save(): \Bitrix\Main\Result
        {
            return $this->item->save();
        }
    }

    class Delete extends Operation
    {
        protected function save(): \Bitrix\Main\Result
        {
            unset(World::$tables['crm_' . $this->item->getEntityTypeId()][$this->item->getId()]);
            unset(World::$tables['crm_quote_elem'][$this->item->getEntityTypeId() === 7 ? $this->item->getId() : 0]);
            return new Result();
        }

        protected function sendPullEvent(): void
        {
        }
    }
}

namespace {

    use Bitrix\Crm\StatusTable;

    class CCrmOwnerType
    {
        public const Lead = 1;
        public const Deal = 2;
        public const Contact = 3;
        public const Company = 4;
        public const Activity = 6;
        public const Quote = 7;
        public const SmartInvoice = 31;
        private const NAMES = ['LEAD' => 1, 'DEAL' => 2, 'CONTACT' => 3, 'COMPANY' => 4];

        public static function ResolveID($name)
        {
            return self::NAMES[$name] ?? 0;
        }

        public static function ResolveName($typeID)
        {
            return array_search($typeID, self::NAMES, true) ?: '';
        }
    }

    class CCrmStatus
    {
        private string $error = '';

        public function __construct(private string $dictionary)
        {
        }

        public function Add(array $row, bool $bCheckStatusId = true): int|false
        {
            if ($row['NAME'] === '') {
                $this->error = 'The name is empty<br>';
                return false;
            }
            // No semantics are those of a process.
            $row['SEMANTICS'] = ($row['SEMANTICS'] ?? '') ?: 'P';
            $result = StatusTable::add(['ENTITY_ID' => $this->dictionary] + $row);
            $this->error = implode('<br>', $result->getErrorMessages());
            return $result->isSuccess() ? $result->getId() : false;
        }

        /** What it is not told it takes for empty. */
        public function Update(int $id, array $row, array $arOptions = []): int
        {
            if (($row['COLOR'] ?? null) === '') {
                $row['COLOR'] = '#';
            }
            StatusTable::update($id, $row + ['SORT' => 10]);
            return $id;
        }

        public function GetLastError(): ?string
        {
            return $this->error;
        }
    }
}
