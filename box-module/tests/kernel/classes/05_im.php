<?php

// Module im: chats, who is in them, messages and their parameters.

declare(strict_types=1);

namespace Bitrix\Im\Model {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\DataManager;

    class ChatTable extends DataManager
    {
        protected const TABLE = 'chats';

        /** Chats are found by the names of their people, but only a title makes the index anew. */
        public static function update($id, array $data)
        {
            $result = parent::update($id, $data);
            if (array_key_exists('TITLE', $data)) {
                $people = array_column(Rows::matching('relations', ['CHAT_ID' => $id]), 'USER_ID');
                World::$tables['chat_index'][$id] = array_map('intval', $people);
            }
            return $result;
        }
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

    class MessageParamTable extends DataManager
    {
        protected const TABLE = 'params';
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

        public static function getGroupTypes(): array
        {
            return ['C', 'O', 'N', 'J', 'B'];
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
        /** Guests see nobody with whom they share no group. */
        public static function GetChatId(int $one, int $other, bool $create = true): int
        {
            $departments = fn(int $user) => World::row('users', $user)['UF_DEPARTMENT'] ?? [];
            if (isset(World::$options['im']['guests']) && ($departments($one) === [] || $departments($other) === [])) {
                return 0;
            }
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
            $isPrivate = $row['MESSAGE_TYPE'] === 'P';
            $fault = self::fault($row);
            if ($fault !== null) {
                $GLOBALS['APPLICATION']->say($fault);
                return false;
            }
            // Mentions are read with the eyes of whoever calls, and long texts are cut.
            $text = preg_replace('/\[USER=\d+\](.*?)\[\/USER\]/', '$1', $row['MESSAGE']);
            $id = World::put('messages', [
                'CHAT_ID' => $row['TO_CHAT_ID'],
                'AUTHOR_ID' => $row['FROM_USER_ID'],
                'MESSAGE' => mb_substr($text, 0, 20000),
                'NOTIFY_EVENT' => $isPrivate ? ($row['SYSTEM'] === 'Y' ? 'private_system' : 'private') : 'group',
                'DATE_CREATE' => World::heard($row['MESSAGE_DATE']) ?? World::now(),
            ]);
            World::put('unread', ['CHAT_ID' => $row['TO_CHAT_ID'], 'MESSAGE_ID' => $id, 'USER_ID' => 1]);
            // Where files are looked for depends on the generation of the kernel.
            $files = World::$versions['im'] ?? '' ? $row['FILES'] : $row['PARAMS']['FILE_ID'] ?? [];
            // Keyboards and menus are objects of the kernel, and others are none.
            $params = array_replace($row['PARAMS'], array_fill_keys(['KEYBOARD', 'MENU'], []));
            CIMMessageParam::Set($id, ['FILE_ID' => $files] + $params);
            foreach ($isPrivate ? Rows::matching('relations', ['CHAT_ID' => $row['TO_CHAT_ID']]) : [] as $one) {
                CIMContactList::SetRecent(['CHAT_ID' => $row['TO_CHAT_ID'], 'USER_ID' => $one['USER_ID']]);
            }
            return $id;
        }

        private static function fault(array $row): ?string
        {
            $heard = [
                'a push about a message' => ($row['CONVERT'] ?? 'N') !== 'Y',
                'somebody is told to be mentioned' => str_contains($row['MESSAGE'], '[USER='),
                'a file of the box in a chat that it does not belong to' => str_contains($row['MESSAGE'], '[DISK='),
            ];
            World::$noise = [...World::$noise, ...array_keys(array_filter($heard))];
            return match (true) {
                $row['MESSAGE_TYPE'] === 'P' && (int)$row['FROM_USER_ID'] <= 0 => 'The author is not known',
                $row['MESSAGE'] === '' && ($row['FILES'] ?? []) === [] => 'The message is empty',
                default => null,
            };
        }

        public static function Delete(int $id, $userId = null, $completeDelete = false, $byEvent = false): bool
        {
            World::$noise[] = 'everybody sees a message go';
            return true;
        }
    }

    class CIMMessageParam
    {
        private const KNOWN = ['CLASS', 'IS_DELETED', 'IS_EDITED', 'FILE_ID', 'LIKE', 'KEYBOARD', 'MENU'];

        /** Only what it knows, and lists of it. */
        public static function Get(array $ids, $paramName = false, $withDefault = false): array
        {
            $found = [];
            foreach (Rows::matching('params', ['@MESSAGE_ID' => $ids, '@PARAM_NAME' => self::KNOWN]) as $row) {
                $found[$row['MESSAGE_ID']][$row['PARAM_NAME']][] = $row['PARAM_VALUE'];
            }
            return $found;
        }

        /** What is set to nothing is deleted; when nothing is set, everything is. */
        public static function Set(int $id, array $params = []): void
        {
            if ($params === []) {
                self::DeleteAll($id);
                return;
            }
            foreach ($params as $name => $value) {
                self::forget(['MESSAGE_ID' => $id, 'PARAM_NAME' => $name]);
                foreach (is_array($value) && array_is_list($value) ? $value : [$value] as $one) {
                    World::put('params', ['MESSAGE_ID' => $id, 'PARAM_NAME' => (string)$name] + (is_array($one)
                        ? ['PARAM_VALUE' => '', 'PARAM_JSON' => json_encode($one)]
                        : ['PARAM_VALUE' => mb_substr(trim(self::text($one)), 0, 100), 'PARAM_JSON' => null]));
                }
            }
        }

        public static function DeleteAll(int $id): void
        {
            self::forget(['MESSAGE_ID' => $id]);
        }

        private static function text(mixed $value): string
        {
            return is_object($value) ? throw new \TypeError('trim() takes no object') : (string)$value;
        }

        private static function forget(array $filter): void
        {
            foreach (Rows::matching('params', $filter) as $row) {
                unset(World::$tables['params'][$row['ID']]);
            }
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
            // One row for each person and chat.
            $same = Rows::matching('recents', array_intersect_key($row, ['USER_ID' => 1, 'CHAT_ID' => 1]))[0] ?? [];
            World::put('recents', $row + ['MESSAGE_DATE' => World::now()] + array_intersect_key($same, ['ID' => 1]));
            return true;
        }
    }
}
