<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Im\Color;
use Bitrix\Im\Model\ChatTable;
use Bitrix\Im\Model\MessageTable;
use Bitrix\Im\Model\RelationTable;

/**
 * Chats. The kernel makes an empty one without a greeting; all the rest is written into its tables, because a
 * description, members and owners that are set in the ordinary way each leave a message in the chat.
 */
final class Chats extends Gateway
{
    private const FIELDS = [
        'name' => ['TITLE', 'text'],
        'description' => ['DESCRIPTION', 'text'],
        'owner' => ['AUTHOR_ID', 'id'],
        'date_create' => ['DATE_CREATE', 'moment'],
        'entity_type' => ['ENTITY_TYPE', 'text'],
        'entity_id' => ['ENTITY_ID', 'text'],
    ];

    /**
     * All other words of the source are ordinary chats that are bound to something. That channels are made silently
     * is to be checked on a real box.
     */
    private const TYPES = ['private' => 'P', 'open' => 'O', 'general' => 'O', 'channel' => 'N', 'openChannel' => 'J'];

    /** Of each the box has one for each record that it is about: a second one would confuse it. */
    private const SINGLE = ['GENERAL', 'SONET_GROUP', 'CRM'];

    public function has(string $id): bool
    {
        return self::exists(ChatTable::class, $id);
    }

