<?php

// Users and their custom fields.

declare(strict_types=1);

namespace Bitrix\Main {

    use Bitrix\Main\ORM\Data\DataManager;

    class UserTable extends DataManager
    {
        protected const TABLE = 'users';
    }

    class UserCounterTable extends DataManager
    {
        protected const TABLE = 'user_counters';
    }

    class FileTable extends DataManager
    {
        protected const TABLE = 'blobs';
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\Signatures;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Loader;

    class CUser
    {
        public string $LAST_ERROR = '';

        public static function GetList(
            string $by = '',
            string $order = '',
            array $filter = [],
            array $parameters = []
        ): Rows {
            return Rows::of(Rows::matching('users', $filter), $parameters['FIELDS'] ?? []);
        }

        public function GetID(): int
        {
            return 1;
        }

        public static function GetUserGroup(int $id): array
        {
            return $id === 1 ? ['1', '2'] : ['2'];
        }

        public function Add(array $row): int|false
        {
            World::call('CUser::Add', [$row]);
            foreach (['LOGIN', 'PASSWORD', 'EMAIL'] as $name) {
                if (($row[$name] ?? '') === '') {
                    $this->LAST_ERROR = "$name is missing.<br>";
                    return false;
                }
            }
            if (Rows::matching('users', ['LOGIN' => $row['LOGIN']]) !== []) {
                $this->LAST_ERROR = 'A user with this login exists.<br>';
                return false;
            }
            $picture = CFile::CheckImageFile($row['PERSONAL_PHOTO'] ?? []);
            if ($picture !== null) {
                $this->LAST_ERROR = "$picture<br>";
                return false;
            }
            if (($row['CONFIRM_CODE'] ?? '') !== '') {
                World::$noise[] = 'invitation';
            } elseif (!defined('INTR_SKIP_EVENT_ADD')) {
                World::$noise[] = 'a post about a new employee';
            }
            return World::put('users', self::columns($row, []) + ['DATE_REGISTER' => World::now()]);
        }

        public function Update(int $id, array $row, $authActions = true): bool
        {
            $picture = CFile::CheckImageFile($row['PERSONAL_PHOTO'] ?? []);
            if ($picture !== null) {
                $this->LAST_ERROR = "$picture<br>";
                return false;
            }
            World::set('users', $id, self::columns($row, World::row('users', $id)) + World::row('users', $id));
            return true;
        }

        public static function Delete(int $id): bool
        {
            unset(World::$tables['users'][$id]);
            return true;
        }

        private static function columns(array $row, array $old): array
        {
            Signatures::refuseTooLong('b_user', $row);
            foreach (['DATE_REGISTER', 'PERSONAL_BIRTHDAY'] as $name) {
                if (array_key_exists($name, $row)) {
                    $row[$name] = World::heard($row[$name]);
                }
            }
            if (array_key_exists('PERSONAL_PHOTO', $row)) {
                $row['PERSONAL_PHOTO'] = CFile::owned($row['PERSONAL_PHOTO'], $old['PERSONAL_PHOTO'] ?? null);
            }
            return $GLOBALS['USER_FIELD_MANAGER']->stored('USER', $row, $old);
        }
    }

    class CIntranetInviteDialog
    {
        public static function getUserGroups(string $site, bool $extranet = false): array
        {
            return $extranet && Loader::includeModule('extranet') ? [15] : [11];
        }
    }

    class CUserTypeEntity
    {
        public static function GetList(array $order = [], array $filter = []): Rows
        {
            return new Rows(Rows::matching('fields', $filter));
        }

        public function Add(array $row, $bCheckUserType = true): int|false
        {
            if (World::$inTransaction) {
                throw new LogicException('a change of a table commits the transaction of MySQL');
            }
            if (!str_starts_with($row['FIELD_NAME'], 'UF_') || strlen($row['FIELD_NAME']) > 50) {
                $GLOBALS['APPLICATION']->say('<b>Wrong</b> name of a field');
                return false;
            }
            return World::put('fields', $row);
        }
    }

    class CUserFieldEnum
    {
        public static function GetList(array $order = [], array $filter = []): Rows
        {
            return new Rows(Rows::matching('options', $filter));
        }

