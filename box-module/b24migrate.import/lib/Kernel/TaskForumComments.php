<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Forum\Comments\Feed;
use Bitrix\Forum\MessageTable;
use Bitrix\Main\Text\Emoji;
use Bitrix\Tasks\Integration\Forum\Task\Comment;
use Bitrix\Tasks\Internals\TaskTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Comments on tasks where they are posts in a forum: tasks before 25.700. */
final class TaskForumComments extends Gateway
{
    protected const TABLE = MessageTable::class;
    /** The first comment makes a topic, and every one of them counts in several tables. */
    protected const ATOMIC = false;
    protected const FIELDS = ['author' => 'author_id', 'moment' => 'date:POST_DATE', 'said' => 'text:POST_MESSAGE'];
    private const FILES = 'UF_FORUM_MESSAGE_DOC';
    private const ENTITY = 'FORUM_MESSAGE';
    private const SYSTEM = 'Bitrix24';

    /** Whether people have spoken there: the first post of a topic and those with a service are the kernel's. */
    public static function areOn(int $task): bool
    {
        $topic = self::topic($task);
        $rows = self::findRows(MessageTable::class, ['ID', 'NEW_TOPIC', 'SERVICE_TYPE'], ['=TOPIC_ID' => $topic]);
        $said = static fn(array $row): bool => ($row['NEW_TOPIC'] ?? 'N') !== 'Y' && empty($row['SERVICE_TYPE']);
        return $topic > 0 && array_filter($rows, $said) !== [];
    }

    public function create(string $key, array $fields): string
    {
        $task = (int)$fields['task_id'];
        $post = fn(): string => $this->post($key, $task, $fields);
        // The first comment makes the topic: two first ones would make two, and one of them would not be seen.
        $id = self::topic($task) > 0 ? $post() : $this->box->guard()->withLock("topic:$task", $post);
        try {
            // The kernel sets the current date for some comments despite POST_DATE; to be checked on a real box.
            $this->setRow($id, $fields + ['text' => null]);
            empty($fields['files']) || Files::attach(self::ENTITY, self::FILES, (int)$id, $fields['files']);
        } catch (ItemFault $fault) {
            $this->delete($id);
            throw $fault;
        }
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(MessageTable::class, ['ID'], $id));
        $this->setRow($id, $fields);
        if (array_key_exists('files', $fields)) {
            Files::attach(self::ENTITY, self::FILES, (int)$id, $fields['files']);
        }
    }

    public function delete(string $id): void
    {
        \CForumMessage::Delete((int)$id);
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $topic = self::topic((int)$fields['task_id']);
        $rows = self::findRows(MessageTable::class, ['ID', 'POST_MESSAGE'], [
            '=TOPIC_ID' => $topic,
            '=AUTHOR_ID' => (int)$fields['author_id'],
            '=POST_DATE' => Dates::moment($fields['date']),
        ]);
        $text = Emoji::encode(Columns::toColumn('said', $fields['text'] ?? null));
        $same = array_filter($rows, static fn($row) => $row['POST_MESSAGE'] === $text);
        // One that died before it had its text has no date of its own yet either.
        $stamped = ['=TOPIC_ID' => $topic, '=POST_MESSAGE' => self::stamp($key)];
        $begun = self::findRows(MessageTable::class, ['ID'], $stamped);
        return $topic === 0 ? null : $this->firstWithoutKey([...$begun, ...$same]);
    }

    protected function loadRows(array $ids): array
    {
        $rows = parent::loadRows($ids);
        $topics = array_unique(array_map('intval', array_column($rows, 'TOPIC_ID')));
        $about = self::findRows(TaskTable::class, ['ID', 'FORUM_TOPIC_ID'], ['@FORUM_TOPIC_ID' => $topics]);
        $tasks = array_map('strval', array_column($about, 'ID', 'FORUM_TOPIC_ID'));
        $files = Files::attachedFiles(self::ENTITY, self::FILES, $ids);
        return array_map(fn(array $row) => $row
            + ['task_id' => $tasks[$row['TOPIC_ID']] ?? null, 'files' => $files[(int)$row['ID']]], $rows);
    }

    protected function toFields(array $row): array
    {
        return ['task_id' => $row['task_id'], 'files' => $row['files']] + parent::toFields($row);
    }

    private static function topic(int $task): int
    {
        return (int)(self::findRow(TaskTable::class, ['FORUM_TOPIC_ID'], $task)['FORUM_TOPIC_ID'] ?? 0);
    }

    private function post(string $key, int $task, array $fields): string
    {
        $about = ['type' => 'TK', 'id' => $task, 'xml_id' => "TASK_$task"];
        $feed = new Feed(Comment::getForumId(), $about, (int)$fields['author_id']);
        $comment = $feed->addComment([
            // The forum refuses a text that the comment before has too; the text of this one follows.
            'POST_MESSAGE' => self::stamp($key),
            'POST_DATE' => Dates::moment($fields['date']),
            'USE_SMILES' => 'Y',
            // AUX without data: no mail, and no event from which others would notify, log and count.
            'AUX' => 'Y',
            // Names of people are looked up, and the system must have one.
        ] + ((int)$fields['author_id'] === 0 ? ['AUTHOR_NAME' => self::SYSTEM] : []));
        $errors = array_map(static fn($error) => self::plainText((string)$error->getMessage()), $feed->getErrors());
        return $comment
            ? (string)$comment['ID']
            : throw new ItemFault('VALIDATION', null, implode("\n", $errors) ?: 'the box does not take this comment');
    }

    private function setRow(string $id, array $fields): void
    {
        $row = self::columns()->toKernel($fields);
        if (isset($row['POST_MESSAGE'])) {
            $row = ['POST_MESSAGE' => Emoji::encode($row['POST_MESSAGE']), 'POST_MESSAGE_HTML' => ''] + $row;
        }
        $row === [] || self::mustSucceed(MessageTable::update((int)$id, $row));
    }
}
