<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Service\Operation\Import;
use Bitrix\Main\Result;
use Bitrix\Main\Type\DateTime;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The kernel's import of a CRM item, made without the actions that a factory would add (events, feed, notifications).
 * It runs no robots and no workflows. Its rule that items come in order of their creation is for people. What it calls
 * differs between versions of the CRM: to be checked on a real box.
 */
final class QuietImport extends Import
{
    use QuietOperation;

    protected function getLastAddedItemCreatedTime(): ?DateTime
    {
        return null;
    }

    /** Old portals have items that were moved after their last change. Who calls is an administrator already. */
    public function checkSystemFieldsValues(array $systemFieldsValues): Result
    {
        return new Result();
    }

    /** The kernel takes the last activity from the time of creation, which it has just set to now. */
    private function kept(): array
    {
        $changed = $this->values(['UPDATED_TIME', 'UPDATED_BY']);
        return array_filter([
            'LAST_ACTIVITY_TIME' => $changed['UPDATED_TIME'] ?? null,
            'LAST_ACTIVITY_BY' => $changed['UPDATED_BY'] ?? null,
        ]);
    }
}
