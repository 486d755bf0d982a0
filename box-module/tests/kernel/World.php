<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use Bitrix\Main\EventManager;
use Bitrix\Main\Type\DateTime;

/**
 * The box that the fakes of the kernel write to: tables in memory, what was called, and what people would have noticed.
 */
final class World
{
    /** What a legacy class takes a string for when nobody told it to leave the caller's zone alone. */
    public const OFFSET_OF_CALLER = 7200;
    public const NOW = '2026-11-15T12:00:00Z';

    /** @var array<string, array<int|string, array<string, mixed>>> rows by table and id */
    public static array $tables = [];
    /** @var list<array{string, array<mixed>}> */
    public static array $calls = [];
    /** @var list<string> mails, pushes, notifications, greetings: nothing of it may happen */
    public static array $noise = [];
    /** @var array<string, array<string, string>> by module */
    public static array $options = [];
    /** @var array<string, list<callable>> by module and event */
    public static array $handlers = [];
    /** @var array<string, string> versions of modules */
    public static array $versions = [];
    /** @var array<string, object> what the kernel makes once for a call */
    public static array $services = [];
    /** @var array<string, callable(array<string, mixed>): array<string, mixed>> what the box makes of rows, by table */
    public static array $quirks = [];
    public static bool $inTransaction = false;
    private static int $lastId = 100;

    public static function reset(): void
    {
        self::$tables = self::$calls = self::$noise = self::$options = self::$versions = self::$services = [];
        self::$quirks = [];
        self::$inTransaction = false;
        $GLOBALS['USER'] = new \CUser();
        $GLOBALS['DB'] = new FakeDatabase();
        $GLOBALS['APPLICATION'] = new FakeApplication();
        $GLOBALS['USER_FIELD_MANAGER'] = new FakeFieldManager();
        \CTimeZone::$disabled = 0;
        \Bitrix\Crm\Service\Timeline\Monitor::$obeys = false;
        self::$options = [
            'intranet' => ['iblock_structure' => '3'],
            'socialnetwork' => ['userbloggroup_id' => '1'],
        ];
        self::put('users', ['ID' => 1, 'LOGIN' => 'admin', 'EMAIL' => 'admin@box.example', 'UF_DEPARTMENT' => []]);
        self::put('sections', ['ID' => 1, 'IBLOCK_ID' => 3, 'NAME' => 'Company', 'IBLOCK_SECTION_ID' => null]);
    }

    /** What a box without cron does when an answer has been sent: agents, and whatever mail waits in the queue. */
    public static function endOfHit(): void
    {
        $waiting = static fn(string $switch, string $table): array
            => defined($switch) && constant($switch) === true ? [] : self::$tables[$table] ?? [];
        \Bitrix\Crm\Service\Timeline\Monitor::getInstance()->process();
        foreach ($waiting('DisableEventsCheck', 'mail_queue') as $id => $mail) {
            $sent = !EventManager::vetoed('main/OnBeforeMailSend', $mail);
            self::$tables['mail_queue'][$id]['STATUS'] = $sent ? 'sent' : 'failed for ever';
        }
        foreach (array_keys($waiting('NO_AGENT_CHECK', 'agents_waiting')) as $id) {
            $told = !EventManager::vetoed('im/OnBeforeMessageNotifyAdd', ['MESSAGE_TYPE' => 'S']);
            self::$tables['agents_waiting'][$id]['STATUS'] = $told ? 'told' : 'lost';
        }
    }

    /** @param array<string, mixed> $row */
    public static function put(string $table, array $row): int
    {
        $id = (int)($row['ID'] ?? ++self::$lastId);
        self::set($table, $id, ['ID' => $id] + $row);
        return $id;
    }

    /** @param array<string, mixed> $row */
    public static function set(string $table, int|string $id, array $row): void
    {
        self::$tables[$table][$id] = isset(self::$quirks[$table]) ? (self::$quirks[$table])($row) : $row;
    }

    /** @param array<mixed> $arguments */
    public static function call(string $name, array $arguments = []): void
    {
        self::$calls[] = [$name, $arguments];
    }

    /** @return list<array<mixed>> the arguments of each call */
    public static function calls(string $name): array
    {
        return array_column(array_filter(self::$calls, fn(array $call) => $call[0] === $name), 1);
    }

    /** @return array<string, mixed> */
    public static function row(string $table, int|string $id): array
    {
        return self::$tables[$table][(int)$id] ?? [];
    }

    public static function now(): DateTime
    {
        return DateTime::createFromTimestamp((int)strtotime(self::NOW));
    }

    /** As legacy classes read a time: shifted by the zone of the caller unless that is switched off. */
    public static function heard(mixed $text): ?DateTime
    {
        $seconds = is_string($text) ? MakeTimeStamp($text) : false;
        return $seconds === false ? null : DateTime::createFromTimestamp($seconds - \CTimeZone::GetOffset());
    }

    /** And as they tell it. */
    public static function told(?DateTime $time): ?string
    {
        return $time === null ? null : ConvertTimeStamp($time->getTimestamp() + \CTimeZone::GetOffset(), 'FULL');
    }
}
