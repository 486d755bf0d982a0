<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Disk\Internals\ObjectTable;
use Bitrix\Im\Model\ChatTable;
use Bitrix\Im\Model\MessageTable;
use Bitrix\Im\Model\MessageUnreadTable;
use Bitrix\Main\Type\Date;

/** Messages of chats. They are shown in order of their ids, so they must come in the order they were written in. */
final class Messages extends Gateway
{
    private const FIELDS = [
        'chat_id' => ['CHAT_ID', 'id'],
        'date' => ['DATE_CREATE', 'moment'],
        'text' => ['MESSAGE', 'text'],
    ];

    /** No pull, push, counters, events, bots: what the kernel's own import sets. */
    private const SILENT = [
        'URL_PREVIEW' => 'N',
        'PUSH' => 'N',
        'RECENT_ADD' => 'N',
        'SKIP_COMMAND' => 'Y',
        'SKIP_USER_CHECK' => 'Y',
        'CONVERT' => 'Y',
    ];

    public function losses(): array
    {
        return ['reactions' => 'The source tells how many people reacted; the box keeps who did, and cannot be told.'];
    }

    public function has(string $id): bool
    {
        return self::exists(MessageTable::class, $id);
    }

    public function read(array $ids): array
    {
        $ids = array_map('intval', $ids);
        $params = $ids === [] ? [] : (\CIMMessageParam::Get($ids) ?: []);
        $found = [];
        $columns = ['ID', 'CHAT_ID', 'AUTHOR_ID', 'DATE_CREATE', 'MESSAGE'];
        foreach (self::all(MessageTable::class, $columns, ['@ID' => $ids]) as $row) {
            $own = $params[(int)$row['ID']] ?? [];
            $others = array_diff_key($own, ['FILE_ID' => 1, 'LIKE' => 1]);
            $others = array_map(fn(mixed $one) => $one instanceof Date ? Dates::utc($one) : $one, $others);
            $found[(string)$row['ID']] = (new Columns(self::FIELDS))->fromKernel($row) + [
                'author_id' => (string)(int)$row['AUTHOR_ID'],
                'params' => $others === [] ? new \stdClass() : $others,
                'files' => $this->origins((array)($own['FILE_ID'] ?? [])),
            ];
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $chat = (int)$fields['chat_id'];
        $author = (int)$fields['author_id'];
        $files = array_map(fn(string $id) => $this->share($chat, $author, $id), $fields['files'] ?? []);
        // Whoever is mentioned would be told, so the tags come later, by `settle`.
        $text = (string)preg_replace('/\[\/?(USER|CHAT)\b[^\]]*\]/i', '', (string)($fields['text'] ?? ''));
        $message = [
            // The kernel refuses an empty one, such as the source has where a message was deleted.
            'MESSAGE' => $text === '' && $files === [] ? '-' : $text,
            'FROM_USER_ID' => $author,
            'TO_CHAT_ID' => $chat,
            'MESSAGE_TYPE' => self::one(ChatTable::class, ['TYPE'], $chat)['TYPE'] ?? 'C',
            'SYSTEM' => $author === 0 ? 'Y' : 'N',
            // Older kernels look for files among the parameters, newer ones here; `attach` looks at what came of it.
            'FILES' => $files,
            'PARAMS' => (array)($fields['params'] ?? []) + ($files === [] ? [] : ['FILE_ID' => $files]),
        ];
        $id = Dates::inServerTime(fn() => \CIMMessenger::Add(
            $message + ['MESSAGE_DATE' => Dates::text($fields['date'])] + self::SILENT
        ));
        if (!$id) {
            throw $this->refusal('the box does not take this message');
        }
        $this->settle((int)$id, $fields);
        $this->attach((int)$id, $files);
        // Some kernels count it as unread even so.
        if (method_exists('Bitrix\Im\Model\MessageUnreadTable', 'deleteByFilter')) {
            MessageUnreadTable::deleteByFilter(['=CHAT_ID' => $chat, '=MESSAGE_ID' => (int)$id]);
        }
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::present($this->read([$id])[$id] ?? null);
        $this->settle((int)$id, $fields);
        if (array_key_exists('params', $fields)) {
            // What is set to nothing is deleted; to set nothing at all would delete everything, the files too.
            $gone = array_fill_keys(array_keys(array_diff_key((array)$now['params'], (array)$fields['params'])), []);
            $next = (array)$fields['params'] + $gone;
            $next === [] || \CIMMessageParam::Set((int)$id, $next);
        }
        if (array_key_exists('files', $fields) && ($fields['files'] ?? []) !== $now['files']) {
            $share = fn(string $file) => $this->share((int)$now['chat_id'], (int)$now['author_id'], $file);
            $this->attach((int)$id, array_map($share, $fields['files'] ?? []));
        }
    }

    public function delete(string $id): void
    {
        // CIMMessenger::Delete would tell everybody who has the chat open.
        \CIMMessageParam::DeleteAll((int)$id);
        $this->mustSucceed(MessageTable::delete((int)$id));
    }

    /**
     * The kernel reads what it is given: it takes mentions out that somebody may not see, cuts long texts, and shifts
     * times by the zone of whoever calls. What stands there in the end is what was sent.
     *
     * @param array<string, mixed> $fields
     */
    private function settle(int $id, array $fields): void
    {
        $row = (new Columns(self::FIELDS))->toKernel(array_diff_key($fields, ['chat_id' => 1]));
        $row += isset($fields['author_id']) ? ['AUTHOR_ID' => (int)$fields['author_id']] : [];
        $now = self::one(MessageTable::class, ['AUTHOR_ID', 'DATE_CREATE', 'MESSAGE'], $id);
        $differs = fn(mixed $value, string $name) => $name === 'DATE_CREATE'
            ? Dates::utc($value) !== Dates::utc($now[$name] ?? null)
            : (string)$value !== (string)($now[$name] ?? '');
        $row = array_filter($row, $differs, ARRAY_FILTER_USE_BOTH);
        $row === [] || $this->mustSucceed(MessageTable::update($id, $row));
    }

    /** @param list<int> $files copies in the folder of the chat */
    private function attach(int $id, array $files): void
    {
        $there = array_map('intval', (array)(\CIMMessageParam::Get([$id])[$id]['FILE_ID'] ?? []));
        $there === $files || \CIMMessageParam::Set($id, ['FILE_ID' => $files]);
    }

    /** A copy in the folder of the chat: whoever is in the chat may open what lies there. */
    private function share(int $chat, int $author, string $file): int
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

    /** @param list<mixed> $shared @return list<string> the files that such copies were made of, in order */
    private function origins(array $shared): array
    {
        $ids = array_values(array_filter(array_map('intval', $shared)));
        $rows = $ids === [] ? [] : self::all(ObjectTable::class, ['ID', 'FILE_ID'], ['@ID' => $ids]);
        $blobs = array_column($rows, 'FILE_ID', 'ID');
        return array_values(array_filter(array_map(fn(int $id) => Files::origin((int)($blobs[$id] ?? 0)), $ids)));
    }
}
