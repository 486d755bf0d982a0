<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Disk\Internals\ObjectTable;
use Bitrix\Im\Model\{ChatTable, MessageParamTable, MessageTable, RelationTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Messages of chats. They are shown in order of their ids, so they must come in the order they were written in. */
final class ChatMessages extends Gateway
{
    protected const TABLE = MessageTable::class;
    protected const LOSSES = [
        'reactions' => 'The source reports only the number of reactions; the box needs their authors.',
    ];
    protected const APPROXIMATIONS = [
        'params' => 'Values become texts of at most 100 characters. Keyboards and menus of bots are not migrated.',
    ];
    protected const FIELDS = [
        'id' => 'chat_id',
        'author' => 'author_id',
        'moment' => 'date:DATE_CREATE',
        'text' => 'text:MESSAGE',
    ];

    /** What the kernel notes about a word of the system in a dialog, whose author is one of the two all the same. */
    private const PRIVATE_SYSTEM = 'private_system';

    /**
     * No pull, push, counters, events, bots: what the kernel's own import sets. A dialog moves to the top of the recent
     * ones all the same, dated now, until `import.finalize`.
     */
    private const SILENT = [
        'URL_PREVIEW' => 'N',
        'PUSH' => 'N',
        'RECENT_ADD' => 'N',
        'SKIP_COMMAND' => 'Y',
        'SKIP_USER_CHECK' => 'Y',
        'CONVERT' => 'Y',
    ];

    public function create(string $key, array $fields): string
    {
        $chat = (int)$fields['chat_id'];
        $author = (int)$fields['author_id'];
        $files = array_map(fn(string $id) => $this->copyToChat($chat, $author, $id), $fields['files'] ?? []);
        $type = self::findRow(ChatTable::class, ['TYPE'], $chat)['TYPE'] ?? 'C';
        // The kernel notifies mentioned people, and attaches the box's file of this number: `restore` adds the tags.
        $text = (string)preg_replace('/\[\/?(USER|CHAT|DISK)\b[^\]]*\]/i', '', (string)($fields['text'] ?? ''));
        $message = [
            // The kernel refuses an empty one, such as the source has where a message was deleted.
            'MESSAGE' => $text === '' ? '-' : $text,
            'MESSAGE_DATE' => Dates::text($fields['date']),
            // The kernel refuses a message without an author in a dialog: there the system speaks as one of the two.
            'FROM_USER_ID' => $author === 0 && $type === 'P' ? self::memberOf($chat) : $author,
            'TO_CHAT_ID' => $chat,
            'MESSAGE_TYPE' => $type,
            'SYSTEM' => $author === 0 ? 'Y' : 'N',
            'FILES' => $files,
            'PARAMS' => self::plainParams($fields),
        ];
        $id = (int)\CIMMessenger::Add($message + self::SILENT)
            ?: throw self::refusal('the box does not take this message');
        $this->restore($id, $fields + ['text' => null]);
        $this->attach($id, $files);
        // Some kernels count it as unread even so.
        self::deleteRows('Bitrix\Im\Model\MessageUnreadTable', ['=CHAT_ID' => $chat, '=MESSAGE_ID' => $id]);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist($this->read([$id])[$id] ?? null);
        $this->restore((int)$id, $fields);
        if (array_key_exists('params', $fields)) {
            // What is set to nothing is deleted; to set nothing at all would delete everything, the files too.
            $sent = self::plainParams($fields);
            $next = $sent + array_fill_keys(array_keys(array_diff_key((array)$now['params'], $sent)), []);
            $next === [] || \CIMMessageParam::Set((int)$id, $next);
        }
        if (array_key_exists('files', $fields) && ($fields['files'] ?? []) !== $now['files']) {
            $share = fn(string $file) => $this->copyToChat((int)$now['chat_id'], (int)$now['author_id'], $file);
            $this->attach((int)$id, array_map($share, $fields['files'] ?? []));
        }
    }

    public function delete(string $id): void
    {
        $copies = self::fileIds(self::params([(int)$id])[(int)$id] ?? []);
        // CIMMessenger::Delete would tell everybody who has the chat open.
        \CIMMessageParam::DeleteAll((int)$id);
        self::mustSucceed(MessageTable::delete((int)$id));
        $files = $this->box->records('files');
        foreach (array_map('strval', $copies) as $copy) {
            $files->reasonToKeep($copy) === null && $files->delete($copy);
        }
    }

    protected function loadRows(array $ids): array
    {
        $params = self::params($ids);
        $shared = array_map('intval', array_merge([], ...array_values(array_map(self::fileIds(...), $params))));
        $rows = self::findRows(ObjectTable::class, ['ID', 'FILE_ID'], ['@ID' => $shared]);
        $origins = array_column(Files::withOrigins($rows, 'FILE_ID'), 'FILE_ID', 'ID');
        return array_map(function (array $row) use ($params, $origins): array {
            $own = $params[(int)$row['ID']] ?? [];
            $files = array_map(fn(mixed $id) => $origins[(int)$id] ?? null, self::fileIds($own));
            return $row + ['params' => $own, 'files' => array_values(array_filter($files))];
        }, parent::loadRows($ids));
    }

    protected function toFields(array $row): array
    {
        $others = array_diff_key($row['params'], ['FILE_ID' => 1, 'LIKE' => 1]);
        $others = array_map(static fn(array $values) => count($values) === 1 ? $values[0] : $values, $others);
        $system = ($row['NOTIFY_EVENT'] ?? '') === self::PRIVATE_SYSTEM ? ['author_id' => '0'] : [];
        return $system + parent::toFields($row)
            + ['params' => $others === [] ? new \stdClass() : $others, 'files' => $row['files']];
    }

    /**
     * The kernel reads what it is given: it takes mentions out that somebody may not see, cuts long texts, and shifts
     * times by the zone of the caller. In the end the message is what was sent.
     */
    private function restore(int $id, array $fields): void
    {
        $row = self::columns()->toKernel(array_diff_key($fields, ['chat_id' => 1]));
        $now = self::findRow(MessageTable::class, ['AUTHOR_ID', 'DATE_CREATE', 'MESSAGE', 'NOTIFY_EVENT'], $id);
        if (($now['NOTIFY_EVENT'] ?? '') === self::PRIVATE_SYSTEM && (int)($row['AUTHOR_ID'] ?? -1) === 0) {
            unset($row['AUTHOR_ID']);
        }
        $differs = fn(mixed $value, string $name) => $name === 'DATE_CREATE'
            ? Dates::utc($value) !== Dates::utc($now[$name] ?? null)
            : (string)$value !== (string)($now[$name] ?? '');
        $row = array_filter($row, $differs, ARRAY_FILTER_USE_BOTH);
        $row === [] || self::mustSucceed(MessageTable::update($id, $row));
    }

    /** @param list<int> $files copies in the folder of the chat; not every kernel has put them where they belong */
    private function attach(int $id, array $files): void
    {
        $there = array_map('intval', self::fileIds(self::params([$id])[$id] ?? []));
        $there === $files || \CIMMessageParam::Set($id, ['FILE_ID' => $files]);
    }

    private static function fileIds(array $params): array
    {
        return $params['FILE_ID'] ?? [];
    }

    /**
     * From their table: the kernel's own list leaves out names that it does not know, replies and forwards among them.
     *
     * @return array<int, array<string, list<mixed>>> values by message and name
     */
    private static function params(array $ids): array
    {
        $columns = ['ID', 'MESSAGE_ID', 'PARAM_NAME', 'PARAM_VALUE', 'PARAM_JSON'];
        $values = [];
        foreach (self::findRows(MessageParamTable::class, $columns, ['@MESSAGE_ID' => $ids]) as $row) {
            $value = (string)$row['PARAM_JSON'] === '' ? $row['PARAM_VALUE'] : json_decode($row['PARAM_JSON'], true);
            $values[(int)$row['MESSAGE_ID']][$row['PARAM_NAME']][] = $value;
        }
        return $values;
    }

    /** Without objects, on which the kernel stumbles: {} among them is []. */
    private static function plainParams(array $fields): array
    {
        return (array)json_decode((string)json_encode($fields['params'] ?? []), true);
    }

    private static function memberOf(int $dialog): int
    {
        $relations = self::findRows(RelationTable::class, ['ID', 'USER_ID'], ['=CHAT_ID' => $dialog]);
        return (int)($relations[0]['USER_ID'] ?? 0);
    }

    /** A copy in the folder of the chat, which its members may open. */
    private function copyToChat(int $chat, int $author, string $file): int
    {
        $folder = \CIMDisk::GetFolderModel($chat);
        if (!$folder) {
            throw new ItemFault('VALIDATION', 'files', 'files: chats have no disk on this box; is its push server on?');
        }
        $copy = Files::copy($file);
        $data = ['NAME' => $copy['name'], 'CREATED_BY' => $author ?: self::actor()];
        $shared = $folder->uploadFile($copy, $data, [], true);
        return (int)$shared?->getId() ?: throw new \RuntimeException('the disk does not take a file of the chat');
    }
}
