<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\OwnersCase;
use B24migrate\Import\Tests\Kernel\Rows;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Crm\Activity\Provider\Email;
use Bitrix\Crm\Service\Timeline\Monitor;

final class CrmActivitiesTest extends OwnersCase
{
    private const PARTS = [
        'crm_act', 'crm_act_bind', 'crm_act_comm', 'crm_act_elem', 'crm_act_incoming', 'crm_act_mail', 'crm_timeline',
        'crm_timeline_bind', 'crm_uncompleted', 'search of timeline',
    ];

    public function testAMailIsReadBackAsItWasSentAndNotSentAgain(): void
    {
        $mail = self::mail(['FILES' => array_reverse([$this->file('a.pdf'), $this->file('b.pdf')])]);
        $id = $this->made('crm_activities', $mail);
        $this->assertKept('crm_activities', $id, $mail);
        $row = World::row('crm_act', (int)$id);
        $this->assertSame(['Привет :f09f9880:', 4, $id], [$row['SUBJECT'], $row['TYPE_ID'], $row['THREAD_ID']]);
        $this->assertSame(serialize(array_map('intval', $mail['FILES'])), $row['STORAGE_ELEMENT_IDS']);
        $this->assertSame(['3', 'N'], [$row['STORAGE_TYPE_ID'], $row['IS_HANDLEABLE']]);
        $this->assertSame(md5('<abc@mail.example>'), World::row('crm_act_mail', $id)['MSG_ID_HASH']);
        $this->assertArrayHasKey('SEARCH_CONTENT', $row);
        $this->assertTrue($this->records('crm_activities')->has($id));
    }

    public function testAScriptInALetterIsNeverShown(): void
    {
        $script = '<b>Hello</b><script>steal()</script><img src="x" onerror="steal()">';
        $headers = ['MESSAGE_HEADERS' => ['X' => str_repeat('x', 66000)]];
        $without = [null, ['SANITIZE_ON_VIEW' => 0], ['SANITIZE_ON_VIEW' => false, 'COUNT' => 5], $headers];
        foreach ($without as $place => $settings) {
            $mail = self::mail(['DESCRIPTION' => $script, 'SETTINGS' => $settings]);
            $id = $this->made('crm_activities', $mail, "letter$place");
            $row = World::row('crm_act', (int)$id);
            $this->assertSame($script, $row['DESCRIPTION']);
            $shown = Email::getDescriptionHtmlByActivityFields($row);
            $this->assertSame('<b>Hello</b><img src="x">', $shown);
        }
        $old = ['PROVIDER_ID' => null, 'PROVIDER_TYPE_ID' => null, 'SETTINGS' => null, 'DESCRIPTION' => $script];
        $id = $this->made('crm_activities', self::mail($old), 'old');
        $this->assertSame(1, World::row('crm_act', (int)$id)['SETTINGS']['SANITIZE_ON_VIEW']);
    }

    public function testAScriptInAnyOtherActivityIsTakenOutAndTold(): void
    {
        $script = ['DESCRIPTION' => '<i>On the phone</i><script>steal()</script>', 'DESCRIPTION_TYPE' => 3];
        $gateway = $this->records('crm_activities');
        foreach (['CRM_MEETING', 'VOXIMPLANT_CALL', 'CRM_REQUEST', 'CRM_SMS'] as $provider) {
            $id = $gateway->create('k', self::meeting($script + ['PROVIDER_ID' => $provider]));
            $this->assertSame('<i>On the phone</i>', World::row('crm_act', (int)$id)['DESCRIPTION']);
            $this->assertSame(['DESCRIPTION'], $gateway->leftOut());
            $gateway->update($id, ['DESCRIPTION' => '<script>steal()</script>']);
            $this->assertSame('', World::row('crm_act', (int)$id)['DESCRIPTION']);
            $gateway->leftOut();
        }
        $plain = self::meeting(['DESCRIPTION' => '<script>told, not run</script>', 'DESCRIPTION_TYPE' => 1]);
        $id = $gateway->create('plain', $plain);
        $this->assertSame($plain['DESCRIPTION'], World::row('crm_act', (int)$id)['DESCRIPTION']);
        $this->assertSame([], $gateway->leftOut());
    }

