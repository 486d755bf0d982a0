<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Activity\Entity\IncomingChannelTable;
use Bitrix\Crm\Activity\{MailMetaTable, UncompletedActivity};
use Bitrix\Crm\Counter\EntityCountableActivityTable;
use Bitrix\Crm\Counter\Monitor\CountableActivitySynchronizer;
use Bitrix\Crm\Search\SearchContentBuilderFactory;
use Bitrix\Crm\Timeline\Entity\TimelineTable;
use Bitrix\Crm\Timeline\TimelineType;
use Bitrix\Crm\{ActivityBindingTable, ActivityElementTable, ActivityTable};
use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

/** What of an activity lies in other tables: its records, addresses, files, its places in the timeline. */
final class CrmActivityParts
{
    public const NEEDS = [
        ActivityTable::class, ActivityBindingTable::class, ActivityElementTable::class, IncomingChannelTable::class,
        MailMetaTable::class, UncompletedActivity::class, ...CrmTimeline::NEEDS,
    ];
    /** Where the files of an activity lie. */
    public const DISK = 3;
    private const MAIL = 4;
    private const MEETING = 1;
    private const TO_DO = 'CRM_TODO';
    /** What the column of an address takes, in characters. */
    private const LONGEST_ADDRESS = 256;

    public function __construct(private readonly int $id)
    {
    }

    /** Whether a file hangs on an activity. Those of activities are attached to nothing. */
    public static function hasFile(int $file): bool
    {
        $filter = ['=STORAGE_TYPE_ID' => self::DISK, '=ELEMENT_ID' => $file];
        return Loader::includeModule('crm') && class_exists(ActivityElementTable::class)
            && ActivityElementTable::getCount($filter) > 0;
    }

    /** @return array<string, array<int, mixed>> by name and activity */
    public static function of(array $ids): array
    {
        $of = static fn(string $table): array => $table::getList([
            'filter' => ['@ACTIVITY_ID' => $ids], 'order' => ['ID' => 'ASC'],
        ])->fetchAll();
        $bound = $of(ActivityBindingTable::class);
        $incoming = $of(IncomingChannelTable::class);
        $filter = ['@ID' => $ids, 'CHECK_PERMISSIONS' => 'N'];
        // Columns that no table of the ORM knows.
        $columns = ['ID', 'STATUS', 'STORAGE_TYPE_ID', 'STORAGE_ELEMENT_IDS'];
        $rows = Gateway::legacyRows(\CCrmActivity::GetList(['ID' => 'ASC'], $filter, false, false, $columns));
        $addresses = \CCrmActivity::GetCommunicationList(['ID' => 'ASC'], ['@ACTIVITY_ID' => $ids]);
        return [
            'bindings' => CrmOwners::group($bound, 'ACTIVITY_ID', 'OWNER_TYPE_ID', 'OWNER_ID'),
            'files' => array_combine(array_column($rows, 'ID'), array_map(self::filesIn(...), $rows)),
            'incoming' => array_fill_keys(array_map('intval', array_column($incoming, 'ACTIVITY_ID')), true),
            'status' => array_column($rows, 'STATUS', 'ID'),
            'communications' => Gateway::groupBy(Gateway::legacyRows($addresses), 'ACTIVITY_ID', self::address(...)),
        ];
    }

    /**
     * @param list<int> $files objects of the disk
     * @return list<string> fields that the box does not take as they are
     */
    public function write(array $fields, array $files): array
    {
        $owners = CrmOwners::each([...($fields['BINDINGS'] ?? []), $fields['OWNER']]);
        // While an activity is registered as incoming, every change of its bindings changes its owners at the end of
        // the hit. So it is registered last.
        $this->forgetIncoming();
        \CCrmActivity::SaveBindings($this->id, self::links($owners), false, false, false);
        $cut = $this->writeAddresses($fields);
        \CCrmActivity::DoSaveElementIDs($this->id, self::DISK, $files);
        if ($fields['IS_INCOMING_CHANNEL'] ?? false) {
            Gateway::mustSucceed(IncomingChannelTable::add([
                'ACTIVITY_ID' => $this->id,
                'RESPONSIBLE_ID' => (int)($fields['RESPONSIBLE_ID'] ?? 0),
                'COMPLETED' => $fields['COMPLETED'] ? 'Y' : 'N',
            ]));
        }
        $this->writeHistory($fields, $owners);
        $this->writeMail($fields);
        class_exists(SearchContentBuilderFactory::class)
            && SearchContentBuilderFactory::create(\CCrmOwnerType::Activity)->build($this->id);
        return $cut;
    }

