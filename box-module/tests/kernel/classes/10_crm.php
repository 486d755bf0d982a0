<?php

// Module crm: factories, items and the operations on them, pipelines, stages, smart processes.
// phpcs:disable Generic.NamingConventions.UpperCaseConstantName -- the kernel's own names

declare(strict_types=1);

namespace Bitrix\Crm {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;

    class StatusTable extends DataManager
    {
        protected const TABLE = 'crm_status';
        protected const DEFAULTS = ['SORT' => 10, 'COLOR' => '', 'SEMANTICS' => null];
    }

    class ProductRows
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
            'UPDATED_BY', 'CREATED_TIME', 'UPDATED_TIME', 'OPENED', 'CATEGORY_ID', 'OBSERVERS', 'XML_ID',
            'ORIGINATOR_ID', 'ORIGIN_ID', 'PARENT_ID_1030',
        ];
        private const MORE = [
            4 => ['CONTACT_BINDINGS', 'FM'],
            3 => ['COMPANY_ID', 'COMPANY_BINDINGS', 'FM'],
            2 => [
                'COMPANY_ID', 'CONTACT_BINDINGS', 'STAGE_ID', 'MOVED_BY', 'MOVED_TIME', 'OPPORTUNITY', 'CURRENCY_ID',
                'IS_MANUAL_OPPORTUNITY', 'BEGINDATE', 'CLOSEDATE', 'CLOSED', 'PRODUCT_ROWS',
            ],
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
            $more = self::MORE[$this->type] ?? self::MORE[2];
            return str_starts_with($name, 'UF_') || in_array($name, [...self::PLAIN, ...$more], true);
        }

        public function get(string $name): mixed
        {
            return in_array($name, $this->missing, true) ? null : $this->row[$name] ?? null;
        }

        public function set(string $name, mixed $value): static
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

        public function setProductRowsFromArrays(array $rows): Result
        {
            if (in_array('', array_column($rows, 'PRODUCT_NAME'), true)) {
                return (new Result())->addError(new \Bitrix\Main\Error('A product has no name'));
            }
            $this->set('PRODUCT_ROWS', new ProductRows($rows));
            return new Result();
        }

        public function save(): Result
        {
            $this->row['ID'] = World::put("crm_$this->type", $this->row);
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

        public function getTypeId(): string
        {
            return $this->type;
        }

        public function getValueType(): string
        {
            return $this->valueType;
        }

        public function getValue(): string
        {
            return $this->value;
        }
    }

    class Collection
    {
        private array $values = [];

        public function add(Value $value): void
        {
            $this->values[] = $value;
        }

        public function getAll(): array
        {
            return $this->values;
        }
    }

    class Assembler
    {
        public static function updateCollectionByArray(Collection $collection, array $list): void
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

        public function save(): Result
        {
            if (World::$inTransaction) {
                throw new \LogicException('a new table commits the transaction of MySQL');
            }
            $this->row += ['ENTITY_TYPE_ID' => 1100 + 2 * count(World::$tables['crm_types'] ?? [])];
            $this->row['ID'] = World::put('crm_types', $this->row);
            return new Result();
        }

        public function delete(): Result
        {
            unset(World::$tables['crm_types'][$this->row['ID']]);
            return new Result();
        }
    }

    class Types
    {
        public function __construct(private array $rows)
        {
        }

        public function fetchAll(): array
        {
            return $this->rows;
        }

        public function fetchObject(): ?Type
        {
            return isset($this->rows[0]) ? new Type($this->rows[0]) : null;
        }
    }

    class TypeTable
    {
        public const FIELDS = [
            'TITLE', 'NAME', 'CODE', 'IS_CATEGORIES_ENABLED', 'IS_STAGES_ENABLED', 'IS_CLIENT_ENABLED',
        ];

        public static function getList(array $parameters): Types
        {
            return new Types(Rows::matching('crm_types', $parameters['filter']));
        }

        public static function createObject(): Type
        {
            return new Type();
        }

        public static function generateName(string $title): string
        {
            return 'T' . md5($title);
        }

        public static function getEntity(): \Bitrix\Main\ORM\Data\Entity
        {
            return new \Bitrix\Main\ORM\Data\Entity(self::class);
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

        public function setUserId(int $user): static
        {
            $this->user = $user;
            return $this;
        }

        public function setScope(string $scope): static
        {
            return $this;
        }
    }

    class FieldsCollection implements \IteratorAggregate
    {
        public function getIterator(): \Iterator
        {
            $field = new class {
                public function getName(): string
                {
                    return 'PARENT_ID_1030';
                }
            };
            return new \ArrayIterator([$field]);
        }

        public function getField(string $name): object
        {
            return (object)['name' => $name];
        }
    }

    class FileUploader
    {
        /** @var list<int> */
        public static array $registered = [];

        public function registerFileId(object $field, int $id): void
        {
            self::$registered[] = $id;
        }
    }

    class Category
    {
        public function __construct(private array $row)
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

        public function setName(string $name): void
        {
            $this->row['NAME'] = $name;
        }

        public function setEntityTypeId(int $type): static
        {
            $this->row['TYPE'] = $type;
            return $this;
        }

        public function getSort(): int
        {
            return $this->row['SORT'] ?? 500;
        }

        public function setSort(int $sort): void
        {
            $this->row['SORT'] = $sort;
        }

        public function getIsDefault(): bool
        {
            return $this->row['IS_DEFAULT'] ?? false;
        }

        public function setIsDefault(bool $is): void
        {
            $this->row['IS_DEFAULT'] = $is;
        }

        public function save(): Result
        {
            if (!isset($this->row['TYPE'])) {
                return (new Result())->addError(new \Bitrix\Main\Error('The type of a pipeline is required'));
            }
            $this->row['ID'] = World::put("crm_categories_{$this->row['TYPE']}", $this->row);
            return new Result();
        }

        public function delete(): Result
        {
            unset(World::$tables["crm_categories_{$this->row['TYPE']}"][$this->row['ID']]);
            return new Result();
        }
    }

    class Factory
    {
        /** @var ?array<int, Category> as a factory remembers them */
        private ?array $categories = null;

        public function __construct(private int $type)
        {
        }

        public function clearCategoriesCache(): static
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
            return $this->type !== 1;
        }

        public function getCategories(): array
        {
            $rows = array_values(World::$tables["crm_categories_$this->type"] ?? []);
            return $this->categories ??= array_map(static fn(array $row) => new Category($row), $rows);
        }

        public function getCategory(int $id): ?Category
        {
            return array_values(array_filter($this->getCategories(), fn($one) => $one->getId() === $id))[0] ?? null;
        }

        public function getDefaultCategory(): ?Category
        {
            $defaults = array_filter($this->getCategories(), static fn(Category $one) => $one->getIsDefault());
            return array_values($defaults)[0] ?? null;
        }

        public function createCategory(): Category
        {
            return new Category([]);
        }

        public function createItem(): Item
        {
            return new Item($this->type);
        }

        public function isFieldExists(string $name): bool
        {
            return (new Item($this->type))->hasField($name);
        }

        public function getItem(int $id): ?Item
        {
            World::call('getItem', [$id]);
            $row = World::row("crm_$this->type", $id);
            return $row === [] ? null : new Item($this->type, $row);
        }

        public function getItems(array $parameters): array
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

        public function getFieldsCollection(): FieldsCollection
        {
            return new FieldsCollection();
        }

        public function getDeleteOperation(Item $item): Operation\Delete
        {
            return new Operation\Delete($item, new Operation\Settings(new Context()));
        }
    }

    class Container
    {
        public static function getInstance(): self
        {
            return new self();
        }

        public function getFactory(int $type): ?Factory
        {
            $smart = Rows::matching('crm_types', ['=ENTITY_TYPE_ID' => $type]) !== [];
            $there = $smart || in_array($type, [1, 2, 3, 4], true);
            return $there ? World::$services["factory $type"] ??= new Factory($type) : null;
        }

        public function getDynamicTypeDataClass(): string
        {
            return \Bitrix\Crm\Model\Dynamic\TypeTable::class;
        }

        public function getFileUploader(): FileUploader
        {
            return new FileUploader();
        }
    }

    abstract class Operation
    {
        public function __construct(
            protected Item $item,
            protected Operation\Settings $settings,
            protected ?FieldsCollection $fieldsCollection = null
        ) {
        }

        public function importSettings(Operation\Settings $settings): static
        {
            $this->settings = $settings;
            return $this;
        }

        public function launch(): Result
        {
            $result = $this->processFieldsBeforeSave();
            if (!$result->isSuccess() || !$this->isItemChanged()) {
                return $result;
            }
            $result = $this->save();
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

        public function processFieldsBeforeSave(): Result
        {
            return new Result();
        }

        abstract protected function save(): Result;

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

        public function __construct(public Context $context)
        {
        }

        public function __call(string $name, array $arguments): static
        {
            $words = [
                'disableAllChecks' => 'checks', 'disableAutomation' => 'automation', 'disableBizProc' => 'bizproc',
                'disableSaveToTimeline' => 'timeline', 'disableSaveToHistory' => 'history',
            ];
            $this->off[$words[$name]] = true;
            return $this;
        }
    }

    class Import extends Operation
    {
        public function processFieldsBeforeSave(): Result
        {
            $times = [];
            foreach (['CREATED_TIME', 'UPDATED_TIME', 'MOVED_TIME'] as $name) {
                $times[$name] = $this->item->hasField($name) ? $this->item->get($name) : null;
            }
            $result = $this->checkSystemFieldsValues($times);
            if ($this->item->get('CREATED_TIME') === null) {
                $this->item->set('CREATED_TIME', World::now());
            }
            return $result;
        }

        public function checkSystemFieldsValues(array $systemFieldsValues): Result
        {
            $last = $this->getLastAddedItemCreatedTime();
            $early = $last && $systemFieldsValues['CREATED_TIME']?->getTimestamp() < $last->getTimestamp();
            ['MOVED_TIME' => $moved, 'UPDATED_TIME' => $updated] = $systemFieldsValues;
            $late = $moved && $updated && $moved->getTimestamp() > $updated->getTimestamp();
            return $early || $late ? (new Result())->addError(new Error('Times in another order')) : new Result();
        }

        protected function getLastAddedItemCreatedTime(): ?DateTime
        {
            $rows = Rows::matching('crm_' . $this->item->getEntityTypeId(), []);
            return end($rows)['CREATED_TIME'] ?? null;
        }

        protected function save(): Result
        {
            return $this->item->save();
        }

        protected function createToDoActivity(): void
        {
            World::$noise[] = 'an activity to do';
        }
    }

    class Update extends Operation
    {
        /** Whoever changes an item is the one who changed it, now; and who made it cannot be changed. */
        public function processFieldsBeforeSave(): Result
        {
            $old = World::row('crm_' . $this->item->getEntityTypeId(), $this->item->getId());
            $this->item->set('UPDATED_TIME', World::now())->set('UPDATED_BY', $this->settings->context->user);
            $this->item->set('CREATED_TIME', $old['CREATED_TIME'])->set('CREATED_BY', $old['CREATED_BY'] ?? null);
            return new Result();
        }

        public function isItemChanged(): bool
        {
            return false;
        }

        protected function save(): Result
        {
            return $this->item->save();
        }
    }

    class Delete extends Operation
    {
        protected function save(): Result
        {
            unset(World::$tables['crm_' . $this->item->getEntityTypeId()][$this->item->getId()]);
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
        public const Deal = 2;
        public const Contact = 3;
        public const Company = 4;
        public const SmartInvoice = 31;
    }

    class CCrmStatus
    {
        private string $error = '';

        public function __construct(private string $dictionary)
        {
        }

        public function Add(array $row): int|false
        {
            if ($row['NAME'] === '') {
                $this->error = 'The name is empty<br>';
                return false;
            }
            return StatusTable::add(['ENTITY_ID' => $this->dictionary] + $row)->getId();
        }

        /** What it is not told it takes for empty. */
        public function Update(int $id, array $row): int
        {
            StatusTable::update($id, $row + ['SORT' => 10, 'COLOR' => '#']);
            return $id;
        }

        public function GetLastError(): string
        {
            return $this->error;
        }
    }
}
