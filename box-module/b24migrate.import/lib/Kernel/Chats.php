<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Im\Color;
use Bitrix\Im\Model\{ChatTable, MessageTable, RelationTable};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Chats. The kernel makes an empty one without a greeting; all the rest is written into its tables, because a
 * description, members and owners that are set in the ordinary way each leave a message in the chat.
 */
final class Chats extends Gateway
{
    protected const TABLE = ChatTable::class;
    protected const FIELDS = [
        'text' => 'name:TITLE description entity_type entity_id',
        'link' => 'owner:AUTHOR_ID',
        'moment' => 'date_create',
    ];
    protected const FILLED = ['DATE_CREATE'];

    /**
     * All other words of the source are ordinary chats that are bound to something. That channels are made silently
     * is to be checked on a real box.
     */
    private const TYPES = ['private' => 'P', 'open' => 'O', 'general' => 'O', 'channel' => 'N', 'openChannel' => 'J'];

    /** Of each the box has one for each record that it is about: a second one would confuse it. */
    private const SINGLE = ['GENERAL', 'SONET_GROUP', 'CRM'];

    public function create(string $key, array $fields): string
    {
        $id = $fields['type'] === 'private'
            ? $this->dialogOf($fields)
            : ($this->existingChatOf($fields) ?? $this->createChat($fields));
        $this->update((string)$id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(ChatTable::class, ['ID', 'TYPE', 'TITLE', 'ENTITY_TYPE', 'AVATAR'], $id));
        $row = self::columns()->toKernel($fields);
        if (array_key_exists('color', $fields)) {
            // Told as numbers, kept as words; one that the box does not know becomes the one it picks by itself.
            $row['COLOR'] = (string)Color::getCode((string)$fields['color']);
        }
        foreach (Files::ownedColumn('avatar', $fields, 'AVATAR', (int)$now['AVATAR']) as $column => $copy) {
            $row[$column] = isset($copy['del']) ? 0 : Files::save($copy, 'im', 'avatar');
        }
        if (array_intersect_key($fields, ['users' => 1, 'manager_list' => 1, 'owner' => 1]) !== []) {
            // Before the rest: a title makes the kernel gather the names that a chat is found by.
            $this->setMembers($now, $fields);
            $row += ['TITLE' => (string)$now['TITLE']];
        }
        $row === [] || self::mustSucceed(ChatTable::update((int)$id, $row));
    }

    public function delete(string $id): void
    {
        foreach ($this->relations([(int)$id])[(int)$id] ?? [] as $one) {
            RelationTable::delete((int)$one['ID']);
        }
        self::deleteRows('Bitrix\Im\Model\RecentTable', ['=ITEM_CID' => (int)$id]);
        self::mustSucceed(ChatTable::delete((int)$id));
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $row = self::findRow(ChatTable::class, ['ENTITY_TYPE', 'ENTITY_ID'], $id);
        $group = ($row['ENTITY_TYPE'] ?? '') === 'SONET_GROUP' ? (string)$row['ENTITY_ID'] : '';
        return match (true) {
            ($row['ENTITY_TYPE'] ?? '') === 'GENERAL' => 'it is the general chat of the box',
            // The box may have made it, and would miss it.
            $group !== '' && $this->box->records('groups')->has($group) => 'it is the chat of a group',
            self::rowExists(MessageTable::class, ['=CHAT_ID' => (int)$id]) => 'there are messages in it',
            default => null,
        };
    }

    protected function loadRows(array $ids): array
    {
        $people = $this->relations($ids);
        $rows = Files::withOrigins(parent::loadRows($ids), 'AVATAR');
        return array_map(fn(array $row) => $row + ['people' => $people[(int)$row['ID']] ?? []], $rows);
    }

