<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\Records;
use Bitrix\Im\Model\ChatTable;
use Bitrix\Im\Model\MessageTable;
use Bitrix\Im\V2\Chat;
use Bitrix\Im\V2\Chat\ChatFactory;
use Bitrix\Main\ModuleManager;
use Bitrix\Tasks\Internals\Task\MemberTable;
use Bitrix\Tasks\Internals\TaskTable;

/**
 * Comments on tasks where they are messages in the chat of the task: tasks from 25.700. A task must never have a second
 * chat, so the kernel is asked for the one; how it answers is to be checked on a real box.
 */
final class ChatComments extends Gateway
{
    private const SINCE = '25.700.0';
    private const ENTITY = 'TASKS_TASK';

    private readonly Records $messages;

    public function __construct(Box $box)
    {
        parent::__construct($box);
        $this->messages = $box->records('chat_messages');
    }

    public static function areUsed(): bool
    {
        return version_compare((string)ModuleManager::getVersion('tasks'), self::SINCE, '>=');
    }

    public static function chatOf(int $task): ?int
    {
        $filter = ['=ENTITY_TYPE' => self::ENTITY, '=ENTITY_ID' => (string)$task];
        $chat = self::all(ChatTable::class, ['ID'], $filter)[0] ?? null;
        return $chat ? (int)$chat['ID'] : null;
    }

    /** Whether people have said something there. */
    public static function areOn(int $task): bool
    {
        return self::any(MessageTable::class, ['=CHAT_ID' => (int)self::chatOf($task), '>AUTHOR_ID' => 0]);
    }

    public function has(string $id): bool
    {
        return $this->messages->has($id);
    }

    public function read(array $ids): array
    {
        $found = $this->messages->read($ids);
        $chats = array_unique(array_map('intval', array_column($found, 'chat_id')));
        $filter = ['@ID' => $chats, '=ENTITY_TYPE' => self::ENTITY];
        $rows = $chats === [] ? [] : self::all(ChatTable::class, ['ID', 'ENTITY_ID'], $filter);
        $tasks = array_column($rows, 'ENTITY_ID', 'ID');
        return array_map(static fn(array $message): array => [
            'task_id' => isset($tasks[$message['chat_id']]) ? (string)$tasks[$message['chat_id']] : null,
            'author_id' => $message['author_id'],
            'date' => $message['date'],
            'text' => $message['text'],
            'files' => $message['files'],
        ], $found);
    }

    public function create(string $key, array $fields): string
    {
        $chat = self::chatOf((int)$fields['task_id']) ?? $this->newChat((int)$fields['task_id']);
        return $this->messages->create($key, ['chat_id' => (string)$chat] + $fields);
    }

    public function update(string $id, array $fields): void
    {
        $this->messages->update($id, array_diff_key($fields, ['task_id' => true]));
    }

    public function delete(string $id): void
    {
        $this->messages->delete($id);
    }

    public function atomic(): bool
    {
        return $this->messages->atomic();
    }

    public function trace(string $key, array $fields): ?string
    {
        $chat = self::chatOf((int)$fields['task_id']);
        return $chat === null ? null : $this->messages->trace($key, ['chat_id' => (string)$chat] + $fields);
    }

    private function newChat(int $task): int
    {
        if (!defined(Chat::class . '::IM_TYPE_EXTERNAL') || !method_exists(ChatFactory::class, 'addUniqueChat')) {
            throw new ItemFault('CHAT_NOT_FOUND', 'task_id', "task_id: task $task has no chat yet, and the module "
                . 'does not know how this version of the box makes one');
        }
        $row = self::one(TaskTable::class, ['TITLE', 'CREATED_BY'], $task);
        $members = MemberTable::getList(['select' => ['USER_ID'], 'filter' => ['=TASK_ID' => $task]])->fetchAll();
        $result = ChatFactory::getInstance()->addUniqueChat([
            'TITLE' => $row['TITLE'],
            'TYPE' => Chat::IM_TYPE_EXTERNAL,
            'ENTITY_TYPE' => self::ENTITY,
            'ENTITY_ID' => $task,
            'USERS' => array_values(array_unique(array_map('intval', array_column($members, 'USER_ID')))),
            'AUTHOR_ID' => (int)$row['CREATED_BY'],
            'SKIP_ADD_MESSAGE' => 'Y',
        ]);
        $this->mustSucceed($result);
        return (int)$result->getResult()['CHAT_ID'];
    }
}