    public function testWhatIsDoneStandsInTheTimelineOfAllItsRecordsAsOfItsOwnDay(): void
    {
        $mail = $this->made('crm_activities', self::mail());
        $meeting = $this->made('crm_activities', self::meeting(['COMPLETED' => true, 'STATUS' => 2]));
        $call = self::meeting(['COMPLETED' => true, 'TYPE_ID' => 2, 'PROVIDER_ID' => 'VOXIMPLANT_CALL']);
        $call = $this->made('crm_activities', $call);
        $at = ['2019-02-03T04:05:06Z', '2020-03-04T05:06:07Z', '2019-02-03T04:05:06Z'];
        foreach ([$mail, $meeting, $call] as $place => $id) {
            [$row] = Rows::matching('crm_timeline', ['ASSOCIATED_ENTITY_ID' => $id]);
            $this->assertSame([1, 6, 14, $at[$place]], [
                $row['TYPE_ID'], $row['ASSOCIATED_ENTITY_TYPE_ID'], $row['AUTHOR_ID'], Dates::utc($row['CREATED']),
            ]);
            $this->assertSame((int)$place === 0 ? 2 : 1, count(Rows::matching('crm_timeline_bind', [
                'OWNER_ID' => $row['ID'],
            ])));
        }
        $this->assertSame([], World::$tables['crm_uncompleted'] ?? []);
    }

    public function testAnOpenOneIsTheNextThingToDoAndNotInTheTimeline(): void
    {
        $id = (int)$this->made('crm_activities', self::meeting());
        $this->assertSame([], World::$tables['crm_timeline'] ?? []);
        $this->assertSame(['2:5:12', '2:5:0'], array_keys(World::$tables['crm_uncompleted']));
        $this->assertSame([[2, 5, 12], [2, 5, 0]], World::calls('SynchronizeUserActivity'));
        $this->assertArrayNotHasKey('crm_countable', World::$tables);
        $gateway = $this->records('crm_activities');
        $gateway->settle($id);
        $this->assertSame([$id], array_keys(World::$tables['crm_countable']));
        $done = (int)$this->made('crm_activities', self::mail(), 'b');
        $gateway->settle($done);
        $this->assertArrayNotHasKey($done, World::$tables['crm_countable']);
    }

    /** The box counts one that is open when a run ends; a later run, or an undo, must not leave it counted. */
    public function testWhatIsDoneOrGoneIsNotCountedAnyMore(): void
    {
        $gateway = $this->records('crm_activities');
        foreach ([fn(string $id) => $gateway->update($id, ['COMPLETED' => true]), $gateway->delete(...)] as $end) {
            $id = $this->made('crm_activities', self::meeting());
            $gateway->settle((int)$id);
            $this->assertSame([(int)$id], array_keys(World::$tables['crm_countable']));
            $end($id);
            $gateway->settle((int)$id);
            $this->assertSame([], World::$tables['crm_countable']);
        }
    }

    public function testAChangeSetsEveryPartAnew(): void
    {
        $id = $this->made('crm_activities', self::mail(['FILES' => [$this->file('a.pdf')]]));
        $file = $this->file('b.pdf');
        $now = self::meeting([
            'OWNER' => self::CONTACT, 'BINDINGS' => [self::CONTACT, self::ITEM], 'FILES' => [$file],
            'COMMUNICATIONS' => [], 'SETTINGS' => null, 'IS_INCOMING_CHANNEL' => false,
        ]);
        $this->records('crm_activities')->update($id, $now);
        $this->assertKept('crm_activities', $id, $now);
        $open = ['crm_act' => 1, 'crm_act_bind' => 2, 'crm_act_elem' => 1, 'crm_uncompleted' => 4];
        $this->assertSame($open, self::rows(...self::PARTS));
        $again = self::mail(['FILES' => []]);
        $this->records('crm_activities')->update($id, $again);
        $this->assertKept('crm_activities', $id, $again);
        $this->assertArrayNotHasKey('crm_uncompleted', self::rows(...self::PARTS), 'it is done');
        $this->assertCount(1, World::$tables['crm_timeline']);
    }

    public function testOnlyTheOwnerAndTheTypeAreRequired(): void
    {
        $id = $this->made('crm_activities', ['OWNER' => self::DEAL, 'TYPE_ID' => 6]);
        $now = $this->now('crm_activities', $id);
        $this->assertHolds(['BINDINGS' => [self::DEAL], 'COMPLETED' => false, 'STATUS' => 1, 'DEADLINE' => null], $now);
        $this->assertNotNull($now['CREATED']);
        $this->records('crm_activities')->update($id, ['CREATED' => null, 'COMPLETED' => true]);
        $this->assertKept('crm_activities', $id, ['CREATED' => $now['CREATED'], 'COMPLETED' => true]);
        $log = $this->made('crm_logs', ['OWNER' => self::DEAL, 'title' => 'a']);
        $this->assertNotNull($this->now('crm_logs', $log)['created']);
    }

    public function testOnlyWhatIsSentChanges(): void
    {
        $mail = self::mail();
        $id = $this->made('crm_activities', $mail);
        $this->records('crm_activities')->update($id, ['SUBJECT' => 'Новая тема', 'LOCATION' => null]);
        $this->assertKept('crm_activities', $id, ['SUBJECT' => 'Новая тема', 'LOCATION' => null] + $mail);
    }

