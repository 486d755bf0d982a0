<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\Recurring\Entity\ParameterMapper\{RestDeal, SecondFormDeal};
use Bitrix\Crm\Recurring\Manager;
use Bitrix\Crm\{DealRecurTable, DealTable};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The schedule of a deal that is a template of others. Always switched off: one that is due makes a deal as soon as the
 * agent of the box looks.
 */
final class CrmRecurring extends Gateway
{
    protected const TABLE = DealRecurTable::class;
    protected const NEEDS = [DealRecurTable::class];
    protected const FIELDS = [
        'link' => 'DEAL_ID BASED_ID',
        'date' => 'NEXT_EXECUTION LAST_EXECUTION START_DATE LIMIT_DATE',
        'int' => 'COUNTER_REPEAT LIMIT_REPEAT',
        'text' => 'IS_LIMIT',
    ];
    protected const FILLED = ['DEAL_ID', 'IS_LIMIT'];
    protected const LOSSES = [
        'ACTIVE' => 'Recurring deals are imported switched off. Switch them on after the migration.',
    ];
    private const TYPE_OF_DEALS = 2;
    /** What the kernel asks a schedule for in either spelling. */
    private const NAMES = [
        'MODE', 'SINGLE_BEFORE_START_DATE_VALUE', 'SINGLE_BEFORE_START_DATE_TYPE', 'MULTIPLE_TYPE', 'MULTIPLE_INTERVAL',
        'OFFSET_BEGINDATE_TYPE', 'OFFSET_BEGINDATE_VALUE', 'OFFSET_CLOSEDATE_TYPE', 'OFFSET_CLOSEDATE_VALUE',
        'SINGLE_TYPE', 'SINGLE_INTERVAL_VALUE', 'MULTIPLE_CUSTOM_TYPE', 'MULTIPLE_CUSTOM_INTERVAL_VALUE',
        'BEGINDATE_TYPE', 'CLOSEDATE_TYPE',
    ];

    public function create(string $key, array $fields): string
    {
        if (self::rowExists(DealRecurTable::class, ['=DEAL_ID' => (int)$fields['DEAL_ID']])) {
            throw new ItemFault('VALIDATION', 'DEAL_ID', 'this deal has a schedule already');
        }
        $id = (string)self::mustSucceed(DealRecurTable::add($this->row($fields)))->getId();
        self::markDeal((int)$fields['DEAL_ID'], 'Y');
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(DealRecurTable::class, ['ID', 'DEAL_ID'], $id));
        self::mustSucceed(DealRecurTable::update((int)$id, $this->row($fields)));
        $deal = (int)($fields['DEAL_ID'] ?? $now['DEAL_ID']);
        if ($deal !== (int)$now['DEAL_ID']) {
            self::markDeal((int)$now['DEAL_ID'], 'N');
            self::markDeal($deal, 'Y');
        }
    }

    /** The kernel deletes none that has a deal, and the deal is an ordinary one afterwards. */
    public function delete(string $id): void
    {
        $now = self::findRow(DealRecurTable::class, ['DEAL_ID'], $id);
        self::mustSucceed(DealRecurTable::update((int)$id, ['DEAL_ID' => 0]));
        self::mustSucceed(DealRecurTable::delete((int)$id));
        self::markDeal((int)$now['DEAL_ID'], 'N');
    }

    protected function toFields(array $row): array
    {
        $category = (int)$row['CATEGORY_ID'];
        return [
            'ACTIVE' => Columns::fromColumn('flag', $row['ACTIVE']),
            'CATEGORY_ID' => $category === 0 ? '0' : CrmNumbers::number(self::TYPE_OF_DEALS, $category),
            'PARAMS' => self::schedule(RestDeal::class, SecondFormDeal::class, (array)$row['PARAMS']) ?: null,
        ] + parent::toFields($row);
    }

    private function row(array $fields): array
    {
        $row = ['ACTIVE' => 'N'] + self::columns()->toKernel($fields);
        $empty = array_intersect(['COUNTER_REPEAT', 'LIMIT_REPEAT'], array_keys($fields, null, true));
        $row = array_fill_keys($empty, null) + $row;
        if (array_key_exists('CATEGORY_ID', $fields)) {
            $row['CATEGORY_ID'] = CrmNumbers::id((string)($fields['CATEGORY_ID'] ?? '0'));
        }
        if (array_key_exists('PARAMS', $fields)) {
            $schedule = self::withModeNumber((array)($fields['PARAMS'] ?? []));
            $row['PARAMS'] = self::schedule(SecondFormDeal::class, RestDeal::class, $schedule);
        }
        return $row;
    }

    /** The kernel takes a word for a mode as well, but then it looks for the number. */
    private static function withModeNumber(array $schedule): array
    {
        $modes = class_exists(Manager::class) ? [
            Manager::SINGLE_EXECUTION_NAME => Manager::SINGLE_EXECUTION,
            Manager::MULTIPLY_EXECUTION_NAME => Manager::MULTIPLY_EXECUTION,
        ] : [];
        $mode = $modes[$schedule['MODE'] ?? ''] ?? null;
        return ($mode === null ? [] : ['MODE' => $mode]) + $schedule;
    }

    /** A schedule has one spelling in REST and another one in the table. The kernel translates between them. */
    private static function schedule(string $into, string $from, array $given): array
    {
        if ($given === [] || !class_exists($from) || !class_exists($into)) {
            return $given;
        }
        [$source, $target] = [new $from(), new $into()];
        $source->fillMap($given + array_fill_keys(self::NAMES, null));
        $target->convert($source);
        return $target->getFormattedMap();
    }

    /** By the table: the deal's dates stay. To be checked on a real box. */
    private static function markDeal(int $deal, string $isTemplate): void
    {
        self::rowExists(DealTable::class, ['=ID' => $deal])
            && self::mustSucceed(DealTable::update($deal, ['IS_RECURRING' => $isTemplate]));
    }
}
