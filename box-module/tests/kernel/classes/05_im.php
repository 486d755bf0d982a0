<?php

// Module im: chats, who is in them, messages and their parameters.

declare(strict_types=1);

namespace Bitrix\Im\Model {

    use B24migrate\Import\Tests\Kernel\Rows;
    use Bitrix\Main\ORM\Data\DataManager;

    class ChatTable extends DataManager
    {
        protected const TABLE = 'chats';
    }

    /** There is no unique key: the same person can be in a chat twice. */
    class RelationTable extends DataManager
    {
        protected const TABLE = 'relations';
        protected const DEFAULTS = ['MANAGER' => 'N'];
    }

    class MessageTable extends DataManager
    {
        protected const TABLE = 'messages';
    }

    class MessageUnreadTable extends DataManager
    {
        protected const TABLE = 'unread';

        public static function deleteByFilter(array $filter): void
        {
            foreach (Rows::matching(self::TABLE, $filter) as $row) {
                self::delete($row['ID']);
            }
        }
    }
}

namespace Bitrix\Im {

    class Chat
    {
        public static function getType(array $chat, bool $camelCase = true): string
        {
            $bound = ['SONET_GROUP' => 'sonetGroup', 'CRM' => 'crm', 'GENERAL' => 'general'];
            $plain = ['P' => 'private', 'O' => 'open', 'N' => 'channel', 'J' => 'openChannel'];
            return $bound[$chat['ENTITY_TYPE'] ?? ''] ?? $plain[$chat['TYPE']] ?? 'chat';
        }
    }

    class Color
    {
        public static function getColors(): array
        {
            return ['RED' => '#df532d', 'AZURE' => '#1eb4aa'];
        }

