<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class ChatsTest extends KernelCase
{
    private string $ann;
    private string $bob;

    protected function setUp(): void
    {
        parent::setUp();
        [$this->ann, $this->bob] = [$this->person('ann'), $this->person('bob')];
    }

    /** @param array<string, mixed> $more @return array<string, mixed> */
    private function chat(array $more = []): array
    {
        return $more + [
            'type' => 'chat',
            'name' => 'Plans',
            'description' => 'What we do',
            'owner' => $this->ann,
            'manager_list' => [$this->ann],
            'users' => [$this->ann, $this->bob],
            'date_create' => '2024-03-01T09:00:00Z',
            'color' => '#df532d',
            'avatar' => null,
            'entity_type' => null,
            'entity_id' => null,
        ];
    }

    public function testAChatArrivesWithItsPeopleAndWithoutAGreeting(): void
    {
        $chat = $this->chat(['avatar' => $this->file('us.png')]);
        $id = $this->made('chats', $chat);
        self::assertHolds($chat, $this->now('chats', $id));
        self::assertCount(2, World::$tables['relations'], 'the owner is there once');
        self::assertArrayNotHasKey('messages', World::$tables);
        self::assertSame('RED', World::row('chats', $id)['COLOR']);
    }

    public function testAChatWithoutANameStaysWithoutOne(): void
    {
        $id = $this->made('chats', $this->chat(['name' => null, 'owner' => null, 'manager_list' => []]));
        self::assertHolds(['name' => null, 'owner' => null, 'manager_list' => []], $this->now('chats', $id));
    }

    public function testTwoPeopleHaveOneDialog(): void
    {
        $private = $this->chat(['type' => 'private', 'name' => null, 'description' => null, 'manager_list' => []]);
        $id = $this->made('chats', $private);
        self::assertHolds($private, $this->now('chats', $id));
        self::assertSame($id, $this->made('chats', $private, 'source:chat:2'));
        $this->expectException(ItemFault::class);
        $this->made('chats', $this->chat(['type' => 'private', 'users' => ['1', $this->ann, $this->bob]]));
    }

    public function testADialogWithAGuestIsMadeThoughTheKernelShowsHimNobody(): void
    {
        World::$options['im']['guests'] = 'Y';
        $private = ['type' => 'private', 'owner' => null, 'users' => [$this->ann, $this->bob]];
        $id = $this->made('chats', $private);
        self::assertHolds(['type' => 'private', 'users' => [$this->ann, $this->bob]], $this->now('chats', $id));
        self::assertSame($id, $this->made('chats', $private, 'source:chats:2'), 'there is one, whoever asks');
    }

    public function testAChannelIsAmongTheRecentOnesOfItsPeople(): void
    {
        $id = $this->made('chats', $this->chat(['type' => 'channel']));
        $said = ['chat_id' => $id, 'author_id' => $this->ann, 'date' => '2024-03-01T10:00:00Z', 'text' => 'x'];
        $this->made('chat_messages', $said, 'source:chat_messages:1');
        $this->records('chats')->settle((int)$id);
        self::assertEqualsCanonicalizing(
            [(int)$this->ann, (int)$this->bob],
            array_column(World::$tables['recents'] ?? [], 'USER_ID')
        );
    }

    public function testAChatIsFoundByTheNamesOfItsPeople(): void
    {
        $id = $this->made('chats', $this->chat());
        $people = [(int)$this->ann, (int)$this->bob];
        self::assertEqualsCanonicalizing($people, World::$tables['chat_index'][(int)$id]);
        $this->records('chats')->update($id, ['users' => [$this->ann, $this->bob, '1']]);
        self::assertEqualsCanonicalizing([...$people, 1], World::$tables['chat_index'][(int)$id]);
    }

    public function testAnAvatarThatTheBoxRefusesIsTold(): void
    {
        $file = $this->file('us.png');
        World::$tables['objects'][(int)$file]['NAME'] = '.htaccess';
        $this->expectExceptionMessage('avatar: the box does not take the file .htaccess');
        $this->made('chats', $this->chat(['avatar' => $file]));
    }

    public function testTheChatThatTheBoxMadeForAGroupIsTakenOnce(): void
    {
        $own = World::put('chats', ['TYPE' => 'C', 'ENTITY_TYPE' => 'SONET_GROUP', 'ENTITY_ID' => '5', 'TITLE' => 'x',
            'AUTHOR_ID' => 1, 'AVATAR' => null, 'COLOR' => '', 'DESCRIPTION' => '', 'DATE_CREATE' => World::now()]);
        $chat = $this->chat(['type' => 'sonetGroup', 'entity_type' => 'SONET_GROUP', 'entity_id' => '5']);
        $id = $this->made('chats', $chat);
        self::assertSame((string)$own, $id);
        self::assertHolds($chat, $this->now('chats', $id));
        $this->records('chats')->update($id, ['users' => [$this->ann]]);
        self::assertContains($this->bob, $this->now('chats', $id)['users'], 'who is in it is the group\'s affair');
        $this->box->map->put(new Entry('source:x:1', 'chats', $id, 'd'));
        self::assertNotSame($id, $this->made('chats', $chat, 'source:chat:2'));
    }

    public function testAnUpdateSeatsExactlyThePeopleItNames(): void
    {
        $id = $this->made('chats', $this->chat());
        $next = $this->chat(['users' => [$this->bob], 'manager_list' => [$this->bob], 'owner' => $this->bob]);
        $this->records('chats')->update($id, $next);
        self::assertHolds($next, $this->now('chats', $id));
        $this->records('chats')->update($id, ['name' => 'Other']);
        self::assertHolds(['name' => 'Other'] + $next, $this->now('chats', $id));
    }

    public function testWhoLeavesTheChatOfADealLosesHisPlace(): void
    {
        $about = ['entity_type' => 'CRM', 'entity_id' => 'DEAL|5'];
        $id = $this->made('chats', $this->chat($about));
        $this->records('chats')->update($id, $this->chat(['users' => [$this->ann]] + $about));
        self::assertSame([$this->ann], $this->now('chats', $id)['users']);
    }

    public function testTheChatOfAGroupStaysAsLongAsTheGroup(): void
    {
        $group = $this->made('groups', ['NAME' => 'Sales', 'OWNER_ID' => '1']);
        $id = $this->made('chats', $this->chat(['entity_type' => 'SONET_GROUP', 'entity_id' => $group]));
        self::assertSame('it is the chat of a group', $this->records('chats')->reasonToKeep($id));
        $this->records('groups')->delete($group);
        self::assertNull($this->records('chats')->reasonToKeep($id));
    }

    public function testWhenAllIsThereTheChatCountsAndHasBeenRead(): void
    {
        $id = $this->made('chats', $this->chat());
        foreach (['one', 'two', 'three'] as $text) {
            $message = ['chat_id' => $id, 'author_id' => $this->bob, 'date' => '2024-03-01T10:00:00Z', 'text' => $text];
            $last = $this->made('chat_messages', $message, "source:chat:msg:$text");
        }
        self::assertSame('there are messages in it', $this->records('chats')->reasonToKeep($id));
        $this->records('chats')->settle((int)$id);
        $this->records('chats')->settle((int)$id);
        $before = World::$calls;
        $this->records('chats')->settle(12345);
        self::assertSame($before, World::$calls, 'one that somebody has deleted is passed over');
        $counted = ['MESSAGE_COUNT' => 3, 'LAST_MESSAGE_ID' => (int)$last, 'USER_COUNT' => 2];
        self::assertHolds($counted, World::row('chats', $id));
        $folder = World::calls('CIMDisk::ChangeFolderMembers')[0];
        self::assertEquals([(int)$id, [$this->ann, $this->bob]], $folder);
        self::assertSame([(int)$last, (int)$last], array_column(World::$tables['relations'], 'LAST_ID'));
        self::assertSame([(int)$id], array_values(array_unique(array_column(World::$tables['recents'], 'ENTITY_ID'))));
        $dates = array_map(Dates::utc(...), array_column(World::$tables['recents'], 'MESSAGE_DATE'));
        self::assertSame(['2024-03-01T10:00:00Z'], array_values(array_unique($dates)));
    }

    public function testADeletedChatLeavesNobodyBehind(): void
    {
        $id = $this->made('chats', $this->chat());
        self::assertNull($this->records('chats')->reasonToKeep($id));
        $this->records('chats')->delete($id);
        self::assertSame([], World::$tables['relations']);
        self::assertFalse($this->records('chats')->has($id));
    }
}
