<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\Timeline\Entity\NoteTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Notes: of an activity, or of a row of the timeline. Their table has no other owners. */
final class CrmNotes extends Gateway
{
    protected const TABLE = NoteTable::class;
    protected const NEEDS = [NoteTable::class];
    protected const FIELDS = [
        'text' => 'text', 'link' => 'createdById updatedById', 'moment' => 'createdTime updatedTime',
    ];
    /** The kernel requires all of them. */
    protected const FILLED = ['TEXT', 'CREATED_BY_ID', 'UPDATED_BY_ID', 'CREATED_TIME', 'UPDATED_TIME'];

    /** @param array<string, string> $of `activityId` or `commentId` */
    public static function isOn(array $of): bool
    {
        return self::isPossible() && self::rowExists(NoteTable::class, self::filter(self::item($of)));
    }

    public function create(string $key, array $fields): string
    {
        $item = self::item($fields);
        if (self::isOn($fields)) {
            throw new ItemFault('VALIDATION', null, 'somebody has written a note there on the box');
        }
        $now = Dates::moment(Dates::now());
        $row = $item + self::columns()->toKernel($fields);
        $row += ['CREATED_BY_ID' => self::actor(), 'CREATED_TIME' => $row['UPDATED_TIME'] ?? $now];
        $row += ['UPDATED_BY_ID' => $row['CREATED_BY_ID'], 'UPDATED_TIME' => $row['CREATED_TIME']];
        self::mustSucceed(NoteTable::add($row));
        // The table does not say that its number counts by itself; whether the result tells it is to be checked on a
        // real box.
        return (string)self::findRows(NoteTable::class, ['ID'], self::filter($item))[0]['ID'];
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(NoteTable::class, ['ID'], $id));
        $row = self::item($fields) + self::columns()->toKernel($fields);
        self::mustSucceed(NoteTable::update((int)$id, $row));
    }

    public function delete(string $id): void
    {
        self::mustSucceed(NoteTable::delete((int)$id));
    }

    protected function toFields(array $row): array
    {
        $isOfActivity = (int)$row['ITEM_TYPE'] === NoteTable::NOTE_TYPE_ACTIVITY;
        return [$isOfActivity ? 'activityId' : 'commentId' => (string)$row['ITEM_ID']] + parent::toFields($row);
    }

    private static function filter(array $item): array
    {
        return ['=ITEM_TYPE' => $item['ITEM_TYPE'], '=ITEM_ID' => $item['ITEM_ID']];
    }

    private static function item(array $fields): array
    {
        return match (true) {
            isset($fields['activityId']) => [
                'ITEM_TYPE' => NoteTable::NOTE_TYPE_ACTIVITY, 'ITEM_ID' => (int)$fields['activityId'],
            ],
            isset($fields['commentId']) => [
                'ITEM_TYPE' => NoteTable::NOTE_TYPE_HISTORY, 'ITEM_ID' => (int)$fields['commentId'],
            ],
            default => [],
        };
    }
}
