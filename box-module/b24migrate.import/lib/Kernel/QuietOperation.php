<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Result;

defined('B_PROLOG_INCLUDED') || exit;

/** Shared by both operations on CRM items: they send no events, and keep the given values. */
trait QuietOperation
{
    /** @return array<string, mixed> what the kernel would set otherwise, by column */
    abstract private function kept(): array;

    public function processFieldsBeforeSave(): Result
    {
        // On its way into a final stage the kernel dates an item to today, and a new one is always on its way.
        // And who has a client is a repeated customer to it, which copies what a lead has into the client.
        $kept = $this->values(['BEGINDATE', 'CLOSEDATE', 'DATE_CLOSED']) + $this->kept()
            + array_map(boolval(...), $this->values(['IS_RETURN_CUSTOMER']));
        $result = parent::processFieldsBeforeSave();
        foreach ($kept as $column => $value) {
            $this->item->hasField($column) && $this->item->set($column, $value);
        }
        return $result;
    }

    protected function createToDoActivity(): void
    {
    }

    protected function sendPullEvent(): void
    {
    }

    /** @return array<string, mixed> of those columns that this kind of item has */
    private function values(array $columns): array
    {
        $there = array_values(array_filter($columns, $this->item->hasField(...)));
        return array_combine($there, array_map($this->item->get(...), $there));
    }
}
