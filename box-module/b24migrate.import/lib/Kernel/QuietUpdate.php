<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Service\Operation\Update;
use Bitrix\Main\Result;

defined('B_PROLOG_INCLUDED') || exit;

/** A change that nobody hears of, and that keeps authors and times as they are set; to be checked on a real box. */
final class QuietUpdate extends Update
{
    public const SYSTEM_FIELDS = [
        'CREATED_TIME', 'UPDATED_TIME', 'MOVED_TIME', 'CREATED_BY', 'UPDATED_BY', 'MOVED_BY',
    ];

    public function processFieldsBeforeSave(): Result
    {
        $kept = [];
        foreach (self::SYSTEM_FIELDS as $name) {
            if ($this->item->hasField($name)) {
                $kept[$name] = $this->item->get($name);
            }
        }
        $result = parent::processFieldsBeforeSave();
        foreach ($kept as $name => $value) {
            if ($value !== null) {
                $this->item->set($name, $value);
            }
        }
        return $result;
    }

    /** Otherwise a change of nothing but the authors or times would be dropped. */
    public function isItemChanged(): bool
    {
        return true;
    }

    protected function createToDoActivity(): void
    {
    }

    protected function sendPullEvent(): void
    {
    }
}
