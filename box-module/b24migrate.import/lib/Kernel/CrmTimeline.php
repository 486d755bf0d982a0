<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\ActivityBindingTable;
use Bitrix\Crm\Search\TimelineSearchContentBuilder;
use Bitrix\Crm\Service\Timeline\Monitor;
use Bitrix\Crm\Timeline\Entity\{TimelineBindingTable, TimelineSearchTable, TimelineTable};
use Bitrix\Crm\Timeline\TimelineType;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Rows of the timeline, written as the kernel's own entries write them, but for their last step: that one tells a
 * monitor, which changes the owner at the end of the hit (its dates, its robots), and it says so to others.
 */
final class CrmTimeline
{
    public const NEEDS = [TimelineTable::class, TimelineBindingTable::class];

    /**
     * What the kernel does at its own will: the monitor of this hit does nothing at all. Not every kernel can be told
     * so, and nothing here relies on it, but elsewhere it spares a message to every browser for each record.
     */
    public static function silence(): void
    {
        if (method_exists(Monitor::class, 'onLastActivityRecalculationByAgent')) {
            Monitor::onLastActivityRecalculationByAgent();
        }
    }

    /** @param list<array{int, int}> $owners */
    public static function add(array $row, array $owners): int
    {
        $id = (int)Gateway::mustSucceed(TimelineTable::add($row))->getId();
        self::bind($id, $owners);
        return $id;
    }

    /**
     * One by one and by the table: the kernel's `deleteByOwner` and `registerBindings` tell the monitor.
     *
     * @param list<array{int, int}> $owners instead of those before
     */
    public static function bind(int $id, array $owners): void
    {
        $now = array_map(CrmOwners::parts(...), self::owners([$id])[$id] ?? []);
        foreach ($now as $one) {
            in_array($one, $owners, true) || TimelineBindingTable::delete(self::link($id, $one));
        }
        foreach ($owners as $one) {
            in_array($one, $now, true) || TimelineBindingTable::upsert(self::link($id, $one));
        }
    }

    /** @return array<int, list<array{ownerTypeId: int, ownerId: string}>> by row */
    public static function owners(array $ids): array
    {
        $query = ['filter' => ['@OWNER_ID' => $ids], 'order' => ['ENTITY_TYPE_ID' => 'ASC', 'ENTITY_ID' => 'ASC']];
        $rows = $ids === [] ? [] : TimelineBindingTable::getList($query)->fetchAll();
        return CrmOwners::group($rows, 'OWNER_ID', 'ENTITY_TYPE_ID', 'ENTITY_ID');
    }

    /** What would go with a record of the CRM: the kernel deletes it together with its record. */
    public static function reasonToKeep(int $type, int $id): ?string
    {
        $needed = [...self::NEEDS, ActivityBindingTable::class];
        if (array_filter($needed, class_exists(...)) !== $needed) {
            return null;
        }
        if (ActivityBindingTable::getCount(['=OWNER_TYPE_ID' => $type, '=OWNER_ID' => $id]) > 0) {
            return 'it has activities';
        }
        $bound = ['select' => ['OWNER_ID'], 'filter' => ['=ENTITY_TYPE_ID' => $type, '=ENTITY_ID' => $id]];
        $rows = array_column(TimelineBindingTable::getList($bound)->fetchAll(), 'OWNER_ID');
        $comments = ['@ID' => $rows, '=TYPE_ID' => TimelineType::COMMENT];
        return $rows !== [] && TimelineTable::getCount($comments) > 0 ? 'it has comments' : null;
    }

    /** Its note goes with it. */
    public static function delete(int $id): void
    {
        self::bind($id, []);
        class_exists(TimelineSearchTable::class) && TimelineSearchTable::deleteByOwner($id);
        Gateway::mustSucceed(TimelineTable::delete($id));
    }

    public static function index(int $id): void
    {
        class_exists(TimelineSearchContentBuilder::class) && (new TimelineSearchContentBuilder())->build($id);
    }

    private static function link(int $id, array $owner): array
    {
        return ['OWNER_ID' => $id, 'ENTITY_TYPE_ID' => $owner[0], 'ENTITY_ID' => $owner[1]];
    }
}
