<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** What both operations on CRM items have in common: nobody hears of them, and dates stay as they are set. */
trait QuietOperation
{
    /** On its way into a final stage the kernel dates an item to today, and a new one is always on its way. */
    private static array $days = ['BEGINDATE', 'CLOSEDATE'];

    protected function createToDoActivity(): void
    {
    }

    protected function sendPullEvent(): void
    {
    }

    /** @return array<string, mixed> of those that this kind of item has */
    private function values(array $names): array
    {
        $names = array_values(array_filter($names, $this->item->hasField(...)));
        return array_combine($names, array_map($this->item->get(...), $names));
    }

    private function putBack(array $values): void
    {
        foreach ($values as $name => $value) {
            $this->item->set($name, $value);
        }
    }
}
