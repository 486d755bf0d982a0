<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** The methods of the contract on the real gateways: what a client would see of a box. */
final class RouterTest extends KernelCase
{
    private const ENTITIES = [
        'departments' => 'users',
        'users' => 'users',
        'groups' => 'groups',
        'group_members' => 'groups',
        'chats' => 'chats',
        'chat_messages' => 'chats',
        'feed_posts' => 'feed',
        'feed_comments' => 'feed',
    ];

    /** @param array<string, mixed> $body @return array<string, mixed> */
    private function ask(string $method, array $body): array
    {
        return (new Router($this->box))->answer("import.$method", json_encode($body, JSON_THROW_ON_ERROR));
    }

    /** @param array<string, mixed> $fields @return array<string, mixed> */
    private function send(string $stream, array $fields, int $number = 1): array
    {
        $digest = hash('sha256', serialize($fields));
        $item = ['key' => "source:$stream:$number", 'digest' => $digest, 'fields' => $fields];
        $body = ['stream' => $stream, 'run' => 'r', 'dry_run' => false, 'items' => [$item]];
        return $this->ask(self::ENTITIES[$stream] . '.batch', $body)['items'][0];
    }

    /** One record of each stream, each below the one before. @return array<string, array<string, mixed>> fields */
    private function everything(): array
    {
        $sent = [];
        $make = function (string $stream, array $fields) use (&$sent): string {
            $answer = $this->send($stream, $fields);
            self::assertSame('created', $answer['status'], json_encode($answer));
            $sent[$stream] = $fields;
            return $answer['id'];
        };
        $file = $this->upload('photo.jpg', 'bytes of a photo');
        $department = $make('departments', ['NAME' => 'Sales', 'PARENT' => '1', 'SORT' => 10]);
        $ann = $make('users', ['NAME' => 'Ann', 'EMAIL' => 'ann@example.org', 'ACTIVE' => true,
            'UF_DEPARTMENT' => [$department], 'DATE_REGISTER' => '2020-01-31', 'PERSONAL_PHOTO' => $file]);
        $group = $make('groups', ['NAME' => 'Sales', 'OWNER_ID' => $ann, 'DATE_CREATE' => '2024-03-01T09:00:00Z',
            'DATE_ACTIVITY' => '2024-04-01T09:00:00Z', 'IMAGE' => $file]);
        $make('group_members', ['GROUP_ID' => $group, 'USER_ID' => '1', 'ROLE' => 'K']);
        $chat = $make('chats', ['type' => 'chat', 'name' => 'Plans', 'owner' => $ann, 'users' => [$ann, '1'],
            'manager_list' => [$ann], 'date_create' => '2024-03-01T09:00:00Z']);
        $make('chat_messages', ['chat_id' => $chat, 'author_id' => $ann, 'date' => '2024-03-02T09:00:00Z',
            'text' => 'Hello', 'files' => [$file]]);
        $post = $make('feed_posts', ['TITLE' => 'News', 'DETAIL_TEXT' => 'We moved', 'AUTHOR_ID' => $ann,
            'DATE_PUBLISH' => '2024-03-02T09:00:00Z', 'DEST' => ["SG$group"], 'FILES' => [$file]]);
        $make('feed_comments', ['post_id' => $post, 'author_id' => '1', 'date' => '2024-03-03T09:00:00Z',
            'text' => 'Oh']);
        return $sent;
    }

    private function upload(string $name, string $content): string
    {
        return $this->ask('files.put', [
            'key' => "source:file:$name",
            'name' => $name,
            'size' => strlen($content),
            'sha256' => hash('sha256', $content),
            'offset' => 0,
            'content' => base64_encode($content),
        ])['id'];
    }

    public function testWhatWasSentIsListedAndSendingItAgainChangesNothing(): void
    {
        foreach ($this->everything() as $stream => $fields) {
            self::assertSame('unchanged', $this->send($stream, $fields)['status'], $stream);
            $page = ['stream' => $stream, 'after' => '', 'limit' => 500, 'keys' => null];
            $listed = $this->ask(self::ENTITIES[$stream] . '.list', $page);
            self::assertSame(1, $listed['count'], $stream);
            self::assertHolds($fields, (array)$listed['items'][0]['fields']);
        }
    }

