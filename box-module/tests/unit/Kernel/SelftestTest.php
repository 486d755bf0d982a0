<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Door;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Main\Application;

/** All gateways together, from the method to the tables of the kernel and back. */
final class SelftestTest extends KernelCase
{
    /** What the kernel sweeps together with a record, and what stays on any box: the storage, a subject of groups. */
    private const HANGS = [
        'members', 'crm_status', 'crm_stage_history', 'task_members', 'labels', 'task_tags', 'topics', 'attached',
        'uf:FORUM_MESSAGE', 'uf:BLOG_POST', 'uf:BLOG_COMMENT', 'chat_index', 'recents', 'log_rights', 'storages',
        'subjects', 'blogs',
    ];

    protected function setUp(): void
    {
        parent::setUp();
        MapTable::createTable();
    }

    /** @return list<array{string}> */
    public static function versions(): array
    {
        return [['25.600.0'], ['25.950.0']];
    }

    /** @dataProvider versions */
    public function testAWorldOfItsOwnComesIsComparedAndGoes(string $version): void
    {
        World::$versions['tasks'] = $version;
        $before = self::rows();
        $checks = $this->checks();
        self::assertSame([], self::failed($checks));
        self::assertSame($before, self::rows());
        foreach (['groups (same name)', 'crm_stages (behind the final one)', 'crm_deals', 'chats (channel)'] as $name) {
            self::assertArrayHasKey($name, $checks);
        }
        self::assertStringContainsString('closedate', $checks['crm_deals']['detail']);
        self::assertStringContainsString('files', $checks['task_comments']['detail']);
        foreach (['mails', 'notifications', 'agents', 'robots and workflows', 'cleanup'] as $name) {
            self::assertTrue($checks[$name]['ok'], $name);
        }
    }

    public function testWhatASelfTestThatDiedHasLeftGoesFirst(): void
    {
        $before = self::rows();
        $box = new KernelBox();
        $door = new Door($box);
        $key = 'b24migrate:selftest:';
        $person = ['NAME' => 'Selftest', 'EMAIL' => 'selftest@b24migrate.invalid'];
        $user = self::sent($door, 'users', "{$key}users", $person);
        $group = ['NAME' => 'b24migrate selftest', 'OWNER_ID' => $user, 'DATE_CREATE' => '2019-02-03T04:05:06Z'];
        self::sent($door, 'groups', "{$key}groups", $group);
        // it died as soon as the box had made the group
        $box->map()->put(new Entry("{$key}groups", 'groups', null, str_repeat('0', 64)));
        self::assertSame([], self::failed($this->checks()));
        self::assertSame($before, self::rows());
    }

    public function testTwoOfThemAtOnceAreRefused(): void
    {
        $connection = Application::getConnection();
        $connection->lock('b24migrate_' . md5('selftest'));
        try {
            $this->expectExceptionMessage('Another self-test runs');
            $this->checks();
        } finally {
            $connection->unlock('b24migrate_' . md5('selftest'));
        }
    }

    public function testWhatItsRecordsStartIsHeardAndWhatOthersStartIsNot(): void
    {
        World::put('mail_queue', ['EVENT_NAME' => 'OLD', 'C_FIELDS' => ['EMAIL' => 'selftest@b24migrate.invalid']]);
        $heard = (new KernelBox())->listen();
        World::put('mail_queue', ['EVENT_NAME' => 'USER_INVITE', 'C_FIELDS' => ['EMAIL' => 'a@b24migrate.invalid']]);
        World::put('mail_queue', ['EVENT_NAME' => 'OTHER', 'C_FIELDS' => ['EMAIL' => 'ann@example.org']]);
        World::put('agents_waiting', ['NAME' => 'Tasks\\Reminder::send(77);']);
        World::put('agents_waiting', ['NAME' => 'Tasks\\Reminder::send(770);']);
        World::put('workflows', ['MODULE_ID' => 'crm', 'DOCUMENT_ID' => 'DEAL_88']);
        World::put('workflows', ['MODULE_ID' => 'crm', 'DOCUMENT_ID' => 'DEAL_89']);
        World::put('chats', ['ID' => 5, 'TYPE' => 'S']);
        World::put('relations', ['CHAT_ID' => 5, 'USER_ID' => 66, 'MESSAGE_TYPE' => 'S']);
        World::put('messages', ['CHAT_ID' => 5, 'AUTHOR_ID' => 0, 'MESSAGE' => 'You were invited']);
        self::assertSame([
            'mails' => ['USER_INVITE'],
            'notifications' => ['You were invited'],
            'agents' => ['Tasks\\Reminder::send(77);'],
            'robots and workflows' => ['DEAL_88'],
        ], $heard(['users' => ['66'], 'tasks' => ['77'], 'crm_deals' => ['88']]));
    }

    public function testWhatItFoundIsKeptOnTheBoxForTheNextCall(): void
    {
        $rule = ['stream' => 'crm_deals', 'field' => 'closedate', 'keeping' => 'lost', 'reason' => 'No room.'];
        (new KernelBox())->keepFindings([$rule]);
        self::assertContains($rule, (new Door(new KernelBox()))->answer('import.fidelity', '{}')['rules']);
        self::assertSame([], self::failed($this->checks()));
        self::assertNotContains($rule, (new Door(new KernelBox()))->answer('import.fidelity', '{}')['rules']);
    }

    private static function sent(Door $door, string $entity, string $key, array $fields): string
    {
        $items = [['key' => $key, 'digest' => str_repeat('0', 64), 'fields' => $fields]];
        $body = (string)json_encode(['stream' => $entity, 'items' => $items]);
        return $door->answer("import.$entity.batch", $body)['items'][0]['id'];
    }

    private function checks(): array
    {
        $told = (new Door(new KernelBox()))->answer('import.selftest', '{}');
        self::assertSame(['checks'], array_keys($told));
        return array_column($told['checks'], null, 'name');
    }

    private static function failed(array $checks): array
    {
        return array_column(array_filter($checks, static fn(array $check) => !$check['ok']), 'detail', 'name');
    }

    /** @return array<string, int> how many rows are in each table */
    private static function rows(): array
    {
        $tables = array_diff_key(World::$tables, array_flip(self::HANGS));
        // the root of a storage, or of a chat, stays
        $tables['objects'] = array_filter($tables['objects'] ?? [], static fn(array $row) => $row['NAME'] !== '/');
        return array_filter(array_map('count', $tables));
    }
}
