<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\{Box, Records};
use Bitrix\Im\Model\{ChatTable, MessageTable};
use Bitrix\Im\V2\Chat;
use Bitrix\Im\V2\Chat\ChatFactory;
use Bitrix\Main\ModuleManager;
use Bitrix\Tasks\Internals\Task\MemberTable;
use Bitrix\Tasks\Internals\TaskTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Comments on tasks where they are messages in the chat of the task: tasks from 25.700. A task must never have a second
 * chat, so the kernel is asked for the one; how it answers is to be checked on a real box.
 */
final class TaskChatComments extends Gateway
{
    protected const TABLE = MessageTable::class;
    /** A chat must be there for all before the next may look for it, and not only when a transaction ends. */
    protected const ATOMIC = false;
    private const SINCE = '25.700.0';
    private const ENTITY = 'TASKS_TASK';

    private readonly Records $messages;

    public function __construct(Box $box, string $stream)
    {
        parent::__construct($box, $stream);
        $this->messages = $box->records('chat_messages');
    }

    public static function areUsed(): bool
    {
        return version_compare((string)ModuleManager::getVersion('tasks'), self::SINCE, '>=');
    }

    public static function chatOf(int $task): ?int
    {
        $filter = ['=ENTITY_TYPE' => self::ENTITY, '=ENTITY_ID' => (string)$task];
        return (int)(self::findRows(ChatTable::class, ['ID'], $filter)[0]['ID'] ?? 0) ?: null;
    }

    /** Whether users have written messages there. */
    public static function areOn(int $task): bool
    {
        return self::rowExists(MessageTable::class, ['=CHAT_ID' => (int)self::chatOf($task), '>AUTHOR_ID' => 0]);
    }

    public function read(array $ids): array
    {
        $found = $this->messages->read($ids);
        $chats = array_unique(array_map('intval', array_column($found, 'chat_id')));
        $filter = ['@ID' => $chats, '=ENTITY_TYPE' => self::ENTITY];
        $rows = self::findRows(ChatTable::class, ['ID', 'ENTITY_ID'], $filter);
        $tasks = array_map('strval', array_column($rows, 'ENTITY_ID', 'ID'));
        $said = array_flip(['author_id', 'date', 'text', 'files']);
        return array_map(static fn(array $message): array => array_intersect_key($message, $said)
            + ['task_id' => $tasks[$message['chat_id']] ?? null], $found);
    }

    public function create(string $key, array $fields): string
    {
        $task = (int)$fields['task_id'];
        $chat = self::chatOf($task)
            ?? $this->box->guard()->withLock("chat:$task", fn() => self::chatOf($task) ?? $this->newChat($task));
        $message = ['chat_id' => (string)$chat] + $fields;
        return $this->box->guard()->inTransaction(fn() => $this->messages->create($key, $message));
    }

    public function update(string $id, array $fields): void
    {
        $this->messages->update($id, array_diff_key($fields, ['task_id' => true]));
    }

    public function delete(string $id): void
    {
        $this->messages->delete($id);
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        return $this->firstWithoutKey(self::findRows(MessageTable::class, ['ID'], [
            '=CHAT_ID' => (int)self::chatOf((int)$fields['task_id']),
            '=AUTHOR_ID' => (int)$fields['author_id'],
            '=DATE_CREATE' => Dates::moment($fields['date']),
        ]));
    }

    private function newChat(int $task): int
    {
        if (!defined(Chat::class . '::IM_TYPE_EXTERNAL') || !method_exists(ChatFactory::class, 'addUniqueChat')) {
            throw new ItemFault('CHAT_NOT_FOUND', 'task_id', "task_id: task $task has no chat yet, and the module "
                . 'does not know how this version of the box makes one');
        }
        $row = self::findRow(TaskTable::class, ['TITLE', 'CREATED_BY'], $task);
        $members = MemberTable::getList(['select' => ['USER_ID'], 'filter' => ['=TASK_ID' => $task]])->fetchAll();
        $result = self::mustSucceed(ChatFactory::getInstance()->addUniqueChat([
            'TITLE' => $row['TITLE'],
            'TYPE' => Chat::IM_TYPE_EXTERNAL,
            'ENTITY_TYPE' => self::ENTITY,
            'ENTITY_ID' => $task,
            'USERS' => array_values(array_unique(array_map('intval', array_column($members, 'USER_ID')))),
            'AUTHOR_ID' => (int)$row['CREATED_BY'],
            'SKIP_ADD_MESSAGE' => 'Y',
        ]));
        return (int)$result->getResult()['CHAT_ID'];
    }
}
