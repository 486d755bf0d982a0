<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Cli\Setup;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\Rows;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Crm\Service\Timeline\Monitor;
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

    private const PERSON = ['NAME' => 'Selftest', 'EMAIL' => 'selftest@b24migrate.invalid'];

    public static function setUpBeforeClass(): void
    {
        $folder = __DIR__ . '/../../../b24migrate.import/cli';
        require_once "$folder/Setup.php";
    }

    protected function setUp(): void
    {
        parent::setUp();
        MapTable::createTable();
        $final = ['ENTITY_ID' => 'STATUS', 'STATUS_ID' => 'JUNK', 'SEMANTICS' => 'F', 'NAME' => 'Junk', 'SORT' => 90];
        World::put('crm_status', $final);
        $won = ['ENTITY_ID' => 'QUOTE_STATUS', 'STATUS_ID' => 'APPROVED', 'SEMANTICS' => 'S'];
        World::put('crm_status', $won + $final);
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
        $some = [
            'groups (same name)', 'crm_stages (behind the final one)', 'crm_deals', 'chats (channel)', 'crm_calls',
            'crm_activities (open)', 'crm_notes (of a comment)', 'crm_logs', 'crm_recurring',
        ];
        self::assertSame([], array_diff($some, array_keys($checks)));
        self::assertStringContainsString('closedate', $checks['crm_deals']['detail']);
        self::assertStringContainsString('files', $checks['task_comments']['detail']);
        $silent = ['mails', 'notifications', 'agents', 'robots and workflows', 'counters', 'owners'];
        foreach ([...$silent, 'cleanup'] as $name) {
            self::assertTrue($checks[$name]['ok'], $name);
        }
    }

    public function testWhatASelfTestThatDiedHasLeftGoesFirst(): void
    {
        $before = self::rows();
        $box = new KernelBox();
        $door = new Router($box);
        $key = 'b24migrate:selftest:';
        $user = self::sent($door, 'users', "{$key}users", self::PERSON);
        $group = ['NAME' => 'b24migrate selftest', 'OWNER_ID' => $user, 'DATE_CREATE' => '2019-02-03T04:05:06Z'];
        self::sent($door, 'groups', "{$key}groups", $group);
        // it died as soon as the box had made the group
        $box->map()->put(new Entry("{$key}groups", 'groups', null, str_repeat('0', 64)));
        self::assertSame([], self::failed($this->checks()));
        self::assertSame($before, self::rows());
    }

    /**
     * @dataProvider quirks
     * @param \Closure(array<string, mixed>): array<string, mixed> $quirk what the box makes of rows of this table
     * @param list<string> $named checks that fail
     * @param list<string> $rules what fidelity tells before a run
     */
    public function testWhatThisBoxDoesNotKeepIsNamed(string $table, \Closure $quirk, array $named, array $rules): void
    {
        $before = self::rows();
        $known = self::fidelity();
        World::$quirks[$table] = $quirk;
        self::assertSame($named, array_keys(self::failed($this->checks())));
        self::assertSame($rules, array_values(array_diff(self::fidelity(), $known)));
        self::assertSame($before, self::rows(), 'it goes all the same');
        World::$quirks = [];
        self::assertSame([], self::failed($this->checks()), 'the box was repaired');
        self::assertSame($known, self::fidelity());
    }

    /** @return array<string, array{string, \Closure, list<string>, list<string>}> */
    public static function quirks(): array
    {
        $once = static function (array $row): array {
            $same = Rows::matching('groups', ['=NAME' => $row['NAME'], '!=ID' => $row['ID']]);
            return $same === [] ? $row : throw new \RuntimeException('There is such a group');
        };
        $early = static fn(array $row) => str_ends_with($row['STATUS_ID'] ?? '', ':B24M')
            ? ['SORT' => min(50, $row['SORT'])] + $row : $row;
        return [
            'a user' => [
                'users', static fn(array $row) => ['DATE_REGISTER' => World::now()] + $row,
                ['users.DATE_REGISTER', 'users (another).DATE_REGISTER'], ['users.DATE_REGISTER approximated'],
            ],
            'a group of a name that is there' => ['groups', $once, ['groups (same name)'], ['groups. approximated']],
            'a stage behind the final one' => [
                'crm_status', $early, ['crm_stages (behind the final one).SORT'], ['crm_stages.SORT approximated'],
            ],
            'a close date' => [
                'crm_2', static fn(array $row) => ['CLOSEDATE' => World::now()] + $row,
                ['crm_deals.closedate'], ['crm_deals.closedate approximated'],
            ],
            'a workflow template' => [
                'templates', static fn(array $row) => ['USER_ID' => 1] + $row,
                ['workflow_templates.USER_ID'], ['workflow_templates.USER_ID approximated'],
            ],
        ] + self::quirksOfTexts();
    }

    /** @return array<string, array{string, \Closure, list<string>, list<string>}> */
    private static function quirksOfTexts(): array
    {
        $without = static fn(string $column) => static fn(array $row) => array_diff_key($row, [$column => 1]);
        $signed = static fn(array $row) => ['NOTIFY_EVENT' => '', 'AUTHOR_ID' => $row['AUTHOR_ID'] ?: 1] + $row;
        $noChannel = static fn(array $row) => $row['TYPE'] === 'N' ? ['TYPE' => 'C'] + $row : $row;
        $noEmoji = static fn(string $column) => static fn(array $row)
            => [$column => strtr($row[$column] ?? '', ['😀' => '?', ':f09f9880:' => '?'])] + $row;
        $system = 'chat_messages (of the system, private)';
        return [
            'a file of a post' => [
                'uf:BLOG_POST', $without('UF_BLOG_POST_FILE'), ['feed_posts.FILES'], ['feed_posts.FILES lost'],
            ],
            'a file of a comment on a task' => [
                'uf:FORUM_MESSAGE', $without('UF_FORUM_MESSAGE_DOC'), ['task_comments.files'],
                ['task_comments.files lost'],
            ],
            'a word of the system between two' => [
                'messages', $signed, ["$system.author_id"], ['chat_messages.author_id approximated'],
            ],
            'a channel' => ['chats', $noChannel, ['chats (channel).type'], ['chats.type approximated']],
            'an emoji in a chat' => [
                'messages', $noEmoji('MESSAGE'),
                ['chat_messages.text', "$system.text", 'chat_messages (channel).text'],
                ['chat_messages.text approximated'],
            ],
            'an emoji in a forum' => [
                'forum_messages', $noEmoji('POST_MESSAGE'), ['task_comments.text'],
                ['task_comments.text approximated'],
            ],
        ];
    }

    /** @dataProvider noises */
    public function testWhatIsStartedIsNamed(string $table, \Closure $start, string $named, string $detail): void
    {
        World::$quirks[$table] = static function (array $row) use ($start): array {
            $start($row['ID']);
            return $row;
        };
        $failed = self::failed($this->checks());
        self::assertSame([$named], array_keys($failed));
        self::assertStringContainsString($detail, $failed[$named]);
    }

    /** @return array<string, array{string, \Closure, string, string}> */
    public static function noises(): array
    {
        $mail = ['EVENT_NAME' => 'USER_INVITE', 'C_FIELDS' => ['EMAIL' => 'selftest@b24migrate.invalid']];
        $notify = static function (int $user): void {
            World::put('chats', ['ID' => 5, 'TYPE' => 'S']);
            World::put('relations', ['CHAT_ID' => 5, 'USER_ID' => $user, 'MESSAGE_TYPE' => 'S']);
            World::put('messages', ['ID' => 6, 'CHAT_ID' => 5, 'AUTHOR_ID' => 0, 'MESSAGE' => 'You were invited']);
        };
        $remind = static fn(int $id) => World::put('agents_waiting', ['NAME' => "Reminder::send($id);"]);
        $run = static fn(int $id) => World::put('workflows', ['MODULE_ID' => 'crm', 'DOCUMENT_ID' => "DEAL_$id"]);
        $count = static fn(int $id) => World::put('user_counters', ['USER_ID' => $id, 'CODE' => 'crm_all', 'CNT' => 1]);
        $tell = static fn(int $id) => Monitor::getInstance()->tell(2, $id, true);
        return [
            'a mail' => ['users', static fn() => World::put('mail_queue', $mail), 'mails', 'USER_INVITE'],
            'a notification' => ['users', $notify, 'notifications', 'You were invited'],
            'an agent' => ['tasks', $remind, 'agents', 'Reminder::send('],
            'a robot' => ['crm_2', $run, 'robots and workflows', 'DEAL_'],
            'a counter' => ['users', $count, 'counters', 'crm_all'],
            'a change of an owner' => ['crm_2', $tell, 'owners', 'crm_deals '],
        ];
    }

    public function testUninstallingTakesAwayWhatASelfTestThatDiedHasLeft(): void
    {
        (new Setup([]))->perform();
        $before = self::rows();
        self::sent(new Router(new KernelBox()), 'users', 'b24migrate:selftest:users', self::PERSON);
        self::assertNotSame($before, self::rows());
        $told = (new Setup(['--uninstall']))->perform();
        self::assertSame('The module is uninstalled; its map is still there.', $told);
        self::assertCount(1, World::$tables['users'], 'the administrator');
        self::assertSame([], World::$tables[MapTable::getTableName()]);
    }

    public function testWhatTheBoxDoesNotLetGoIsNamedWhenTheModuleGoes(): void
    {
        (new Setup([]))->perform();
        self::sent(new Router(new KernelBox()), 'users', 'b24migrate:selftest:users', self::PERSON);
        World::$versions['intranet'] = 'missing';
        $told = (new Setup(['--uninstall', '--drop-map']))->perform();
        self::assertStringContainsString('Delete by hand what a self-test has left: users: ', $told);
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
        World::put('user_counters', ['USER_ID' => 66, 'CODE' => 'crm_all', 'CNT' => 1]);
        World::put('user_counters', ['USER_ID' => 66, 'CODE' => 'crm_cur_act', 'CNT' => 1]);
        World::put('user_counters', ['USER_ID' => 67, 'CODE' => 'crm_all', 'CNT' => 1]);
        Monitor::getInstance()->tell(2, 88, true);
        Monitor::getInstance()->tell(2, 89, true);
        self::assertSame([
            'mails' => ['USER_INVITE'],
            'notifications' => ['You were invited'],
            'agents' => ['Tasks\\Reminder::send(77);'],
            'robots and workflows' => ['DEAL_88'],
            'counters' => ['crm_all'],
            'owners' => ['crm_deals 88'],
        ], $heard(['users' => ['66'], 'tasks' => ['77'], 'crm_deals' => ['88']]));
    }

    public function testWhatItFoundIsKeptOnTheBoxForTheNextCall(): void
    {
        $rule = ['stream' => 'crm_deals', 'field' => 'closedate', 'keeping' => 'lost', 'reason' => 'No room.'];
        (new KernelBox())->keepFindings([$rule]);
        self::assertContains($rule, (new Router(new KernelBox()))->answer('import.fidelity', '{}')['rules']);
        self::assertSame([], self::failed($this->checks()));
        self::assertNotContains($rule, (new Router(new KernelBox()))->answer('import.fidelity', '{}')['rules']);
    }

    private static function sent(Router $door, string $entity, string $key, array $fields): string
    {
        $items = [['key' => $key, 'digest' => str_repeat('0', 64), 'fields' => $fields]];
        $body = (string)json_encode(['stream' => $entity, 'items' => $items]);
        return $door->answer("import.$entity.batch", $body)['items'][0]['id'];
    }

    private function checks(): array
    {
        $told = (new Router(new KernelBox()))->answer('import.selftest', '{}');
        self::assertSame(['checks'], array_keys($told));
        return array_column($told['checks'], null, 'name');
    }

    /** @return list<string> */
    private static function fidelity(): array
    {
        $told = (new Router(new KernelBox()))->answer('import.fidelity', '{}')['rules'];
        return array_map(static fn(array $rule) => "{$rule['stream']}.{$rule['field']} {$rule['keeping']}", $told);
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