    protected function toFields(array $row): array
    {
        $managers = array_filter($row['people'], fn(array $one) => Columns::fromColumn('flag', $one['MANAGER']));
        return parent::toFields($row) + [
            // The kernel's own word: the source's words come from the same place.
            'type' => \Bitrix\Im\Chat::getType($row),
            'users' => array_map('strval', array_column($row['people'], 'USER_ID')),
            'manager_list' => array_map('strval', array_column($managers, 'USER_ID')),
            'color' => Color::getColors()[(string)$row['COLOR']] ?? null,
            'avatar' => $row['AVATAR'],
        ];
    }

    /**
     * Once all messages are there: counters, everything read, and its place among the recent chats of its people.
     * Its tabs of files and links stay as they are; what they need is to be checked on a real box.
     */
    public function settle(int $id): void
    {
        $type = self::findRow(ChatTable::class, ['TYPE'], $id)['TYPE'] ?? null;
        if ($type === null) {
            return;
        }
        $in = ['filter' => ['=CHAT_ID' => $id], 'order' => ['ID' => 'DESC'], 'limit' => 2];
        $rows = MessageTable::getList(['select' => ['ID', 'DATE_CREATE']] + $in)->fetchAll();
        $last = array_map('intval', array_column($rows, 'ID')) + [0, 0];
        $people = $this->relations([$id])[$id] ?? [];
        self::mustSucceed(ChatTable::update($id, [
            'MESSAGE_COUNT' => MessageTable::getCount($in['filter']),
            'LAST_MESSAGE_ID' => $last[0],
            'PREV_MESSAGE_ID' => $last[1],
            'USER_COUNT' => count($people),
        ]));
        \CIMDisk::ChangeFolderMembers($id, array_column($people, 'USER_ID'));
        foreach ($people as $one) {
            RelationTable::update((int)$one['ID'], ['LAST_ID' => $last[0], 'LAST_SEND_ID' => $last[0]]);
        }
        // Channels and collabs too, each among its own; what is neither would be taken for a dialog.
        if ($rows !== [] && in_array($type, ['P', ...\CIMChat::getGroupTypes()], true)) {
            $this->showRecent($id, $type, $rows[0], $people);
        }
    }

    private function showRecent(int $id, string $type, array $last, array $people): void
    {
        $users = array_column($people, 'USER_ID');
        foreach ($people as $one) {
            $others = array_values(array_diff($users, [$one['USER_ID']]));
            \CIMContactList::SetRecent([
                'ENTITY_ID' => $type === 'P' ? (int)($others[0] ?? $one['USER_ID']) : $id,
                'MESSAGE_ID' => (int)$last['ID'],
                'MESSAGE_DATE' => $last['DATE_CREATE'],
                'CHAT_TYPE' => $type,
                'USER_ID' => (int)$one['USER_ID'],
                'CHAT_ID' => $id,
                'RELATION_ID' => (int)$one['ID'],
            ]);
        }
    }

    /** Two people have one dialog; of one with himself, to be checked on a real box. */
    private function dialogOf(array $fields): int
    {
        $people = array_values(array_unique($fields['users'] ?? []));
        if ($people === [] || count($people) > 2) {
            throw new ItemFault('VALIDATION', 'users', 'users: a private chat has two people');
        }
        [$one, $other] = [(int)$people[0], (int)($people[1] ?? $people[0])];
        return (int)\CIMMessage::GetChatId($one, $other, true) ?: $this->createDialog($one, $other);
    }

    /** The kernel shows guests only members of their groups, and creates no dialog then: these are the same rows. */
    private function createDialog(int $one, int $other): int
    {
        $dialogs = fn(int $user) => ['=USER_ID' => $user, '=MESSAGE_TYPE' => 'P'];
        $of = fn(int $user) => self::findRows(RelationTable::class, ['ID', 'CHAT_ID'], $dialogs($user));
        $common = array_intersect(array_column($of($one), 'CHAT_ID'), array_column($of($other), 'CHAT_ID'));
        if ($one !== $other && $common !== []) {
            return (int)reset($common);
        }
        $row = ['TYPE' => 'P', 'TITLE' => '', 'AUTHOR_ID' => $one];
        $id = (int)self::mustSucceed(ChatTable::add($row))->getId();
        foreach (array_unique([$one, $other]) as $user) {
            self::addRelation($id, 'P', $user);
        }
        return $id;
    }

