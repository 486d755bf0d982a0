<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\Rows;
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

    /** @return list<int> copies in the folder of the chat */
    private static function shared(string $id): array
    {
        $rows = Rows::matching('params', ['MESSAGE_ID' => $id, 'PARAM_NAME' => 'FILE_ID']);
        return array_map('intval', array_column($rows, 'PARAM_VALUE'));
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
        self::assertEmpty(array_intersect(self::shared($id), $files), 'they are copies');
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

    public function testParametersThatTheKernelDoesNotListAreReadBackAllTheSame(): void
    {
        $params = ['CLASS' => 'x', 'REPLY_ID' => '5', 'URL_ID' => ['7', '8'], 'DEEP' => ['a' => []]];
        $id = $this->made('chat_messages', $this->message(['params' => $params]));
        self::assertEquals($params, $this->now('chat_messages', $id)['params']);
        $next = ['REPLY_ID' => '6', 'DEEP' => ['a' => ['b' => 'c']]];
        $this->records('chat_messages')->update($id, ['params' => $next]);
        self::assertEquals($next, $this->now('chat_messages', $id)['params']);
    }

    public function testAnEmptyObjectAmongTheParametersIsNoReasonToStumble(): void
    {
        $id = $this->made('chat_messages', $this->message(['params' => ['ATTACH' => new \stdClass(), 'CLASS' => 'x']]));
        self::assertSame(['CLASS' => 'x'], $this->now('chat_messages', $id)['params']);
    }

    public function testTheSystemSpeaksInADialogToo(): void
    {
        $dialog = $this->made('chats', ['type' => 'private', 'users' => ['1', $this->ann]], 'source:chats:2');
        $id = $this->made('chat_messages', $this->message(['chat_id' => $dialog, 'author_id' => '0']));
        self::assertHolds(['author_id' => '0', 'text' => 'Hello'], $this->now('chat_messages', $id));
        $this->records('chat_messages')->update($id, $this->message(['chat_id' => $dialog, 'author_id' => '0']));
        self::assertSame('0', $this->now('chat_messages', $id)['author_id']);
        self::assertContains(World::row('messages', $id)['AUTHOR_ID'], [1, (int)$this->ann], 'the kernel needs one');
    }

    public function testADialogStandsWhereItsLastMessagePutsItOnceAllIsThere(): void
    {
        $dialog = $this->made('chats', ['type' => 'private', 'users' => ['1', $this->ann]], 'source:chats:2');
        $this->made('chat_messages', $this->message(['chat_id' => $dialog]));
        $this->records('chats')->settle((int)$dialog);
        $dates = array_map(Dates::utc(...), array_column(World::$tables['recents'], 'MESSAGE_DATE'));
        self::assertSame(array_fill(0, 2, $this->message()['date']), array_values($dates));
    }

    public function testANumberOfAFileInATextAttachesNothingOfThisBox(): void
    {
        $id = $this->made('chat_messages', $this->message(['text' => 'See [DISK=17] and [disk file id=n3]']));
        self::assertSame('See [DISK=17] and [disk file id=n3]', $this->now('chat_messages', $id)['text']);
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
        [$free, $used] = self::shared($id);
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
        self::assertSame([], Rows::matching('params', ['MESSAGE_ID' => $id]));
    }
}