        /** Adds what is new; what is not named stays. */
        public function SetEnumValues(int $field, array $values): bool
        {
            foreach ($values as $key => $value) {
                if (!str_starts_with((string)$key, 'n')) {
                    throw new LogicException('the fake only adds');
                }
                $value['XML_ID'] = $value['XML_ID'] ?: md5($value['VALUE']);
                World::put('options', ['USER_FIELD_ID' => $field] + $value);
            }
            return true;
        }
    }
}

namespace B24migrate\Import\Tests\Kernel {

    class FakeFieldManager
    {
        private const TYPES = ['string', 'integer', 'double', 'boolean', 'date', 'datetime', 'enumeration', 'file'];

        public function GetUserType($type = false): array|false
        {
            return in_array($type, self::TYPES, true) ? ['USER_TYPE_ID' => $type] : false;
        }

        public function GetUserFieldValue(string $entity, string $code, int $id, $LANG = false): mixed
        {
            return World::$tables["uf:$entity"][$id][$code] ?? null;
        }

        /** What the columns of custom fields hold afterwards: times as objects, files as numbers. */
        public function stored(string $entity, array $row, array $old): array
        {
            foreach (Rows::matching('fields', ['ENTITY_ID' => $entity]) as $field) {
                $code = $field['FIELD_NAME'];
                if (!array_key_exists($code, $row)) {
                    continue;
                }
                $values = $field['MULTIPLE'] === 'Y' ? $row[$code] : [$row[$code]];
                $values = array_map(fn($value) => match ($field['USER_TYPE_ID']) {
                    'date', 'datetime' => World::heard($value),
                    'file' => \CFile::owned($value, is_array($value) ? ($value['old_id'] ?? null) : null),
                    default => $value,
                }, $values);
                $kept = array_values(array_filter($values, fn($value) => $value !== null));
                $row[$code] = $field['MULTIPLE'] === 'Y' ? $kept : ($kept[0] ?? null);
            }
            return $row;
        }

        public function Update(string $entity, int $id, array $row, $by = false): void
        {
            $isNew = fn($value) => is_array($value) && preg_match('/^n\d/', (string)($value[0] ?? ''));
            $files = array_filter($row, $isNew);
            $this->attach($entity, $id, $files);
            $old = World::$tables["uf:$entity"][$id] ?? [];
            World::set("uf:$entity", $id, $this->stored($entity, array_diff_key($row, $files), $old) + $old);
        }

        public function Delete($entity_id, $ID)
        {
            $attached = array_merge([], ...array_values(array_filter(World::row("uf:$entity_id", $ID), is_array(...))));
            World::$tables['attached'] = array_diff_key(World::$tables['attached'] ?? [], array_flip($attached));
            unset(World::$tables["uf:$entity_id"][$ID]);
        }

        /** @return array<string, array<string, mixed>> */
        public function GetUserFields(
            string $entity,
            int $id = 0,
            $LANG = false,
            $user_id = false,
            $selectFields = null
        ): array {
            $fields = [];
            foreach (World::$tables["uf:$entity"][$id] ?? [] as $code => $value) {
                // Legacy lists tell times as the caller's clock shows them.
                $value = $value instanceof \Bitrix\Main\Type\DateTime ? World::told($value) : $value;
                $fields[$code] = ['FIELD_NAME' => $code, 'VALUE' => $value];
            }
            return $fields;
        }

        /** Legacy classes ask whether the author may read what is attached; administrators may read all. */
        public function allowed(array $row, int $author): bool
        {
            foreach (array_filter($row, 'is_array') as $code => $values) {
                $files = str_starts_with((string)$code, 'UF_') ? preg_filter('/^n(\d+)$/', '$1', $values) : [];
                foreach (array_map(fn($id) => World::row('objects', $id), $files) as $file) {
                    $rights = World::row('storages', $file['STORAGE_ID'] ?? 0)['RIGHTS'] ?? [];
                    if (!in_array('1', \CUser::GetUserGroup($author), true) && !in_array("U$author", $rights, true)) {
                        $GLOBALS['APPLICATION']->say("$code: you have no right to read this file");
                        return false;
                    }
                }
            }
            return true;
        }

        /** `n<object>` becomes an attachment with a number of its own. */
        public function attach(string $entity, int $id, array $row): void
        {
            foreach ($row as $code => $value) {
                if (str_starts_with((string)$code, 'UF_')) {
                    World::$tables["uf:$entity"][$id][$code] = is_array($value)
                        ? array_map($this->attached(...), $value)
                        : $value;
                }
            }
        }

        private function attached(string $value): int
        {
            return World::put('attached', ['OBJECT_ID' => (int)substr($value, 1)]);
        }
    }
}