    /** The chat that the box has created for the same group or record. */
    private function existingChatOf(array $fields): ?int
    {
        $type = $fields['entity_type'] ?? '';
        if (!in_array($type, self::SINGLE, true)) {
            return null;
        }
        $about = $type === 'GENERAL' ? [] : ['=ENTITY_ID' => (string)($fields['entity_id'] ?? '')];
        $rows = self::findRows(ChatTable::class, ['ID'], ['=ENTITY_TYPE' => $type] + $about);
        return (int)$this->firstWithoutKey($rows) ?: null;
    }

    private function createChat(array $fields): int
    {
        $id = (new \CIMChat(0))->Add([
            'TYPE' => self::TYPES[$fields['type']] ?? 'C',
            'TITLE' => (string)($fields['name'] ?? ''),
            'AUTHOR_ID' => (int)($fields['owner'] ?? $fields['users'][0] ?? self::actor()),
            'USERS' => false,
            'SKIP_ADD_MESSAGE' => 'Y',
        ]);
        return (int)$id ?: throw self::refusal('the box does not take this chat');
    }

    /**
     * Exactly these people, silently: who has left loses his place, and the chat goes from his list. A list that was
     * not sent stays as it is. Whom the box itself has added to the chat of a group, or of all, stays too.
     */
    private function setMembers(array $chat, array $fields): void
    {
        $there = array_column($this->relations([(int)$chat['ID']])[(int)$chat['ID']] ?? [], null, 'USER_ID');
        $managers = array_map('intval', $fields['manager_list'] ?? []);
        $known = array_map('intval', $fields['users'] ?? array_keys($there));
        $wanted = array_unique(array_filter([...$known, ...$managers, (int)($fields['owner'] ?? 0)]));
        $exactly = isset($fields['users']) && !in_array($chat['ENTITY_TYPE'], ['GENERAL', 'SONET_GROUP'], true);
        foreach ($exactly ? array_diff(array_keys($there), $wanted) : [] as $user) {
            RelationTable::delete((int)$there[$user]['ID']);
            self::deleteRows('Bitrix\Im\Model\RecentTable', ['=ITEM_CID' => $chat['ID'], '=USER_ID' => $user]);
        }
        foreach ($wanted as $user) {
            $manages = in_array($user, $managers, true);
            $managed = Columns::fromColumn('flag', $there[$user]['MANAGER'] ?? 'N');
            if (!isset($there[$user])) {
                self::addRelation((int)$chat['ID'], $chat['TYPE'], $user, $manages);
            } elseif (array_key_exists('manager_list', $fields) && $managed !== $manages) {
                $flag = ['MANAGER' => Columns::toColumn('flag', $manages)];
                self::mustSucceed(RelationTable::update((int)$there[$user]['ID'], $flag));
            }
        }
    }

    private static function addRelation(int $chat, string $type, int $user, bool $manages = false): void
    {
        self::mustSucceed(RelationTable::add([
            'CHAT_ID' => $chat,
            'USER_ID' => $user,
            'MESSAGE_TYPE' => $type,
            // Everything is read.
            'STATUS' => 2,
            'MANAGER' => Columns::toColumn('flag', $manages),
        ]));
    }

    /** @return array<int, list<array<string, mixed>>> relations by chat */
    private function relations(array $chats): array
    {
        $rows = self::findRows(RelationTable::class, ['ID', 'CHAT_ID', 'USER_ID', 'MANAGER'], ['@CHAT_ID' => $chats]);
        return self::groupBy($rows, 'CHAT_ID', fn(array $row) => $row);
    }
}
