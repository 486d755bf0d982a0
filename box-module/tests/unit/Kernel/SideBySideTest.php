<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\Gateway;
use B24migrate\Import\Kernel\Groups;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\KernelGuard;
use B24migrate\Import\Tests\Kernel\FakeConnection;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** What two calls at the same time, or one that dies between two writes, could spoil. */
final class SideBySideTest extends KernelCase
{
    private const TASK = ['title' => 'x', 'createdBy' => '12', 'responsibleId' => '1'];
    private const COMMENT = ['author_id' => '12', 'date' => '2019-01-02T03:04:05Z', 'text' => 'Готово'];

    protected function tearDown(): void
    {
        FakeConnection::$locks = [];
        parent::tearDown();
    }

    /** @param array<string, mixed> $more */
    private function group(array $more = []): string
    {
        return $this->made('groups', $more + ['NAME' => 'Sales', 'OWNER_ID' => '1']);
    }

    private function assertLocked(string $name, callable $work): void
    {
        FakeConnection::$locks['b24migrate_' . md5($name)] = true;
        try {
            $work();
            self::fail("nobody minds $name");
        } catch (ItemFault $fault) {
            self::assertSame('LOCKED', $fault->fault);
        }
        FakeConnection::$locks = [];
    }

    public function testTwoDoNotPutTheDatesOfAGroupBackAtTheSameTime(): void
    {
        $group = $this->group();
        $member = ['GROUP_ID' => $group, 'USER_ID' => '5', 'ROLE' => 'K'];
        $post = ['AUTHOR_ID' => '1', 'DATE_PUBLISH' => '2024-03-02T09:00:00Z', 'DEST' => ["SG$group"]];
        $this->assertLocked("group:$group", fn() => $this->made('group_members', $member));
        $this->assertLocked("group:$group", fn() => $this->made('feed_posts', $post));
        self::assertSame([], World::$tables['posts'] ?? [], 'the lock comes before the first read of a transaction');
        self::assertTrue($this->records('group_members')->has($this->made('group_members', $member)));
    }

    public function testDatesThatNobodyMovedAreNotWrittenBack(): void
    {
        $group = $this->group();
        World::$calls = [];
        Groups::keepingDates([$group], fn() => null);
        self::assertSame([], World::calls('CSocNetGroup::Update'));
        $moved = World::now()->getTimestamp() + 60;
        Groups::keepingDates([$group], function () use ($group, $moved): void {
            $later = \Bitrix\Main\Type\DateTime::createFromTimestamp($moved);
            World::$tables['groups'][(int)$group]['DATE_ACTIVITY'] = $later;
        });
        $written = array_column(World::calls('CSocNetGroup::Update'), 1);
        self::assertSame([['DATE_UPDATE', 'DATE_ACTIVITY']], array_map('array_keys', $written));
        self::assertSame(World::NOW, $this->now('groups', $group)['DATE_ACTIVITY']);
    }

    public function testSeveralGroupsAreTakenInOneOrderByAll(): void
    {
        $seen = [];
        foreach ([['7', '12', '7'], ['12', '7']] as $groups) {
            Groups::keepingDates($groups, function () use (&$seen): void {
                $seen[] = array_keys(FakeConnection::$locks);
            });
        }
        self::assertSame($seen[0], $seen[1]);
        self::assertCount(2, $seen[0]);
        self::assertSame([], FakeConnection::$locks);
    }

    public function testAnOwnerWhoWasWrittenDownButNotCrownedIsCrownedByTheNextAttempt(): void
    {
        $group = $this->group();
        $ann = $this->person();
        World::$tables['groups'][(int)$group]['OWNER_ID'] = (int)$ann;
        $this->records('groups')->update($group, ['OWNER_ID' => $ann]);
        self::assertSame([1 => 'K', (int)$ann => 'A'], array_column(World::$tables['members'], 'ROLE', 'USER_ID'));
    }

    public function testSomebodysOwnGroupOfTheSameNameIsNotTakenForWhatAnAttemptLeft(): void
    {
        $this->group();
        self::assertNull($this->records('groups')->findLeftover('k', ['NAME' => 'Sales', 'OWNER_ID' => '1']));
    }

    public function testASubjectIsMadeByOneAtATime(): void
    {
        $this->group();
        $this->assertLocked('subjects', fn() => $this->group(['SUBJECT_NAME' => 'New']));
    }

    public function testTheFirstCommentOfATaskIsWrittenByOneAtATime(): void
    {
        foreach (['topic' => '25.600.0', 'chat' => '25.700.0'] as $word => $version) {
            World::$versions['tasks'] = $version;
            $box = new KernelBox();
            $task = $box->records('tasks')->create($word, self::TASK);
            $make = fn() => $box->records('task_comments')->create('a', ['task_id' => $task] + self::COMMENT);
            $this->assertLocked("$word:$task", $make);
            $make();
            FakeConnection::$locks['b24migrate_' . md5("$word:$task")] = true;
            self::assertTrue($box->records('task_comments')->has($make()), 'only the first one waits');
        }
    }

    public function testACommentInAChatThatNoKeyStandsForIsFoundAgain(): void
    {
        World::$versions['tasks'] = '25.700.0';
        $box = new KernelBox();
        $task = $box->records('tasks')->create('t', self::TASK);
        $comment = ['task_id' => $task] + self::COMMENT;
        $comments = $box->records('task_comments');
        self::assertFalse($comments->isAtomic(), 'its chat must be there for others before the comment is');
        self::assertNull($comments->findLeftover('a', $comment));
        $id = $comments->create('a', $comment);
        self::assertSame($id, $comments->findLeftover('a', $comment));
        self::assertNull($comments->findLeftover('a', ['date' => '2019-01-02T03:04:06Z'] + $comment));
    }

    public function testAnUploadThatIsBegunAnewHasNothingOfTheOldOneWhenTheCallDies(): void
    {
        $shelf = $this->box->uploads();
        $shelf->begin('k', 'a.txt', 3, 'x');
        $shelf->append('k', 0, 'abc');
        $note = $this->folder . '/' . hash('sha256', 'k') . '.json';
        mkdir("$note.new");
        try {
            $shelf->begin('k', 'b.txt', 4, 'y');
            self::fail('it could not be noted');
        } catch (\RuntimeException $fault) {
            self::assertStringNotContainsString($this->folder, $fault->getMessage());
        }
        self::assertNull($shelf->upload('k'));
        rmdir("$note.new");
    }

    public function testWhereUploadsLieIsNotToldWhenTheyCannotBeWritten(): void
    {
        touch($this->folder);
        try {
            $this->box->uploads()->begin('k', 'a.txt', 3, 'x');
            self::fail('a file is no folder');
        } catch (\RuntimeException $fault) {
            self::assertSame('the upload cannot be written; is the disk full?', $fault->getMessage());
        }
        unlink($this->folder);
    }

    public function testWhatTheKernelSaidOfAnEarlierItemIsNotToldOfThisOne(): void
    {
        $GLOBALS['APPLICATION']->say('about something else');
        $this->expectExceptionMessage('no');
        (new KernelGuard())->withLock('x', fn() => throw Gateway::refusal('no'));
    }
}
