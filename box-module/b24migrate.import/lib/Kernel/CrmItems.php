<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Box;
use Bitrix\Crm\Item;
use Bitrix\Crm\Service\{Container, Context, Factory};
use Bitrix\Crm\Service\Factory\SmartInvoice;
use Bitrix\Crm\Service\Operation\Settings;
use Bitrix\Crm\Statistics\OperationFacade\{Deal as DealStatistics, Lead as LeadStatistics};

defined('B_PROLOG_INCLUDED') || exit;

/** Companies, contacts, deals, leads, quotes, invoices and items of smart processes. */
final class CrmItems extends Gateway
{
    /** The kernel's operations write to many tables and caches, and have transactions of their own. */
    protected const ATOMIC = false;
    /**
     * The kernel changes these whenever something is hung on an item: an activity, a task. And the first successful
     * deal of a client makes repeated ones of all the others.
     */
    protected const VOLATILE = ['updatedTime', 'updatedBy', 'isReturnCustomer'];
    private const TYPES = [
        'crm_companies' => 4, 'crm_contacts' => 3, 'crm_deals' => 2, 'crm_leads' => 1, 'crm_quotes' => 7,
        'crm_invoices' => 31,
    ];
    /** The only stage of leads that means success; it cannot be deleted. */
    private const CONVERTED = 'CONVERTED';
    /** Where the box counts the items of each type from 1, but the contract has one stream, or one word, for several. */
    private const NUMBERED = ['crm_spitems', 'crm_invoices'];

    private readonly CrmValues $values;

    public function __construct(Box $box, string $stream)
    {
        parent::__construct($box, $stream);
        $this->values = new CrmValues($box->customFields(), $stream);
    }

    public function has(string $id): bool
    {
        [$type, $own] = $this->parts($id);
        return self::count($type, ['=ID' => $own]) > 0;
    }

