<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\OwnersCase;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Crm\Service\Timeline\Monitor;
use Bitrix\Crm\Timeline\Entity\TimelineBindingTable;

/** Comments, notes and entries of applications. */
final class CrmTimelineTest extends OwnersCase
{
    private const TABLES = [
        'crm_timeline', 'crm_timeline_bind', 'crm_notes', 'search of timeline', 'uf:CRM_TIMELINE',
    ];
    private const INVOICE = ['ownerTypeId' => 31, 'ownerId' => '310000000004'];
    private const BY = [
        'createdById' => '12', 'updatedById' => '13', 'createdTime' => '2019-02-03T04:05:06Z',
        'updatedTime' => '2020-03-04T05:06:07Z',
    ];

    public function testACommentIsReadBackAsItWasSentAndNobodyIsTold(): void
    {
        $comment = self::comment(['FILES' => [$this->file('a.pdf'), $this->file('b.pdf')]]);
        $id = $this->made('crm_comments', $comment);
        $this->assertKept('crm_comments', $id, $comment);
        $row = World::row('crm_timeline', $id);
        $this->assertSame([7, 0, ['HAS_FILES' => 'Y']], [$row['TYPE_ID'], $row['TYPE_CATEGORY_ID'], $row['SETTINGS']]);
        $this->assertStringContainsString(':f09f9880:', $row['COMMENT']);
        $this->assertArrayHasKey($id, World::$tables['search of timeline']);
        $this->assertTrue($this->records('crm_comments')->has($id));
    }

    public function testACommentChangesWithItsRecordsAndFiles(): void
    {
        $id = $this->made('crm_comments', self::comment(['FILES' => [$this->file('a.pdf')]]));
        $now = self::comment([
            'OWNERS' => [self::CONTACT, self::INVOICE, self::ITEM], 'COMMENT' => null, 'FILES' => [],
            'AUTHOR_ID' => '14', 'CREATED' => '2018-01-01T00:00:00Z',
        ]);
        $this->records('crm_comments')->update($id, $now);
        $this->assertKept('crm_comments', $id, $now);
        $this->assertSame(['HAS_FILES' => 'N'], World::row('crm_timeline', $id)['SETTINGS']);
        $this->records('crm_comments')->update($id, ['COMMENT' => 'текст']);
        $this->assertKept('crm_comments', $id, ['COMMENT' => 'текст'] + $now);
    }

    public function testTheTextOfACommentIsCutWhereTheColumnEnds(): void
    {
        $gateway = $this->records('crm_comments');
        $id = $gateway->create('a', self::comment(['COMMENT' => str_repeat('я', 40000)]));
        $this->assertSame(['COMMENT'], $gateway->leftOut());
        $this->assertSame(str_repeat('я', 32767), $gateway->read([$id])[$id]['COMMENT']);
    }

    public function testANoteKeepsItsPeopleAndTimesAndIsTheOnlyOne(): void
    {
        $comment = $this->made('crm_comments', self::comment());
        $ofComment = ['commentId' => $comment, 'text' => 'Важно'] + self::BY;
        $ofActivity = ['activityId' => $comment, 'text' => 'Позвонить'] + self::BY;
        foreach ([$ofComment, $ofActivity] as $note) {
            $id = $this->made('crm_notes', $note);
            $this->assertEqualsCanonicalizing($note, $this->now('crm_notes', $id));
            $this->records('crm_notes')->update($id, ['text' => 'Иначе', 'updatedById' => null] + $note);
            $this->assertKept('crm_notes', $id, ['text' => 'Иначе'] + $note);
        }
        $this->assertSame('it has a note', $this->records('crm_comments')->reasonToKeep($comment));
        $this->assertSame('it has a note', $this->records('crm_activities')->reasonToKeep($comment));
        try {
            $this->made('crm_notes', $ofComment);
            self::fail('two of them');
        } catch (ItemFault $fault) {
            $this->assertSame('somebody has written a note there on the box', $fault->getMessage());
        }
        $this->records('crm_notes')->delete($id);
        $this->assertNull($this->records('crm_activities')->reasonToKeep($comment));
        $bare = $this->made('crm_notes', ['activityId' => '77', 'text' => 'a']);
        $this->assertKept('crm_notes', $bare, ['createdById' => '1', 'updatedById' => '1']);
    }