    public function testAllOfItCanBeUndoneFromTheLastToTheFirst(): void
    {
        $before = array_map('count', World::$tables);
        $sent = $this->everything();
        foreach (['departments', 'users', 'groups', 'chats', 'feed_posts'] as $needed) {
            self::assertSame('kept', $this->undo($needed)['status'], $needed);
        }
        foreach (array_reverse(array_keys($sent)) as $stream) {
            self::assertSame(['deleted', null], array_values(array_slice($this->undo($stream), 1)), $stream);
        }
        foreach (['users', 'sections'] as $table) {
            self::assertCount($before[$table], World::$tables[$table]);
        }
        foreach (['groups', 'chats', 'relations', 'messages', 'posts', 'comments', 'log', 'log_comments'] as $table) {
            self::assertSame([], World::$tables[$table], $table);
        }
    }

    /** @return array<string, mixed> */
    private function undo(string $stream): array
    {
        $body = ['stream' => $stream, 'keys' => ["source:$stream:1"], 'dry_run' => false];
        return $this->ask(self::ENTITIES[$stream] . '.delete', $body)['items'][0];
    }

    public function testWhatSomebodyChangedIsKept(): void
    {
        $this->everything();
        World::$tables['messages'][array_key_first(World::$tables['messages'])]['MESSAGE'] = 'edited';
        self::assertSame('kept', $this->undo('chat_messages')['status']);
    }

    public function testAPersonWhoseAddressIsTakenIsRefusedAndLeavesNoTrace(): void
    {
        $this->everything();
        $before = World::$tables;
        $answer = $this->send('users', ['NAME' => 'Other', 'EMAIL' => 'ANN@example.org'], 2);
        self::assertSame('DUPLICATE_EMAIL', $answer['error']['code']);
        self::assertSame($before, World::$tables);
    }

    public function testWhenTheKernelRefusesInTheMiddleNothingIsLeft(): void
    {
        $ann = $this->person();
        $before = World::$tables;
        World::$options['socialnetwork']['userblogpost_page'] = '';
        $post = ['AUTHOR_ID' => $ann, 'DATE_PUBLISH' => '2024-03-02T09:00:00Z', 'DETAIL_TEXT' => 'x'];
        $broken = ['TAGS' => ['x'], 'FILES' => ['999']];
        $answer = $this->send('feed_posts', $broken + $post);
        self::assertSame('FILE_NOT_FOUND', $answer['error']['code']);
        self::assertSame($before, World::$tables);
        self::assertSame('created', $this->send('feed_posts', $post)['status']);
    }

    public function testAnAttemptThatDiedIsTakenUp(): void
    {
        $fields = ['NAME' => 'Sales', 'OWNER_ID' => '1', 'DATE_CREATE' => '2024-03-01T09:00:00Z'];
        $left = $this->made('groups', $fields, 'source:groups:1');
        $this->box->map->put(new \B24migrate\Import\Port\Entry('source:groups:1', 'groups', null, 'digest'));
        self::assertSame($left, $this->send('groups', $fields)['id']);
        self::assertCount(1, World::$tables['groups']);
    }

    /** @return list<array{string}> */
    public function streams(): array
    {
        return array_map(fn(string $stream) => [$stream], array_diff(array_keys(self::ENTITIES), ['departments']));
    }

    /** @dataProvider streams */
    public function testWhatSomebodyDeletedOnTheBoxIsToldInsteadOfUpdated(string $stream): void
    {
        $this->expectExceptionMessage('somebody has deleted this record');
        $this->records($stream)->update('12345', []);
    }

    public function testADepartmentWithoutAParentIsTheRootThatIsThere(): void
    {
        $answer = $this->send('departments', ['NAME' => 'Head office', 'PARENT' => null]);
        self::assertSame(['created', '1'], [$answer['status'], $answer['id']]);
        self::assertSame('Company', World::row('sections', 1)['NAME']);
    }
}