    public function read(array $ids): array
    {
        $numbers = $found = [];
        foreach ($ids as $id) {
            [$type, $own] = $this->parts($id);
            $numbers[$type][$own] = $id;
        }
        foreach ($numbers as $type => $known) {
            $factory = Container::getInstance()->getFactory($type);
            $utm = UtmTags::of($type, array_keys($known));
            foreach ($factory ? self::items($factory, array_keys($known)) : [] as $own => $parts) {
                $found[$known[$own]] = $this->values->read($factory, $parts, $utm[$own] ?? []);
            }
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $type = self::TYPES[$this->stream] ?? (int)$fields['entityTypeId'];
        $factory = $this->factory($type);
        CrmItemNumbers::mustBeFree($factory, $fields, 0);
        $item = $factory->createItem();
        try {
            $this->values->set($item, $factory, $fields);
            foreach (CrmStamp::of($this->stream, self::stamp($key), $fields) as $column => $stamp) {
                $item->set($column, $stamp);
            }
            $import = new QuietImport($item, self::settings($type), $factory->getFieldsCollection());
            self::mustSucceed($import->launch());
            $this->values->setPastOperation($item, $factory, $fields);
        } catch (\Throwable $fault) {
            // The kernel may have saved it and stumbled afterwards.
            $item->getId() > 0 && $this->delete($this->number($type, $item->getId()));
            CrmFiles::delete(self::files($item), self::actor());
            throw $fault;
        }
        return $this->number($type, $item->getId());
    }

    public function update(string $id, array $fields): void
    {
        [$type, $own] = $this->parts($id);
        $factory = $this->factory($type);
        CrmItemNumbers::mustBeFree($factory, $fields, $own);
        $select = ['*', ...self::joinedFields($factory)];
        $item = $factory->getItems(['select' => $select, 'filter' => ['=ID' => $own]])[0] ?? throw self::deletedFault();
        $files = self::files($item);
        try {
            $this->values->set($item, $factory, $fields);
            $update = new QuietUpdate($item, self::settings($type), $factory->getFieldsCollection());
            self::mustSucceed($update->launch());
            $this->values->setPastOperation($item, $factory, $fields);
        } catch (\Throwable $fault) {
            CrmFiles::delete(array_diff(self::files($item), $files), self::actor());
            throw $fault;
        }
        CrmFiles::delete(array_diff($files, self::files($item)), self::actor());
    }

    /** It may be in the recycle bin afterwards; to be checked on a real box. */
    public function delete(string $id): void
    {
        [$type, $own] = $this->parts($id);
        $factory = $this->factory($type);
        $item = $factory->getItem($own);
        $settings = self::settings($type);
        $files = $item ? self::files($item) : [];
        $item && self::mustSucceed($factory->getDeleteOperation($item)->importSettings($settings)->launch());
        CrmFiles::delete($files, self::actor());
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        [$type, $own] = $this->parts($id);
        return CrmHolders::reasonToKeep($type, $own, $this->box->map(), $gone);
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $type = self::TYPES[$this->stream] ?? (int)$fields['entityTypeId'];
        $factory = $this->factory($type);
        $stamps = CrmStamp::of($this->stream, self::stamp($key), $fields);
        $looks = $stamps ?: CrmStamp::looks($fields);
        if ($looks === []) {
            return null;
        }
        $items = $factory->getItems(['select' => ['ID'], 'filter' => CrmStamp::filter($looks)]);
        $ids = array_map(fn(Item $item): array => ['ID' => $this->number($type, $item->getId())], $items);
        return $stamps === [] ? $this->firstWithoutKey($ids) : $ids[0]['ID'] ?? null;
    }

    /** The next quote or invoice that people make gets a number behind those that were imported. */
    public function settle(int $id): void
    {
        [$type, $own] = $this->parts((string)$id);
        $factory = Container::getInstance()->getFactory($type);
        $factory === null || CrmItemNumbers::advance($factory, $own);
    }

    /**
     * Many at once. What lies in other tables is asked for apart: joined together, its rows would multiply.
     *
     * @return array<int, array<string, Item>> by id, and by what the item was filled with
     */
    private static function items(Factory $factory, array $ids): array
    {
        $items = [];
        foreach (['*', ...self::joinedFields($factory)] as $part) {
            // Multifields have no column: the kernel reads them for all the items when they are asked for.
            $select = $part === '*' ? ['*', 'FM'] : ['ID', $part];
            foreach ($factory->getItems(['select' => $select, 'filter' => ['@ID' => $ids]]) as $item) {
                $items[$item->getId()][$part] = $item;
            }
        }
        return array_filter($items, static fn(array $parts) => isset($parts['*']));
    }

    /** @return list<int> objects of the disk */
    private static function files(Item $item): array
    {
        return $item->hasField('STORAGE_ELEMENT_IDS') ? (array)$item->get('STORAGE_ELEMENT_IDS') : [];
    }

    private static function joinedFields(Factory $factory): array
    {
        return array_values(array_filter(CrmValues::ELSEWHERE, $factory->isFieldExists(...)));
    }

    public static function count(int $type, array $filter = []): int
    {
        return (int)Container::getInstance()->getFactory($type)?->getItemsCount($filter);
    }

    private static function settings(int $type): Settings
    {
        $context = (new Context())->setUserId(self::actor())->setScope(Context::SCOPE_TASK);
        $settings = (new Settings($context))->disableAllChecks()->disableAutomation()->disableBizProc()
            ->disableSaveToTimeline()->disableSaveToHistory();
        // A factory would say it: without it a deal or a lead has no stage history, and reports do not count it.
        return match (true) {
            $type === self::TYPES['crm_deals'] => $settings->setStatisticsFacade(new DealStatistics()),
            $type === self::TYPES['crm_leads'] && class_exists(LeadStatistics::class)
                => $settings->setStatisticsFacade(new LeadStatistics(self::CONVERTED)),
            default => $settings,
        };
    }

    /** A box creates the type of invoices when their page is opened for the first time. */
    public static function findFactory(int $type): ?Factory
    {
        $factory = Container::getInstance()->getFactory($type);
        if ($factory !== null || $type !== self::TYPES['crm_invoices'] || !class_exists(SmartInvoice::class)) {
            return $factory;
        }
        SmartInvoice::createTypeIfNotExists();
        return Container::getInstance()->getFactory($type);
    }

    private function factory(int $type): Factory
    {
        return self::findFactory($type)
            ?? throw new ItemFault('TYPE_NOT_FOUND', 'entityTypeId', "the box has no records of the type $type");
    }

    private function parts(string $id): array
    {
        $isNumbered = in_array($this->stream, self::NUMBERED, true);
        return $isNumbered ? CrmNumbers::parts($id) : [self::TYPES[$this->stream], (int)$id];
    }

    private function number(int $type, int $id): string
    {
        return in_array($this->stream, self::NUMBERED, true) ? CrmNumbers::number($type, $id) : (string)$id;
    }
}