    public function read(array $ids): array
    {
        $ids = array_map('intval', $ids);
        $people = $this->people($ids);
        $found = [];
        foreach (self::all(ChatTable::class, ['*'], ['@ID' => $ids]) as $row) {
            $here = $people[(int)$row['ID']] ?? [];
            $managers = array_filter($here, fn(array $one) => Columns::understand('flag', $one['MANAGER']));
            $found[(string)$row['ID']] = (new Columns(self::FIELDS))->fromKernel($row) + [
                // The kernel's own word: the source's words come from the same place.
                'type' => \Bitrix\Im\Chat::getType($row),
                'users' => array_map('strval', array_column($here, 'USER_ID')),
                'manager_list' => array_map('strval', array_column($managers, 'USER_ID')),
                'color' => Color::getColors()[(string)$row['COLOR']] ?? null,
                'avatar' => Files::origin((int)$row['AVATAR']),
            ];
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $id = $fields['type'] === 'private' ? $this->dialog($fields) : ($this->bound($fields) ?? $this->group($fields));
        $this->update((string)$id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::present(self::one(ChatTable::class, ['ID'], $id));
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        // Chats have an owner or the number 0.
        $row = isset($row['AUTHOR_ID']) ? ['AUTHOR_ID' => (int)$row['AUTHOR_ID']] + $row : $row;
        $row = array_filter($row, fn(mixed $value) => $value !== null);
        if (array_key_exists('color', $fields)) {
            // Told as numbers, kept as words; one that the box does not know becomes the one it picks by itself.
            $row['COLOR'] = (string)Color::getCode((string)$fields['color']);
        }
        if (array_key_exists('avatar', $fields)) {
            $row['AVATAR'] = $fields['avatar'] === null ? 0 : $this->avatar((int)$id, $fields['avatar']);
        }
        $row === [] || $this->mustSucceed(ChatTable::update((int)$id, $row));
        if (array_intersect_key($fields, ['users' => 1, 'manager_list' => 1, 'owner' => 1]) !== []) {
            $this->seat((int)$id, $fields);
        }
    }

    public function delete(string $id): void
    {
        foreach ($this->people([(int)$id])[(int)$id] ?? [] as $one) {
            RelationTable::delete((int)$one['ID']);
        }
        if (method_exists('Bitrix\Im\Model\RecentTable', 'deleteByFilter')) {
            \Bitrix\Im\Model\RecentTable::deleteByFilter(['=ITEM_CID' => (int)$id]);
        }
        $this->mustSucceed(ChatTable::delete((int)$id));
    }

    public function needed(string $id, array $gone = []): ?string
    {
        $bound = self::one(ChatTable::class, ['ENTITY_TYPE'], $id)['ENTITY_TYPE'] ?? '';
        return match (true) {
            $bound === 'GENERAL' => 'it is the general chat of the box',
            self::any(MessageTable::class, ['=CHAT_ID' => (int)$id]) => 'there are messages in it',
            default => null,
        };
    }

    /**
     * Once all messages are there: counters, everything read, and its place among the recent chats of its people.
     * Its tabs of files and links stay as they are; what they need is to be checked on a real box.
     */
    public function settle(string $id): void
    {
        $type = self::one(ChatTable::class, ['TYPE'], $id)['TYPE'] ?? '';
        $of = ['=CHAT_ID' => (int)$id];
        $order = ['select' => ['ID', 'DATE_CREATE'], 'filter' => $of, 'order' => ['ID' => 'DESC'], 'limit' => 2];
        $rows = MessageTable::getList($order)->fetchAll();
        $last = array_map('intval', array_column($rows, 'ID')) + [0, 0];
        // Other kinds of chats find their place by themselves: they would be taken for dialogs.
        $recent = $last[0] > 0 && in_array($type, ['P', 'C', 'O'], true);
        $people = $this->people([(int)$id])[(int)$id] ?? [];
        $this->mustSucceed(ChatTable::update((int)$id, [
            'MESSAGE_COUNT' => MessageTable::getCount($of),
            'LAST_MESSAGE_ID' => $last[0],
            'PREV_MESSAGE_ID' => $last[1],
            'USER_COUNT' => count($people),
        ]));
        \CIMDisk::ChangeFolderMembers((int)$id, array_column($people, 'USER_ID'));
        foreach ($people as $one) {
            RelationTable::update((int)$one['ID'], ['LAST_ID' => $last[0], 'LAST_SEND_ID' => $last[0]]);
            $others = array_values(array_diff(array_column($people, 'USER_ID'), [$one['USER_ID']]));
            !$recent || \CIMContactList::SetRecent([
                'ENTITY_ID' => $type === 'P' ? (int)($others[0] ?? $one['USER_ID']) : (int)$id,
                'MESSAGE_ID' => $last[0],
                'MESSAGE_DATE' => $rows[0]['DATE_CREATE'],
                'CHAT_TYPE' => $type,
                'USER_ID' => (int)$one['USER_ID'],
                'CHAT_ID' => (int)$id,
                'RELATION_ID' => (int)$one['ID'],
            ]);
        }
    }

    /** Two people have one dialog; of one with himself, to be checked on a real box. @param array<string, mixed> $fields */
    private function dialog(array $fields): int
    {
        $people = array_values(array_unique($fields['users'] ?? []));
        if ($people === [] || count($people) > 2) {
            throw new ItemFault('VALIDATION', 'users', 'users: a private chat has two people');
        }
        $id = (int)\CIMMessage::GetChatId((int)$people[0], (int)($people[1] ?? $people[0]), true);
        return $id ?: throw $this->refusal('the box does not take this dialog');
    }

    /** What the box has made by itself for the same group or record. @param array<string, mixed> $fields */
    private function bound(array $fields): ?int
    {
        if (!in_array($fields['entity_type'] ?? '', self::SINGLE, true)) {
            return null;
        }
        $filter = ['=ENTITY_TYPE' => $fields['entity_type']];
        if ($fields['entity_type'] !== 'GENERAL') {
            $filter['=ENTITY_ID'] = (string)($fields['entity_id'] ?? '');
        }
        $id = $this->keyless('chats', self::all(ChatTable::class, ['ID'], $filter));
        return $id === null ? null : (int)$id;
    }

    /** @param array<string, mixed> $fields */
    private function group(array $fields): int
    {
        $id = (new \CIMChat(0))->Add([
            'TYPE' => self::TYPES[$fields['type']] ?? 'C',
            'TITLE' => (string)($fields['name'] ?? ''),
            'AUTHOR_ID' => (int)($fields['owner'] ?? $fields['users'][0] ?? self::actor()),
            'USERS' => false,
            'SKIP_ADD_MESSAGE' => 'Y',
        ]);
        return (int)$id ?: throw $this->refusal('the box does not take this chat');
    }

    /**
     * Exactly these people, silently. A list that was not sent stays as it is, and so does whoever the box itself
     * has put into a chat that it keeps.
     *
     * @param array<string, mixed> $fields
     */
    private function seat(int $chat, array $fields): void
    {
        $row = self::one(ChatTable::class, ['TYPE', 'ENTITY_TYPE'], $chat);
        $there = array_column($this->people([$chat])[$chat] ?? [], null, 'USER_ID');
        $managers = array_map('intval', $fields['manager_list'] ?? []);
        $known = array_map('intval', $fields['users'] ?? ($row['TYPE'] === 'P' ? array_keys($there) : []));
        $wanted = array_unique(array_filter([...$known, ...$managers, (int)($fields['owner'] ?? 0)]));
        $exactly = isset($fields['users']) && !in_array($row['ENTITY_TYPE'], self::SINGLE, true);
        foreach ($exactly ? array_diff(array_keys($there), $wanted) : [] as $user) {
            RelationTable::delete((int)$there[$user]['ID']);
        }
        foreach ($wanted as $user) {
            $manager = ['MANAGER' => in_array($user, $managers, true) ? 'Y' : 'N'];
            $new = ['CHAT_ID' => $chat, 'USER_ID' => $user, 'MESSAGE_TYPE' => $row['TYPE'], 'STATUS' => 2] + $manager;
            $this->mustSucceed(match (true) {
                !isset($there[$user]) => RelationTable::add($new),
                array_key_exists('manager_list', $fields) => RelationTable::update((int)$there[$user]['ID'], $manager),
                default => new \Bitrix\Main\Result(),
            });
        }
    }

    /** @param list<int> $chats @return array<int, list<array<string, mixed>>> relations by chat */
    private function people(array $chats): array
    {
        $people = [];
        $columns = ['ID', 'CHAT_ID', 'USER_ID', 'MANAGER'];
        foreach (self::all(RelationTable::class, $columns, ['@CHAT_ID' => $chats]) as $row) {
            $people[(int)$row['CHAT_ID']][] = $row;
        }
        return $people;
    }

    private function avatar(int $chat, string $file): int
    {
        $now = (int)(self::one(ChatTable::class, ['AVATAR'], $chat)['AVATAR'] ?? 0);
        return Files::origin($now) === $file
            ? $now
            : (int)\CFile::SaveFile(['MODULE_ID' => 'im'] + Files::copy($file), 'im');
    }
}
