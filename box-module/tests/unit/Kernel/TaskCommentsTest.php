<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\TaskChatComments;
use B24migrate\Import\Kernel\TaskForumComments;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class TaskCommentsTest extends KernelCase
{
    private const COMMENT = ['author_id' => '12', 'date' => '2019-01-02T03:04:05Z', 'text' => 'Готово', 'files' => []];

    private KernelBox $real;
    private string $task;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
        $about = ['title' => 'x', 'createdBy' => '12', 'responsibleId' => '13'];
        $this->task = $this->real->records('tasks')->create('task', $about);
    }

    /** @return array<string, array{string, class-string}> */
    public function eras(): array
    {
        return ['forum' => ['25.600.0', TaskForumComments::class], 'chat' => ['25.700.0', TaskChatComments::class]];
    }

    /** @dataProvider eras */
    public function testACommentIsReadBackAsItWasSentInBothEras(string $version, string $gateway): void
    {
        World::$versions['tasks'] = $version;
        $comments = $this->real->records('task_comments');
        $this->assertInstanceOf($gateway, $comments);
        $comment = ['task_id' => $this->task] + self::COMMENT;
        $id = $comments->create('a', $comment);
        $this->assertEquals($comment, $comments->read([$id])[$id]);
        $comments->update($id, ['text' => 'Нет', 'date' => '2020-01-02T03:04:05Z'] + $comment);
        $this->assertSame(['Нет', '2020-01-02T03:04:05Z', '12'], [
            $comments->read([$id])[$id]['text'], $comments->read([$id])[$id]['date'],
            $comments->read([$id])[$id]['author_id'],
        ]);
        $comments->delete($id);
        $this->assertFalse($comments->has($id));
    }

    public function testAnUnmappedCommentOfADeadAttemptIsFoundAgain(): void
    {
        $comments = $this->real->records('task_comments');
        $comment = ['task_id' => $this->task] + self::COMMENT;
        $this->assertNull($comments->findLeftover('a', $comment));
        $id = $comments->create('a', $comment);
        $this->assertSame($id, $comments->findLeftover('a', $comment));
        $this->assertNull($comments->findLeftover('a', ['text' => 'other'] + $comment));
    }

    public function testACommentOfNothingButFilesHasNoTextAfterwardsEither(): void
    {
        $comments = $this->real->records('task_comments');
        $id = $comments->create('a', ['task_id' => $this->task, 'text' => null] + self::COMMENT);
        $this->assertNull($comments->read([$id])[$id]['text']);
    }

    public function testTheSystemSpeaksInTheForumToo(): void
    {
        $comments = $this->real->records('task_comments');
        $id = $comments->create('a', ['task_id' => $this->task, 'author_id' => '0'] + self::COMMENT);
        self::assertHolds(['author_id' => '0', 'text' => 'Готово'], $comments->read([$id])[$id]);
    }

    /** The forum refuses what was said just before. */
    public function testTwoCommentsThatSayTheSameArriveBoth(): void
    {
        $comments = $this->real->records('task_comments');
        foreach (['Готово', 'Готово', null, null] as $at => $text) {
            $id = $comments->create("k$at", ['task_id' => $this->task, 'text' => $text] + self::COMMENT);
            self::assertSame($text, $comments->read([$id])[$id]['text']);
        }
        self::assertCount(4, World::$tables['forum_messages']);
    }

    public function testFilesOfSomebodyWhoIsNoAdministratorArrive(): void
    {
        $comments = $this->real->records('task_comments');
        $comment = ['task_id' => $this->task, 'files' => [$this->file('a.txt'), $this->file('b.txt')]] + self::COMMENT;
        $id = $comments->create('a', $comment);
        self::assertSame($comment['files'], $comments->read([$id])[$id]['files']);
    }

    public function testEmojiAreReadBackAndADeadAttemptWithThemIsFound(): void
    {
        $comments = $this->real->records('task_comments');
        $comment = ['task_id' => $this->task, 'text' => 'Готово 😀'] + self::COMMENT;
        $id = $comments->create('a', $comment);
        self::assertSame('Готово 😀', $comments->read([$id])[$id]['text']);
        self::assertSame($id, $comments->findLeftover('a', $comment));
        $comments->update($id, ['text' => '👍']);
        self::assertSame('👍', $comments->read([$id])[$id]['text']);
    }

    public function testAnAttemptThatDiedBeforeItHadItsTextIsFoundByItsKey(): void
    {
        $comments = $this->real->records('task_comments');
        $comment = ['task_id' => $this->task] + self::COMMENT;
        $id = $comments->create('a', $comment);
        World::$tables['forum_messages'][(int)$id]['POST_MESSAGE'] = 'b24m_' . substr(hash('sha256', 'a'), 0, 40);
        self::assertSame($id, $comments->findLeftover('a', $comment));
        self::assertNull($comments->findLeftover('b', $comment));
    }

    public function testAtTheEndOldCommentsAreNoNewsAndDeadlinesAheadAreCounted(): void
    {
        $ahead = gmdate('Y-m-d\TH:i:s\Z', time() + 86400);
        $about = ['title' => 'x', 'createdBy' => '12', 'responsibleId' => '13', 'deadline' => $ahead];
        $tasks = ['a' => $this->task];
        $tasks['b'] = $this->real->records('tasks')->create('b', ['status' => '2'] + $about);
        $tasks['c'] = $this->real->records('tasks')->create('c', ['status' => '5'] + $about);
        $this->real->records('task_comments')->create('a', ['task_id' => $this->task] + self::COMMENT);
        World::put('viewed', ['TASK_ID' => (int)$this->task, 'USER_ID' => 12, 'VIEWED_DATE' => World::now()]);
        foreach ($tasks as $key => $id) {
            $this->real->map()->put(new Entry($key, 'tasks', $id, str_repeat('0', 64)));
        }
        for ($told = ['cursor' => '']; $told['cursor'] !== null;) {
            $told = $this->real->finalize($told['cursor']);
        }
        self::assertSame([12 => (int)$this->task, 13 => (int)$this->task], array_column(
            World::$tables['viewed'],
            'TASK_ID',
            'USER_ID'
        ));
        self::assertSame([(int)$tasks['b']], array_keys(World::$tables['agents'] ?? []));
    }

    public function testATaskHasOneChatWithItsPeople(): void
    {
        World::$versions['tasks'] = '25.950.0';
        $comments = $this->real->records('task_comments');
        $comments->create('a', ['task_id' => $this->task] + self::COMMENT);
        $comments->create('b', ['task_id' => $this->task] + self::COMMENT);
        $chats = array_values(World::$tables['chats']);
        $this->assertCount(1, $chats);
        $this->assertSame([12, 13], $chats[0]['USERS']);
        $this->assertSame('X', $chats[0]['TYPE']);
    }

    public function testTheChatsOfCommentsAndAllOthersAreSettledAtTheEnd(): void
    {
        World::$versions['tasks'] = '25.950.0';
        $people = ['type' => 'chat', 'owner' => '12', 'users' => ['12']];
        $chat = $this->real->records('chats')->create('chat', $people);
        $id = $this->real->records('chat_messages')->create('m', ['chat_id' => $chat] + self::COMMENT);
        $comment = $this->real->records('task_comments')->create('c', ['task_id' => $this->task] + self::COMMENT);
        foreach (['chats' => $chat, 'task_comments' => $comment] as $stream => $target) {
            $this->real->map()->put(new Entry("key:$stream", $stream, $target, str_repeat('0', 64)));
        }
        [$done, $cursor] = [0, ''];
        do {
            $told = $this->real->finalize($cursor);
            $done += $told['done'];
            $cursor = $told['cursor'];
        } while ($cursor !== null);
        $this->assertSame(2, $done);
        $this->assertSame((int)$id, World::row('chats', $chat)['LAST_MESSAGE_ID']);
        $this->assertSame([1, 1], array_column(World::$tables['chats'], 'MESSAGE_COUNT'));
    }

    public function testACursorOfAnotherMethodIsRefused(): void
    {
        $this->expectExceptionMessage('not a cursor');
        $this->real->finalize('nonsense');
    }
}
