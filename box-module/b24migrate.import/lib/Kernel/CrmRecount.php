<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What the CRM computes about all activities together. It has agents for that, each of which works through the tables
 * in steps, ends by itself, and sends nothing; the box runs them after the import.
 */
final class CrmRecount
{
    private const AGENTS = [
        'Bitrix\Crm\Agent\Activity\RecalculateAllUncompletedAgent',
        'Bitrix\Crm\Agent\Activity\FillLightCounterTimeAgent',
        'Bitrix\Crm\Agent\Activity\FillFastSearchTableAgent',
    ];
    private const MODULE = 'crm';
    private const SECONDS = 60;

    /** Again after every run: an agent that is there already stays the only one. */
    public static function start(int $activities): void
    {
        foreach ($activities > 0 && Loader::includeModule(self::MODULE) ? self::AGENTS : [] as $class) {
            if (class_exists($class)) {
                \CAgent::AddAgent("$class::run();", self::MODULE, 'N', self::SECONDS, '', 'Y', '', 100, false, false);
            }
        }
    }
}
