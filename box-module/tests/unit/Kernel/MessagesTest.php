<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class MessagesTest extends KernelCase
{
    private string $chat;
    private string $ann;

    protected function setUp(): void
    {
        parent::setUp();
        $this->ann = $this->person();
        $this->chat = $this->made('chats', ['type' => 'chat', 'name' => 'x', 'owner' => '1', 'users' => ['1']]);
    }

    /** @param array<string, mixed> $more @return array<string, mixed> */
    private function message(array $more = []): array
    {
        return $more + [
            'chat_id' => $this->chat,
            'author_id' => $this->ann,
            'date' => '2024-03-31T00:30:00Z',
            'text' => 'Hello',
            'params' => ['CLASS' => 'x'],
            'files' => [],
        ];
    }

    public function testAMessageArrivesWithItsAuthorAndDateSilently(): void
    {
        $id = $this->made('chat_messages', $this->message());
        self::assertHolds($this->message(), $this->now('chat_messages', $id));
        self::assertSame([], World::$tables['unread']);
        [[$told]] = World::calls('CIMMessenger::Add');
        self::assertHolds(['CONVERT' => 'Y', 'PUSH' => 'N', 'RECENT_ADD' => 'N', 'SYSTEM' => 'N'], $told);
    }

    public function testWhatTheKernelMakesOfATextIsPutRight(): void
    {
        $mentions = ["[USER={$this->ann}]Ann[/USER], look", "[user={$this->ann} replace]A[/user]"];
        foreach ([...$mentions, str_repeat('ё', 20001), ''] as $at => $text) {
            $id = $this->made('chat_messages', $this->message(['text' => $text]), "source:chat:msg:$at");
            self::assertSame($text === '' ? null : $text, $this->now('chat_messages', $id)['text']);
        }
    }

    public function testAMessageOfWhichNoTextWasSentHasNone(): void
    {
        $id = $this->made('chat_messages', array_diff_key($this->message(), ['text' => 1]));
        self::assertNull($this->now('chat_messages', $id)['text']);
    }

    public function testTheSystemSpeaksAsTheSystem(): void
    {
        $id = $this->made('chat_messages', $this->message(['author_id' => '0', 'params' => new \stdClass()]));
        self::assertSame('0', $this->now('chat_messages', $id)['author_id']);
        self::assertEquals(new \stdClass(), $this->now('chat_messages', $id)['params']);
        self::assertSame('Y', World::calls('CIMMessenger::Add')[0][0]['SYSTEM']);
    }

    /** @testWith [""]
     *            ["25.0.100"]
     */
    public function testFilesAreSharedWithTheChatInOrder(string $version): void
    {
        World::$versions['im'] = $version;
        $files = [$this->file('b.txt'), $this->file('a.txt')];
        $id = $this->made('chat_messages', $this->message(['files' => $files, 'text' => null]));
        self::assertSame($files, $this->now('chat_messages', $id)['files']);
        self::assertEmpty(array_intersect(World::$tables['params'][(int)$id]['FILE_ID'], $files), 'they are copies');
        $this->records('chat_messages')->update($id, $this->message(['files' => [$files[1]]]));
        self::assertHolds(['files' => [$files[1]], 'text' => 'Hello'], $this->now('chat_messages', $id));
    }

    public function testAnUpdateSetsAndClears(): void
    {
        $id = $this->made('chat_messages', $this->message());
        $next = $this->message(['text' => null, 'params' => ['IS_DELETED' => 'Y'], 'date' => '2024-04-01T00:00:00Z']);
        $this->records('chat_messages')->update($id, $next);
        self::assertHolds($next, $this->now('chat_messages', $id));
        self::assertSame([], World::$noise);
    }

    public function testParametersThatGoLeaveTheFilesWhereTheyAre(): void
    {
        $files = [$this->file()];
        $id = $this->made('chat_messages', $this->message(['files' => $files, 'params' => null]));
        $this->records('chat_messages')->update($id, $this->message(['files' => $files, 'params' => null]));
        self::assertSame($files, $this->now('chat_messages', $id)['files']);
    }

    public function testATimeAmongTheParametersIsTold(): void
    {
        $id = $this->made('chat_messages', $this->message());
        World::$tables['params'][(int)$id]['CHAT_LAST_DATE'] = World::now();
        self::assertSame(World::NOW, $this->now('chat_messages', $id)['params']['CHAT_LAST_DATE']);
    }

    public function testABoxWithoutAPushServerSaysWhyFilesCannotBeShared(): void
    {
        World::$options['pull']['off'] = 'Y';
        $this->expectExceptionMessage('push server');
        $this->made('chat_messages', $this->message(['files' => [$this->file()]]));
    }

    public function testReactionsAreToldToBeLost(): void
    {
        self::assertSame(['reactions'], array_keys($this->records('chat_messages')->losses()));
    }

    public function testTheCopiesOfItsFilesGoWithAMessageUnlessTheyAreUsedElsewhere(): void
    {
        $files = [$this->file('a.txt'), $this->file('b.txt')];
        $id = $this->made('chat_messages', $this->message(['files' => $files]));
        [$free, $used] = World::$tables['params'][(int)$id]['FILE_ID'];
        World::put('attached', ['OBJECT_ID' => $used]);
        $this->records('chat_messages')->delete($id);
        $there = array_map($this->records('files')->has(...), array_map('strval', [$free, $used, ...$files]));
        self::assertSame([false, true, true, true], $there);
    }

    public function testADeletedMessageGoesWithoutAWord(): void
    {
        $id = $this->made('chat_messages', $this->message());
        $this->records('chat_messages')->delete($id);
        self::assertFalse($this->records('chat_messages')->has($id));
        self::assertArrayNotHasKey((int)$id, World::$tables['params']);
    }
}
