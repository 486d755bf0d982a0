<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Box;
use Bitrix\Crm\Service\Container;
use Bitrix\Crm\Service\Context;
use Bitrix\Crm\Service\Factory;
use Bitrix\Crm\Service\Operation;
use Bitrix\Crm\Service\Operation\Settings;

/** Companies, contacts, deals and items of smart processes. */
final class CrmItems extends Gateway
{
    private const TYPES = ['crm_companies' => 4, 'crm_contacts' => 3, 'crm_deals' => 2];
    /** Who says that an ORIGIN_ID is a stamp. */
    private const ORIGINATOR = 'b24migrate';
    /** Which records of which type hold on to one, and by what. */
    private const HOLDERS = [
        'crm_companies' => [[3, 'COMPANY_ID', 'contacts'], [2, 'COMPANY_ID', 'deals']],
        'crm_contacts' => [[2, 'CONTACT_ID', 'deals']],
    ];

    private readonly CrmValues $values;

    public function __construct(Box $box, private readonly string $stream)
    {
        parent::__construct($box);
        $this->values = new CrmValues($box->customFields(), $stream);
    }

    public function has(string $id): bool
    {
        [$type, $own] = $this->parts($id);
        return (int)Container::getInstance()->getFactory($type)?->getItemsCount(['=ID' => $own]) > 0;
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach ($ids as $id) {
            [$type, $own] = $this->parts($id);
            $item = Container::getInstance()->getFactory($type)?->getItem($own);
            if ($item) {
                // A list leaves out what lies in other tables: product rows, observers, multifields.
                $item->fill();
                $found[$id] = $this->values->read($item);
            }
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $type = self::TYPES[$this->stream] ?? (int)$fields['entityTypeId'];
        $factory = $this->factory($type);
        $item = $factory->createItem();
        $this->values->set($item, $factory, $fields);
        foreach ($this->stamps($key) as $column => $stamp) {
            $item->set($column, $stamp);
        }
        try {
            $this->launch(new QuietImport($item, $this->settings(), $factory->getFieldsCollection()));
        } catch (\Throwable $fault) {
            // The kernel may have saved it and stumbled afterwards.
            $item->getId() > 0 && $this->delete($this->number($type, $item->getId()));
            throw $fault;
        }
        return $this->number($type, $item->getId());
    }

    public function update(string $id, array $fields): void
    {
        [$type, $own] = $this->parts($id);
        $factory = $this->factory($type);
        $item = $factory->getItem($own) ?? throw self::gone();
        $item->fill();
        $this->values->set($item, $factory, $fields);
        $this->launch(new QuietUpdate($item, $this->settings(), $factory->getFieldsCollection()));
    }

    /** It may be in the recycle bin afterwards; to be checked on a real box. */
    public function delete(string $id): void
    {
        [$type, $own] = $this->parts($id);
        $factory = $this->factory($type);
        $item = $factory->getItem($own);
        if ($item) {
            $this->launch($factory->getDeleteOperation($item)->importSettings($this->settings()));
        }
    }

    public function needed(string $id, array $gone = []): ?string
    {
        foreach (self::HOLDERS[$this->stream] ?? [] as [$type, $column, $word]) {
            if ((int)Container::getInstance()->getFactory($type)?->getItemsCount(["=$column" => (int)$id]) > 0) {
                return "it has $word";
            }
        }
        return null;
    }

    /** The kernel's operations write to many tables and caches, and have transactions of their own. */
    public function atomic(): bool
    {
        return false;
    }

    public function trace(string $key, array $fields): ?string
    {
        $type = self::TYPES[$this->stream] ?? (int)$fields['entityTypeId'];
        $filter = [];
        foreach ($this->stamps($key) as $column => $stamp) {
            $filter["=$column"] = $stamp;
        }
        $item = $this->factory($type)->getItems(['select' => ['ID'], 'filter' => $filter, 'limit' => 1])[0] ?? null;
        return $item ? $this->number($type, $item->getId()) : null;
    }

    /** The kernel changes these whenever something is hung on an item: an activity, a task. */
    public function restless(): array
    {
        return ['updatedTime', 'updatedBy'];
    }

    /** @return array<string, string> */
    private function stamps(string $key): array
    {
        return $this->stream === 'crm_spitems'
            ? ['XML_ID' => self::stamp($key)]
            : ['ORIGINATOR_ID' => self::ORIGINATOR, 'ORIGIN_ID' => self::stamp($key)];
    }

    private function launch(Operation $operation): void
    {
        $this->mustSucceed($operation->launch());
    }

    private function settings(): Settings
    {
        $context = (new Context())->setUserId($this->actor())->setScope(Context::SCOPE_TASK);
        return (new Settings($context))->disableAllChecks()->disableAutomation()->disableBizProc()
            ->disableSaveToTimeline()->disableSaveToHistory();
    }

    private function factory(int $type): Factory
    {
        return Container::getInstance()->getFactory($type)
            ?? throw new ItemFault('TYPE_NOT_FOUND', 'entityTypeId', "the box has no records of the type $type");
    }

    /** @return array{int, int} */
    private function parts(string $id): array
    {
        return isset(self::TYPES[$this->stream]) ? [self::TYPES[$this->stream], (int)$id] : CrmNumbers::parts($id);
    }

    private function number(int $type, int $id): string
    {
        return isset(self::TYPES[$this->stream]) ? (string)$id : CrmNumbers::number($type, $id);
    }
}