    public function deleteAll(): void
    {
        $this->forgetIncoming();
        \CCrmActivity::SaveBindings($this->id, [], false, false, false);
        \CCrmActivity::SaveCommunications($this->id, [], ['ID' => $this->id], false, false);
        \CCrmActivity::DoSaveElementIDs($this->id, self::DISK, []);
        array_map(CrmTimeline::delete(...), $this->history());
        MailMetaTable::delete($this->id);
    }

    /**
     * Which activity of a record is the next one that somebody has to do. It looks at what is open there, whatever
     * this one is now.
     *
     * @param list<array<string, mixed>> $activities as they are and as they were
     */
    public static function synchronizeOpen(array $activities): void
    {
        $owners = $people = [];
        foreach ($activities as $fields) {
            array_push($owners, $fields['OWNER'], ...($fields['BINDINGS'] ?? []));
            $people[] = (int)($fields['RESPONSIBLE_ID'] ?? 0);
        }
        $people = array_values(array_unique([...$people, 0]));
        $owners = CrmOwners::each($owners);
        // A box that has it otherwise computes it at the end, for all of them.
        method_exists(UncompletedActivity::class, 'synchronizeForBindingsAndResponsibles')
            && UncompletedActivity::synchronizeForBindingsAndResponsibles(self::links($owners), $people);
        foreach ($owners as [$type, $id]) {
            foreach ($people as $person) {
                \CCrmActivity::SynchronizeUserActivity($type, $id, $person);
            }
        }
    }

    /** What was counted for an open one would count for ever: the kernel looks only at activities that are there. */
    public static function uncount(int $id): void
    {
        class_exists(EntityCountableActivityTable::class) && EntityCountableActivityTable::deleteByActivity($id);
    }

    /** Counters of people grow by this only when the box counts them anew. */
    public static function count(int $id): void
    {
        if (class_exists(CountableActivitySynchronizer::class)) {
            CountableActivitySynchronizer::synchronizeByActivityId($id);
        }
    }

    /** Objects of the contract as the kernel serializes them. */
    public static function plain(mixed $value): mixed
    {
        return is_scalar($value) || $value === null ? $value : array_map(self::plain(...), (array)$value);
    }

    private function forgetIncoming(): void
    {
        $rows = IncomingChannelTable::getList(['select' => ['ID'], 'filter' => ['=ACTIVITY_ID' => $this->id]]);
        foreach ($rows->fetchAll() as $row) {
            Gateway::mustSucceed(IncomingChannelTable::delete((int)$row['ID']));
        }
    }

    private function writeAddresses(array $fields): array
    {
        $rows = $cut = [];
        foreach ($fields['COMMUNICATIONS'] ?? [] as $one) {
            $one = (array)$one + ['TYPE' => null, 'VALUE' => null, 'owner' => null];
            [$type, $id] = $one['owner'] === null ? [0, 0] : CrmOwners::parts($one['owner']);
            $value = mb_substr((string)$one['VALUE'], 0, self::LONGEST_ADDRESS);
            $cut += $value === (string)$one['VALUE'] ? [] : ['COMMUNICATIONS'];
            $rows[] = ['TYPE' => (string)$one['TYPE'], 'VALUE' => $value]
                + ['ENTITY_TYPE_ID' => $type, 'ENTITY_ID' => $id];
        }
        [$type, $id] = CrmOwners::parts($fields['OWNER']);
        $owner = ['ID' => $this->id, 'OWNER_TYPE_ID' => $type, 'OWNER_ID' => $id];
        \CCrmActivity::SaveCommunications($this->id, $rows, $owner, false, false);
        return $cut;
    }

