<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\ORM\Data\DataManager;
use Bitrix\Main\ORM\Fields\{DatetimeField, IntegerField};

defined('B_PROLOG_INCLUDED') || exit;

/** When a product was changed: every change dates it to now, and the kernel's own class may not write into the table. */
final class ElementTimeTable extends DataManager
{
    public static function getTableName(): string
    {
        return 'b_iblock_element';
    }

    public static function getMap(): array
    {
        return [(new IntegerField('ID'))->configurePrimary(), new DatetimeField('TIMESTAMP_X')];
    }
}