    public function testAnEntryOfAnApplicationIsReadBackAndChanges(): void
    {
        $log = [
            'OWNER' => self::ITEM, 'title' => 'Заказ', 'text' => 'Отгружен', 'iconCode' => 'info', 'authorId' => '12',
            'created' => '2019-02-03T04:05:06Z',
        ];
        $id = $this->made('crm_logs', $log);
        $this->assertKept('crm_logs', $id, $log);
        $this->assertSame([17, 5], [
            World::row('crm_timeline', $id)['TYPE_ID'], World::row('crm_timeline', $id)['TYPE_CATEGORY_ID'],
        ]);
        $this->records('crm_logs')->update($id, ['title' => 'Возврат', 'OWNER' => self::DEAL]);
        $this->assertKept('crm_logs', $id, ['title' => 'Возврат', 'OWNER' => self::DEAL] + $log);
        $this->assertSame(["$id:2:5"], array_keys(World::$tables['crm_timeline_bind']));
        $this->assertFalse($this->records('crm_comments')->has($id));
        $this->assertSame([], $this->records('crm_comments')->read([$id]));
    }

    public function testAnUndoneImportLeavesNothing(): void
    {
        $comment = $this->made('crm_comments', self::comment(['FILES' => [$this->file()]]));
        $this->made('crm_notes', ['commentId' => $comment, 'text' => 'a'] + self::BY);
        $log = $this->made('crm_logs', ['OWNER' => self::DEAL, 'title' => 'a', 'created' => '2019-02-03T04:05:06Z']);
        $this->records('crm_comments')->delete($comment);
        $this->records('crm_logs')->delete($log);
        $this->assertSame([], self::rows(...self::TABLES));
    }

    public function testARecordStaysAsLongAsSomethingHappenedAroundIt(): void
    {
        $deals = $this->records('crm_deals');
        $this->assertNull($deals->reasonToKeep('5'));
        $comment = $this->made('crm_comments', self::comment());
        $this->assertSame('it has comments', $deals->reasonToKeep('5'));
        $this->assertNull($this->records('crm_spitems')->reasonToKeep(self::ITEM['ownerId']));
        $activity = $this->made('crm_activities', ['OWNER' => self::DEAL, 'BINDINGS' => [self::ITEM], 'TYPE_ID' => 6]);
        $this->assertSame('it has activities', $deals->reasonToKeep('5'));
        $this->assertSame('it has activities', $this->records('crm_spitems')->reasonToKeep(self::ITEM['ownerId']));
        $this->records('crm_activities')->delete($activity);
        $this->records('crm_comments')->delete($comment);
        $this->assertNull($deals->reasonToKeep('5'));
    }

    public function testWhatTheKernelItselfWouldDoIsHeard(): void
    {
        $id = $this->made('crm_comments', self::comment());
        TimelineBindingTable::deleteByOwner((int)$id);
        Monitor::getInstance()->process();
        $this->assertSame(['the owner 2:5 was changed, and its robots ran'], World::$noise);
        $this->setUp();
    }

    public function testABoxWithoutTheirTablesDoesNotServeThem(): void
    {
        $this->assertSame(
            ['crm_recurring', 'crm_calls', 'crm_activities', 'crm_comments', 'crm_notes', 'crm_logs'],
            array_values(array_filter(
                (new KernelBox())->streams(),
                static fn(string $name) => preg_match('/_(recurring|calls|activities|comments|notes|logs)$/', $name)
            ))
        );
        World::$versions['voximplant'] = 'missing';
        $this->assertNotContains('crm_calls', (new KernelBox())->streams());
        $needs = new class ($this->box, 'x') extends \B24migrate\Import\Kernel\Gateway {
            protected const NEEDS = ['Bitrix\Crm\Nowhere'];

            public function create(string $key, array $fields): string
            {
                return '';
            }

            public function update(string $id, array $fields): void
            {
            }

            public function delete(string $id): void
            {
            }
        };
        $this->assertFalse($needs::isPossible());
    }

    private static function comment(array $fields = []): array
    {
        return $fields + [
            'OWNERS' => [self::DEAL], 'AUTHOR_ID' => '13', 'CREATED' => '2019-02-03T04:05:06Z',
            'COMMENT' => 'Смотри [USER=12]Анна[/USER] 😀', 'FILES' => [],
        ];
    }
}