    public function testAnUndoneImportLeavesNothing(): void
    {
        $files = ['FILES' => [$this->file()]];
        $other = $this->made('crm_activities', self::meeting(['DEADLINE' => '2027-01-01T00:00:00Z']), 'other');
        $before = self::rows(...self::PARTS);
        foreach ([self::mail($files), self::meeting($files)] as $fields) {
            $id = $this->made('crm_activities', $fields);
            $file = $fields['FILES'][0];
            $this->assertSame('it is attached to something', $this->records('files')->reasonToKeep($file));
            $this->records('crm_activities')->delete($id);
            $this->assertNull($this->records('files')->reasonToKeep($file));
            $this->assertSame($before, self::rows(...self::PARTS));
        }
        $this->assertSame((int)$other, World::$tables['crm_uncompleted']['2:5:0']['ACTIVITY_ID']);
    }

    /** The record and its key are written in one transaction: a call that dies or fails leaves neither. */
    public function testAnItemThatFailsHalfwayLeavesNothing(): void
    {
        MapTable::createTable();
        World::$quirks['crm_timeline'] = static fn() => throw new \RuntimeException('Deadlock found');
        $before = World::$tables;
        $fields = array_diff_key(self::mail(), ['AUTHOR_ID' => 1, 'RESPONSIBLE_ID' => 1, 'FILES' => 1]);
        $fields = ['BINDINGS' => [self::DEAL], 'COMMUNICATIONS' => []] + $fields;
        $item = ['key' => 'source:crm_activities:1', 'digest' => str_repeat('0', 64), 'fields' => $fields];
        $send = static fn() => (new Router(new KernelBox()))->answer(
            'import.crm.batch',
            Json::encode(['stream' => 'crm_activities', 'items' => [$item]])
        )['items'][0];
        $answer = $send();
        $this->assertSame(['failed', true], [$answer['status'], $answer['error']['retry']]);
        $this->assertEquals($before, World::$tables);
        World::$quirks = [];
        $this->assertSame('created', $send()['status']);
        $this->assertSame('unchanged', $send()['status']);
        $this->assertCount(1, World::$tables['crm_act']);
    }

    public function testADeadlineOfTheYear9999IsNone(): void
    {
        $id = $this->made('crm_activities', self::meeting(['DEADLINE' => null, 'END_TIME' => null]));
        $this->assertSame('9999', substr((string)Dates::utc(World::row('crm_act', $id)['DEADLINE']), 0, 4));
        $this->assertKept('crm_activities', $id, ['DEADLINE' => null, 'END_TIME' => null]);
    }

    public function testWhatTheColumnsDoNotTakeIsCutAndTold(): void
    {
        $long = [
            'SUBJECT' => str_repeat('я', 600), 'LOCATION' => str_repeat('м', 300),
            'SETTINGS' => ['BODY' => str_repeat('x', 66000)],
            'COMMUNICATIONS' => [['TYPE' => 'EMAIL', 'VALUE' => str_repeat('a', 300), 'owner' => null]],
        ];
        $gateway = $this->records('crm_activities');
        $id = $gateway->create('a', self::mail($long));
        $this->assertSame(['SUBJECT', 'LOCATION', 'SETTINGS', 'COMMUNICATIONS'], $gateway->leftOut());
        $now = $gateway->read([$id])[$id];
        $this->assertSame([512, 256, ['SANITIZE_ON_VIEW' => 1], 256], [
            mb_strlen($now['SUBJECT']), mb_strlen($now['LOCATION']), $now['SETTINGS'],
            strlen($now['COMMUNICATIONS'][0]['VALUE']),
        ]);
        $form = self::mail(['SUBJECT' => str_repeat('я', 500) . '😀😀', 'PROVIDER_PARAMS' => $long['SETTINGS']]);
        $id = $gateway->create('b', $form);
        $this->assertSame(['SUBJECT'], $gateway->leftOut());
        $this->assertSame(510, mb_strlen(World::row('crm_act', (int)$id)['SUBJECT']), 'the box spells an emoji');
        $this->assertKept('crm_activities', $id, ['SUBJECT' => str_repeat('я', 500) . '😀'] + $form);
        $compressed = $this->made('crm_activities', self::mail(['PROVIDER_TYPE_ID' => 'EMAIL_COMPRESSED']));
        $this->assertKept('crm_activities', $compressed, ['PROVIDER_TYPE_ID' => 'EMAIL']);
    }

    /** A kernel that lets itself be told spares browsers a message for each owner. */
    public function testTheMonitorOfTheTimelineIsSilencedWhereItCanBe(): void
    {
        Monitor::$obeys = true;
        $this->made('crm_activities', self::meeting());
        World::endOfHit();
        $this->assertSame([], World::calls('pull event of an owner'));
        $this->assertCount(1, World::calls('the monitor is silenced'));
    }

