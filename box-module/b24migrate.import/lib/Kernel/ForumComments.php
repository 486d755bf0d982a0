<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Forum\Comments\Feed;
use Bitrix\Forum\MessageTable;
use Bitrix\Tasks\Integration\Forum\Task\Comment;
use Bitrix\Tasks\Internals\TaskTable;

/** Comments on tasks where they are posts in a forum: tasks before 25.700. */
final class ForumComments extends Gateway
{
    private const FIELDS = [
        'author_id' => ['AUTHOR_ID', 'int'],
        'date' => ['POST_DATE', 'moment'],
        'text' => ['POST_MESSAGE', 'text'],
    ];
    private const FILES = 'UF_FORUM_MESSAGE_DOC';
    private const ENTITY = 'FORUM_MESSAGE';

    /** Whether people have said something there: the first post of a topic and those with a service are the kernel's. */
    public static function areOn(int $task): bool
    {
        $topic = self::topic($task);
        $rows = self::all(MessageTable::class, ['ID', 'NEW_TOPIC', 'SERVICE_TYPE'], ['=TOPIC_ID' => $topic]);
        $said = static fn(array $row): bool => ($row['NEW_TOPIC'] ?? 'N') !== 'Y' && empty($row['SERVICE_TYPE']);
        return $topic > 0 && array_filter($rows, $said) !== [];
    }

    public function has(string $id): bool
    {
        return self::exists(MessageTable::class, $id);
    }

    public function read(array $ids): array
    {
        $columns = ['ID', 'TOPIC_ID', 'AUTHOR_ID', 'POST_DATE', 'POST_MESSAGE'];
        $rows = self::all(MessageTable::class, $columns, ['@ID' => array_map('intval', $ids)]);
        $tasks = $this->tasks(array_unique(array_map('intval', array_column($rows, 'TOPIC_ID'))));
        $found = [];
        foreach ($rows as $row) {
            $fields = (new Columns(self::FIELDS))->fromKernel($row);
            $fields['text'] = trim((string)$row['POST_MESSAGE']) === '' ? null : $row['POST_MESSAGE'];
            $fields['author_id'] = (string)(int)$row['AUTHOR_ID'];
            $fields['task_id'] = isset($tasks[$row['TOPIC_ID']]) ? (string)$tasks[$row['TOPIC_ID']] : null;
            $found[(string)$row['ID']] = $fields + ['files' => $this->files((int)$row['ID'])];
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $task = (int)$fields['task_id'];
        $about = ['type' => 'TK', 'id' => $task, 'xml_id' => "TASK_$task"];
        $feed = new Feed(Comment::getForumId(), $about, (int)$fields['author_id']);
        // AUX without data: no mail, and no event from which others would notify, log and count.
        $comment = $feed->addComment([
            'POST_MESSAGE' => self::text($fields),
            'POST_DATE' => Dates::moment($fields['date']),
            'USE_SMILES' => 'Y',
            'AUX' => 'Y',
            self::FILES => array_map(Files::attachment(...), $fields['files'] ?? []),
        ]);
        if (!$comment) {
            $errors = array_map(static fn($error) => self::plain((string)$error->getMessage()), $feed->getErrors());
            throw new ItemFault('VALIDATION', null, implode("\n", $errors) ?: 'the box does not take this comment');
        }
        // The kernel dates some comments with now whatever it is told; to be checked on a real box.
        $row = ['AUTHOR_ID' => (int)$fields['author_id'], 'POST_DATE' => Dates::moment($fields['date'])];
        try {
            $this->setRow((int)$comment['ID'], $row);
        } catch (ItemFault $fault) {
            $this->delete((string)$comment['ID']);
            throw $fault;
        }
        return (string)$comment['ID'];
    }

    public function update(string $id, array $fields): void
    {
        self::present(self::one(MessageTable::class, ['ID'], $id));
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        if (array_key_exists('text', $fields)) {
            $row = ['POST_MESSAGE' => self::text($fields), 'POST_MESSAGE_HTML' => ''] + $row;
        }
        $this->setRow((int)$id, $row);
        if (array_key_exists('files', $fields)) {
            $files = array_map(Files::attachment(...), $fields['files'] ?? []);
            $GLOBALS['USER_FIELD_MANAGER']->Update(self::ENTITY, (int)$id, [self::FILES => $files], $this->actor());
        }
    }

    public function delete(string $id): void
    {
        \CForumMessage::Delete((int)$id);
    }

    /** The first comment makes a topic, and every one of them counts in several tables. */
    public function atomic(): bool
    {
        return false;
    }

    public function trace(string $key, array $fields): ?string
    {
        $topic = self::topic((int)$fields['task_id']);
        $rows = self::all(MessageTable::class, ['ID', 'POST_MESSAGE'], [
            '=TOPIC_ID' => $topic,
            '=AUTHOR_ID' => (int)$fields['author_id'],
            '=POST_DATE' => Dates::moment($fields['date']),
        ]);
        $same = array_filter($rows, static fn($row) => $row['POST_MESSAGE'] === self::text($fields));
        return $topic === 0 ? null : $this->keyless('task_comments', array_values($same));
    }

    private static function topic(int $task): int
    {
        return (int)(self::one(TaskTable::class, ['FORUM_TOPIC_ID'], $task)['FORUM_TOPIC_ID'] ?? 0);
    }

    /** A comment of nothing but files has no text, and the forum wants one. @param array<string, mixed> $fields */
    private static function text(array $fields): string
    {
        $text = (string)($fields['text'] ?? '');
        return $text === '' ? ' ' : $text;
    }

    /** @param list<int> $topics @return array<int, int> by topic */
    private function tasks(array $topics): array
    {
        $rows = $topics === []
            ? []
            : self::all(TaskTable::class, ['ID', 'FORUM_TOPIC_ID'], ['@FORUM_TOPIC_ID' => $topics]);
        return array_column($rows, 'ID', 'FORUM_TOPIC_ID');
    }

    /** @param array<string, mixed> $row */
    private function setRow(int $id, array $row): void
    {
        $row === [] || $this->mustSucceed(MessageTable::update($id, $row));
    }

    /** @return list<string> */
    private function files(int $id): array
    {
        $field = $GLOBALS['USER_FIELD_MANAGER']->GetUserFields(self::ENTITY, $id)[self::FILES] ?? [];
        return Files::attachedTo((array)($field['VALUE'] ?? []));
    }
}
