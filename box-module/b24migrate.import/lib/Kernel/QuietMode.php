<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\{EventManager, EventResult};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Silence for the rest of this hit. One REST call is one PHP process, and its background jobs run inside it, so
 * handlers of this process are enough, and nothing of it is left on the box.
 */
final class QuietMode
{
    /** Events of the catalog: no other module must handle or refuse them. */
    private const OF_CATALOGUE = [
        'ElementAdd', 'ElementUpdate', 'ElementDelete', 'SectionAdd', 'SectionUpdate', 'SectionDelete', 'PropertyAdd',
        'PropertyUpdate', 'PropertyDelete',
    ];
    /** Modules of the vendor have no dot in their names, or this prefix. */
    private const OWN_MODULE = '/^(bitrix\.[^.]+|[^.]+)$/D';

    private static bool $kept = false;

    public static function enable(): void
    {
        self::removeForeignHandlers();
        if (self::$kept) {
            return;
        }
        self::$kept = true;
        // No "hired" record and no post about a new employee in the feed.
        defined('INTR_SKIP_EVENT_ADD') || define('INTR_SKIP_EVENT_ADD', 'Y');
        // The disk notifies desktop applications of every change unless this is set; to be checked on a real box.
        defined('DISK_MIGRATE_MODE') || define('DISK_MIGRATE_MODE', true);
        // On a box without cron every hit runs agents and the queue of mails at its end. The vetoes below would still
        // stand then: mails of other people would be marked as failed for ever, and agents lose their notifications.
        defined('NO_AGENT_CHECK') || define('NO_AGENT_CHECK', true);
        // phpcs:ignore Generic.NamingConventions.UpperCaseConstantName -- the kernel's own name
        defined('DisableEventsCheck') || define('DisableEventsCheck', true);
        $events = EventManager::getInstance();
        $vetoes = [
            ['im', 'OnBeforeMessageNotifyAdd', 'notification'],
            ['main', 'OnBeforeEventAdd', 'mail'],
            ['forum', 'onBeforeMessageAdd', 'serviceComment'],
        ];
        foreach ($vetoes as [$module, $event, $veto]) {
            $events->addEventHandlerCompatible($module, $event, [self::class, $veto], false, 1);
        }
        $events->addEventHandler('main', 'OnBeforeMailSend', [self::class, 'lastMail'], false, 1);
    }

    /** Notifications of every module are system messages. */
    public static function notification(array $fields): ?bool
    {
        return ($fields['MESSAGE_TYPE'] ?? '') === 'S' ? false : null;
    }

    public static function mail(): bool
    {
        return false;
    }

    /** "The task was created" and the like; comments of people have no service type. */
    public static function serviceComment(array $data): ?bool
    {
        return empty($data['SERVICE_TYPE']) ? null : false;
    }

    /** What went around the veto on templates. */
    public static function lastMail(): EventResult
    {
        return new EventResult(EventResult::ERROR);
    }

    /** Of partners' modules and of the box's own `init.php`, for this hit: the kernel's own handlers keep its tables. */
    private static function removeForeignHandlers(): void
    {
        $events = EventManager::getInstance();
        foreach (self::OF_CATALOGUE as $change) {
            foreach (["OnBeforeIBlock$change", "OnAfterIBlock$change"] as $event) {
                foreach ($events->findEventHandlers('iblock', $event) as $key => $handler) {
                    preg_match(self::OWN_MODULE, (string)($handler['TO_MODULE_ID'] ?? '')) === 1
                        || $events->removeEventHandler('iblock', $event, $key);
                }
            }
        }
    }
}