    public function testAtTheEndOfARunTheBoxIsAskedToCountOnceMore(): void
    {
        $box = new KernelBox();
        MapTable::createTable();
        $finalize = static function () use ($box): void {
            for ($after = 'crm_activities'; $after !== null; ['cursor' => $after] = $box->finalize($after)) {
                self::assertStringStartsWith('crm_activities', $after);
            }
        };
        $finalize();
        $this->assertArrayNotHasKey('agents_waiting', World::$tables, 'there is nothing to count');
        $id = $this->made('crm_activities', self::meeting());
        $box->map()->put(new Entry('a', 'crm_activities', $id, str_repeat('0', 64)));
        $finalize();
        $finalize();
        $this->assertSame([
            'Bitrix\Crm\Agent\Activity\RecalculateAllUncompletedAgent::run();',
            'Bitrix\Crm\Agent\Activity\FillLightCounterTimeAgent::run();',
        ], array_column(World::$tables['agents_waiting'], 'NAME'), 'those that this box has');
        $this->assertSame([(int)$id], array_keys(World::$tables['crm_countable']));
    }

    public function testTheKernelsOwnWayWouldHaveBeenHeard(): void
    {
        $fields = self::mail();
        \CCrmActivity::Add($fields);
        \CCrmActivity::SaveBindings(1, [['OWNER_TYPE_ID' => 2, 'OWNER_ID' => 5]]);
        World::put('crm_act_incoming', ['ACTIVITY_ID' => 1]);
        \CCrmActivity::SaveBindings(1, [], false, false, false);
        World::endOfHit();
        $this->assertContains('a mail to the client', World::$noise);
        $this->assertContains('a counter', World::$noise);
        $this->assertContains('the owner 2:5 was changed, and its robots ran', World::$noise);
        $this->setUp();
    }

    private static function mail(array $fields = []): array
    {
        return $fields + [
            'OWNER' => self::DEAL, 'BINDINGS' => [self::DEAL, self::ITEM], 'TYPE_ID' => 4, 'PROVIDER_ID' => 'CRM_EMAIL',
            'PROVIDER_TYPE_ID' => 'EMAIL', 'SUBJECT' => 'Привет 😀', 'DESCRIPTION' => '<b>Текст 😀</b>',
            'DESCRIPTION_TYPE' => 3, 'CREATED' => '2019-02-03T04:05:06Z', 'LAST_UPDATED' => '2020-03-04T05:06:07Z',
            'START_TIME' => '2019-02-03T04:05:06Z', 'END_TIME' => '2019-02-03T04:05:06Z',
            'DEADLINE' => '2019-02-03T04:05:06Z', 'COMPLETED' => true, 'STATUS' => 2, 'RESPONSIBLE_ID' => '12',
            'AUTHOR_ID' => '14', 'EDITOR_ID' => null, 'PRIORITY' => 2, 'DIRECTION' => 2, 'LOCATION' => null,
            'COMMUNICATIONS' => [
                ['TYPE' => 'EMAIL', 'VALUE' => 'ann@client.example', 'owner' => self::CONTACT],
                ['TYPE' => 'EMAIL', 'VALUE' => 'bob@client.example', 'owner' => null],
            ],
            'SETTINGS' => ['MESSAGE_HEADERS' => ['Message-Id' => '<ABC@mail.example>'], 'EMAIL_META' => ['to' => ['a']]]
                + ['COUNT' => 5, 'SANITIZE_ON_VIEW' => 1],
            'PROVIDER_PARAMS' => null, 'FILES' => [], 'ORIGINATOR_ID' => null, 'ORIGIN_ID' => 'VI_callid.12',
            'IS_INCOMING_CHANNEL' => true,
        ];
    }

    private static function meeting(array $fields = []): array
    {
        return $fields + [
            'OWNER' => self::DEAL, 'BINDINGS' => [self::DEAL], 'TYPE_ID' => 1, 'PROVIDER_ID' => 'CRM_MEETING',
            'SUBJECT' => 'Встреча', 'CREATED' => '2019-02-03T04:05:06Z', 'LAST_UPDATED' => '2020-03-04T05:06:07Z',
            'START_TIME' => '2026-12-01T10:00:00Z', 'END_TIME' => '2026-12-01T11:00:00Z',
            'DEADLINE' => '2026-12-01T10:00:00Z', 'COMPLETED' => false, 'STATUS' => 1, 'RESPONSIBLE_ID' => '12',
            'AUTHOR_ID' => '14', 'LOCATION' => 'Офис',
        ];
    }
}
