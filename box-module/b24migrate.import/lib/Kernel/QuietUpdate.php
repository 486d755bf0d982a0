<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Service\Operation\Update;

defined('B_PROLOG_INCLUDED') || exit;

/** An update without events that keeps the given authors and times; to be checked on a real box. */
final class QuietUpdate extends Update
{
    use QuietOperation;

    private const SYSTEM_FIELDS = [
        'CREATED_TIME', 'UPDATED_TIME', 'MOVED_TIME', 'CREATED_BY', 'UPDATED_BY', 'MOVED_BY',
    ];

    private function kept(): array
    {
        return array_filter($this->values(self::SYSTEM_FIELDS), static fn(mixed $value) => $value !== null);
    }

    /** Otherwise a change of nothing but the authors or times would be dropped. */
    public function isItemChanged(): bool
    {
        return true;
    }
}
