<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Main\EventManager;

final class QuietTest extends KernelCase
{
    public function testNotificationsMailAndServiceCommentsAreStoppedAndPeopleAreNot(): void
    {
        self::assertTrue(EventManager::vetoed('im/OnBeforeMessageNotifyAdd', ['MESSAGE_TYPE' => 'S']));
        self::assertFalse(EventManager::vetoed('im/OnBeforeMessageNotifyAdd', ['MESSAGE_TYPE' => 'P']));
        self::assertTrue(EventManager::vetoed('main/OnBeforeEventAdd', []));
        self::assertTrue(EventManager::vetoed('main/OnBeforeMailSend', []));
        self::assertTrue(EventManager::vetoed('forum/onBeforeMessageAdd', ['SERVICE_TYPE' => 1]));
        self::assertFalse(EventManager::vetoed('forum/onBeforeMessageAdd', ['POST_MESSAGE' => 'x']));
        self::assertTrue(defined('INTR_SKIP_EVENT_ADD'));
    }

    /** A box without cron sends waiting mail, and runs agents, at the end of every hit: inside the silence. */
    public function testMailAndAgentsOfOthersWaitForAnotherHit(): void
    {
        World::put('mail_queue', ['ID' => 1, 'STATUS' => 'waiting']);
        World::put('agents_waiting', ['ID' => 1, 'STATUS' => 'waiting']);
        World::endOfHit();
        self::assertSame('waiting', World::row('mail_queue', 1)['STATUS']);
        self::assertSame('waiting', World::row('agents_waiting', 1)['STATUS']);
    }

    public function testTheVetoesAreThereOnceHoweverOftenTheyAreAskedFor(): void
    {
        $this->box->quiet();
        self::assertSame([1], array_values(array_unique(array_map('count', World::$handlers))));
    }

    public function testTimesSurviveTheHourThatComesTwice(): void
    {
        foreach (['2024-10-27T00:30:00Z', '2024-03-31T00:59:59Z', '1999-12-31T22:00:00Z'] as $utc) {
            self::assertSame($utc, Dates::utc(Dates::moment($utc)));
        }
        self::assertSame('2024-02-29', Dates::day(Dates::dayText('2024-02-29')));
        self::assertNull(Dates::utc(''));
        self::assertFalse(Dates::text(null));
    }
}