        public static function getCode(string $color): ?string
        {
            return array_flip(self::getColors())[$color] ?? null;
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Im\Model\RelationTable;
    use Bitrix\Main\EventManager;

    class CIMChat
    {
        public function __construct($user = null, $arParams = [])
        {
        }

        public function Add(array $row): int|false
        {
            World::call('CIMChat::Add', [$row]);
            $columns = array_intersect_key($row, ['TYPE' => 1, 'AUTHOR_ID' => 1]);
            $columns += ['TITLE' => $row['TITLE'] ?: 'Chat 17'];
            $columns += ['DATE_CREATE' => World::now(), 'COLOR' => 'AZURE', 'AVATAR' => null, 'DESCRIPTION' => ''];
            $id = World::put('chats', $columns + ['ENTITY_TYPE' => $row['ENTITY_TYPE'] ?? '', 'ENTITY_ID' => '']);
            foreach (array_unique([$row['AUTHOR_ID'], ...($row['USERS'] ?: [])]) as $user) {
                $manager = $user === $row['AUTHOR_ID'] ? 'Y' : 'N';
                $seat = ['CHAT_ID' => $id, 'USER_ID' => $user, 'MESSAGE_TYPE' => $row['TYPE'], 'MANAGER' => $manager];
                World::put('relations', $seat);
            }
            if (($row['SKIP_ADD_MESSAGE'] ?? 'N') !== 'Y') {
                World::$noise[] = 'a greeting';
            }
            if (($row['DESCRIPTION'] ?? '') !== '') {
                World::$noise[] = 'a message about a description';
            }
            return $id;
        }
    }

    class CIMMessage
    {
        public static function GetChatId(int $one, int $other, bool $create = true): int
        {
            foreach (Rows::matching('chats', ['TYPE' => 'P']) as $chat) {
                $people = array_column(Rows::matching('relations', ['CHAT_ID' => $chat['ID']]), 'USER_ID');
                if (array_diff([$one, $other], $people) === [] && array_diff($people, [$one, $other]) === []) {
                    return $chat['ID'];
                }
            }
            $row = ['TYPE' => 'P', 'TITLE' => '', 'AUTHOR_ID' => $one, 'COLOR' => '', 'AVATAR' => null];
            $id = World::put('chats', $row + ['DATE_CREATE' => World::now(), 'DESCRIPTION' => '']);
            foreach (array_unique([$one, $other]) as $user) {
                RelationTable::add(['CHAT_ID' => $id, 'USER_ID' => $user, 'MESSAGE_TYPE' => 'P']);
            }
            return $id;
        }
    }

    class CIMMessenger
    {
        public static function Add(array $row): int|false
        {
            World::call('CIMMessenger::Add', [$row]);
            if ($row['MESSAGE_TYPE'] === 'S') {
                EventManager::vetoed('im/OnBeforeMessageNotifyAdd', $row) || World::$noise[] = 'a notification';
                return false;
            }
            if ($row['MESSAGE'] === '' && ($row['FILES'] ?? []) === []) {
                $GLOBALS['APPLICATION']->say('The message is empty');
                return false;
            }
            if (($row['CONVERT'] ?? 'N') !== 'Y') {
                World::$noise[] = 'a push about a message';
            }
            // Mentions are read with the eyes of whoever calls, and long texts are cut.
            $text = preg_replace('/\[USER=\d+\](.*?)\[\/USER\]/', '$1', $row['MESSAGE']);
            $id = World::put('messages', [
                'CHAT_ID' => $row['TO_CHAT_ID'],
                'AUTHOR_ID' => $row['FROM_USER_ID'],
                'MESSAGE' => mb_substr($text, 0, 20000),
                'DATE_CREATE' => World::heard($row['MESSAGE_DATE']) ?? World::now(),
            ]);
            World::put('unread', ['CHAT_ID' => $row['TO_CHAT_ID'], 'MESSAGE_ID' => $id, 'USER_ID' => 1]);
            if (str_contains($row['MESSAGE'], '[USER=')) {
                World::$noise[] = 'somebody is told to be mentioned';
            }
            // Where files are looked for depends on the generation of the kernel.
            $files = World::$versions['im'] ?? '' ? $row['FILES'] : $row['PARAMS']['FILE_ID'] ?? [];
            CIMMessageParam::Set($id, ['FILE_ID' => $files] + $row['PARAMS']);
            return $id;
        }

        public static function Delete(int $id, $userId = null, $completeDelete = false, $byEvent = false): bool
        {
            World::$noise[] = 'everybody sees a message go';
            return true;
        }
    }

    class CIMMessageParam
    {
        public static function Get(array $ids, $paramName = false, $withDefault = false): array
        {
            return array_intersect_key(World::$tables['params'] ?? [], array_flip($ids));
        }

        /** What is set to nothing is deleted; when nothing is set, everything is. */
        public static function Set(int $id, array $params = []): void
        {
            if ($params === []) {
                self::DeleteAll($id);
                return;
            }
            $all = $params + (World::$tables['params'][$id] ?? []);
            World::$tables['params'][$id] = array_filter($all, fn($value) => $value !== []);
        }

        public static function DeleteAll(int $id): void
        {
            unset(World::$tables['params'][$id]);
        }
    }

    class CIMDisk
    {
        public static function ChangeFolderMembers(int $chat, array $users, $append = true): void
        {
            World::call('CIMDisk::ChangeFolderMembers', [$chat, $users]);
        }

        public static function GetFolderModel(int $chat, $createFolder = true): \Bitrix\Disk\Folder|false
        {
            if (isset(World::$options['pull']['off'])) {
                return false;
            }
            $storage = World::$options['folders'][$chat] ??= Bitrix\Disk\Driver::storage(['ENTITY_ID' => "chat $chat"]);
            return Bitrix\Disk\Folder::loadById(World::row('storages', $storage)['ROOT']);
        }
    }

    class CIMContactList
    {
        public static function SetRecent(array $row): bool
        {
            $row += ['MESSAGE_DATE' => World::now()];
            World::put('recents', $row);
            return true;
        }
    }
}