    /** What is done stands in the timeline; a to-do and a meeting entered it when they were done. */
    private function writeHistory(array $fields, array $owners): void
    {
        $rows = $this->history();
        if (!$fields['COMPLETED']) {
            array_map(CrmTimeline::delete(...), $rows);
            return;
        }
        $isDoneLater = $fields['TYPE_ID'] === self::MEETING || ($fields['PROVIDER_ID'] ?? '') === self::TO_DO;
        $at = $isDoneLater ? $fields['LAST_UPDATED'] ?? $fields['CREATED'] : $fields['CREATED'];
        $row = [
            'TYPE_ID' => TimelineType::ACTIVITY,
            'TYPE_CATEGORY_ID' => $fields['TYPE_ID'],
            'CREATED' => Dates::moment($at),
            'AUTHOR_ID' => (int)($fields['AUTHOR_ID'] ?? $fields['RESPONSIBLE_ID'] ?? 0),
            'ASSOCIATED_ENTITY_TYPE_ID' => \CCrmOwnerType::Activity,
            'ASSOCIATED_ENTITY_CLASS_NAME' => (string)($fields['PROVIDER_ID'] ?? ''),
            'ASSOCIATED_ENTITY_ID' => $this->id,
        ];
        $there = array_shift($rows);
        array_map(CrmTimeline::delete(...), $rows);
        if ($there === null) {
            $there = CrmTimeline::add($row, $owners);
        } else {
            Gateway::mustSucceed(TimelineTable::update($there, $row));
            CrmTimeline::bind($there, $owners);
        }
        CrmTimeline::index($there);
    }

    /** @return list<int> its rows in the timeline */
    private function history(): array
    {
        $filter = ['=ASSOCIATED_ENTITY_TYPE_ID' => \CCrmOwnerType::Activity, '=ASSOCIATED_ENTITY_ID' => $this->id];
        $query = ['select' => ['ID'], 'filter' => $filter + ['=TYPE_ID' => TimelineType::ACTIVITY]];
        return array_map('intval', array_column(TimelineTable::getList($query)->fetchAll(), 'ID'));
    }

    /** An answer to a mail finds it by this. */
    private function writeMail(array $fields): void
    {
        $headers = array_change_key_case((array)(((array)($fields['SETTINGS'] ?? []))['MESSAGE_HEADERS'] ?? []));
        $number = mb_strtolower(trim(is_string($headers['message-id'] ?? null) ? $headers['message-id'] : ''));
        MailMetaTable::delete($this->id);
        if ($fields['TYPE_ID'] === self::MAIL && $number !== '') {
            MailMetaTable::add(['ACTIVITY_ID' => $this->id, 'MSG_ID_HASH' => md5($number)]);
        }
    }

    /** In their order, which only the column has; the kernel serializes numbers there, or texts of digits. */
    private static function filesIn(array $row): array
    {
        preg_match_all('/(?<=;|\{)i:\d+;(?:i:|s:\d+:")(\d+)/', (string)($row['STORAGE_ELEMENT_IDS'] ?? ''), $found);
        return (int)$row['STORAGE_TYPE_ID'] === self::DISK ? $found[1] : [];
    }

    private static function address(array $row): array
    {
        return [
            'TYPE' => (string)$row['TYPE'] === '' ? null : (string)$row['TYPE'],
            'VALUE' => (string)$row['VALUE'] === '' ? null : (string)$row['VALUE'],
            'owner' => CrmOwners::owner((int)$row['ENTITY_TYPE_ID'], (int)$row['ENTITY_ID']),
        ];
    }

    private static function links(array $owners): array
    {
        return array_map(static fn(array $one) => ['OWNER_TYPE_ID' => $one[0], 'OWNER_ID' => $one[1]], $owners);
    }
}
