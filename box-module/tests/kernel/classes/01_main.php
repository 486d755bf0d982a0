<?php

// Module main: times, options, events, results, the ORM. Numbers in the names of these files only order them.

declare(strict_types=1);

namespace Bitrix\Main\Text {

    abstract class Converter
    {
    }

    /** What does not fit into columns of three bytes a character. */
    class Emoji
    {
        public static function encode($text)
        {
            $spell = fn(array $found) => ':' . bin2hex($found[0]) . ':';
            return preg_replace_callback('/[\x{10000}-\x{10FFFF}]/u', $spell, (string)$text);
        }

        public static function decode($text)
        {
            return preg_replace_callback('/:(f0[0-9a-f]{6}):/', fn(array $found) => hex2bin($found[1]), (string)$text);
        }

        /** A row as such columns hold it, or none where somebody forgot to encode it. */
        public static function refuse(array $row): void
        {
            foreach (array_filter($row, 'is_string') as $name => $value) {
                if (self::encode($value) !== $value) {
                    throw new \RuntimeException("Incorrect string value for column $name");
                }
            }
        }
    }
}

namespace Bitrix\Main\Type {

    class Date
    {
        protected function __construct(protected int $timestamp)
        {
        }

        public static function createFromTimestamp(int $timestamp): static
        {
            return new static($timestamp);
        }

        public function getTimestamp(): int
        {
            return $this->timestamp;
        }
    }

    class DateTime extends Date
    {
    }
}

namespace Bitrix\Main {

    use B24migrate\Import\Tests\Kernel\FakeConnection;
    use B24migrate\Import\Tests\Kernel\World;

    class Error
    {
        public function __construct(private string $message)
        {
        }

        public function getMessage(): string
        {
            return $this->message;
        }
    }

    class Result
    {
        /** @var list<Error> */
        private array $errors = [];

        public function isSuccess(): bool
        {
            return $this->errors === [];
        }

        public function addError(Error $error): static
        {
            $this->errors[] = $error;
            return $this;
        }

        /** @return list<string> */
        public function getErrorMessages(): array
        {
            return array_map(fn(Error $error) => $error->getMessage(), $this->errors);
        }
    }

    class EventResult
    {
        public const SUCCESS = 1;
        public const ERROR = 2;

        public function __construct(private int $type, $parameters = null, $moduleId = null, $handler = null)
        {
        }

        public function getType(): int
        {
            return $this->type;
        }
    }

    class EventManager
    {
        private static ?self $instance = null;

        public static function getInstance(): self
        {
            return self::$instance ??= new self();
        }

        public function addEventHandlerCompatible(
            string $module,
            string $event,
            callable $do,
            $file = false,
            int $sort = 100
        ): void {
            World::$handlers["$module/$event"][] = $do;
        }

        public function addEventHandler(
            string $module,
            string $event,
            callable $do,
            $file = false,
            int $sort = 100
        ): void {
            World::$handlers["$module/$event"][] = $do;
        }

        /** Those that modules, or nobody's own file, have left to be called; each by its key. */
        public function findEventHandlers($eventModuleId, $eventType, ?array $filter = null)
        {
            return World::$tables["handlers of $eventModuleId/$eventType"] ?? [];
        }

        public function removeEventHandler($fromModuleId, $eventType, $iEventHandlerKey)
        {
            unset(World::$tables["handlers of $fromModuleId/$eventType"][$iEventHandlerKey]);
            return true;
        }

        public function registerEventHandler(
            $fromModuleId,
            $eventType,
            $toModuleId,
            $toClass = '',
            $toMethod = '',
            $sort = 100,
            $toPath = '',
            $toMethodArg = []
        ): void {
            World::call('registerEventHandler', [$fromModuleId, $eventType, $toModuleId, $toClass, $toMethod]);
            World::$tables['event_handlers']["$fromModuleId/$eventType/$toModuleId"] = [];
        }

        public function unRegisterEventHandler(
            $fromModuleId,
            $eventType,
            $toModuleId,
            $toClass = '',
            $toMethod = '',
            $toPath = '',
            $toMethodArg = []
        ): void {
            World::call('unRegisterEventHandler', [$fromModuleId, $eventType, $toModuleId, $toClass, $toMethod]);
            unset(World::$tables['event_handlers']["$fromModuleId/$eventType/$toModuleId"]);
        }

        /** Whether some handler forbids it. */
        public static function vetoed(string $event, array $fields): bool
        {
            foreach (World::$handlers[$event] ?? [] as $do) {
                $said = $do($fields);
                if ($said === false || $said instanceof EventResult && $said->getType() === EventResult::ERROR) {
                    return true;
                }
            }
            return false;
        }
    }

    class Loader
    {
        public static function includeModule(string $module): bool
        {
            return (World::$versions[$module] ?? '') !== 'missing';
        }
    }

    class ModuleManager
    {
        public static function getVersion(string $module): string|false
        {
            return World::$versions[$module] ?? '25.0.0';
        }

        public static function isModuleInstalled(string $module): bool
        {
            return str_contains($module, '.')
                ? isset(World::$tables['modules'][$module])
                : (World::$versions[$module] ?? '') !== 'missing';
        }

        public static function registerModule(string $module): void
        {
            World::call('registerModule', [$module]);
            if (isset(World::$options['main']['refuses modules'])) {
                throw new \RuntimeException('The box has no more room for modules');
            }
            World::$tables['modules'][$module] = [];
        }

        public static function unRegisterModule(string $module): void
        {
            World::call('unRegisterModule', [$module]);
            unset(World::$tables['modules'][$module]);
        }
    }

    class Application
    {
        public static function getConnection($name = ''): FakeConnection
        {
            return new FakeConnection();
        }

        public static function getDocumentRoot(): string
        {
            $root = sys_get_temp_dir() . '/b24migrate-fake-root';
            is_dir("$root/upload") || mkdir("$root/upload", 0700, true);
            return $root;
        }
    }
}

namespace Bitrix\Main\Data {

    abstract class Connection
    {
    }
}

namespace Bitrix\Main\DB {

    abstract class Connection extends \Bitrix\Main\Data\Connection
    {
    }
}

namespace Bitrix\Main\Config {

    use B24migrate\Import\Tests\Kernel\World;

    class Option
    {
        public static function get(string $module, string $name, mixed $default = '', $siteId = false): string
        {
            return World::$options[$module][$name] ?? (string)$default;
        }

        public static function set(string $module, string $name, string $value = '', $siteId = ''): void
        {
            World::$options[$module][$name] = $value;
        }

        public static function delete(string $module, array $filter = []): void
        {
            if (isset($filter['name'])) {
                unset(World::$options[$module][$filter['name']]);
                return;
            }
            unset(World::$options[$module]);
        }
    }
}

namespace Bitrix\Main\ORM\Data {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\Signatures;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Result;

    class AddResult extends Result
    {
        public function __construct(private int $id)
        {
        }

        public function getId(): int
        {
            return $this->id;
        }
    }

    class UpdateResult extends Result
    {
    }

    class DeleteResult extends Result
    {
    }

    /** Tables of the newer kernel. A fake of one names its rows in `World` and what they hold when nothing is said. */
    abstract class DataManager
    {
        protected const TABLE = '';
        protected const DEFAULTS = [];

        /** @param array<string, mixed> $parameters */
        public static function getList(array $parameters = []): Rows
        {
            $filter = $parameters['filter'] ?? [];
            $select = $parameters['select'] ?? [];
            self::known([...self::columnsOf($filter), ...$select, ...array_keys($parameters['order'] ?? [])]);
            $rows = Rows::matching(static::table(), $filter);
            foreach (array_reverse($parameters['order'] ?? []) as $column => $way) {
                $sign = strtoupper($way) === 'DESC' ? -1 : 1;
                usort($rows, fn(array $a, array $b) => $sign * Rows::order($a[$column] ?? null, $b[$column] ?? null));
            }
            // What a row was not given is null in it.
            $none = array_fill_keys(array_diff(self::fields(), ['*']), null);
            $rows = array_map(fn(array $row) => $row + $none, array_slice($rows, 0, $parameters['limit'] ?? null));
            return Rows::of($rows, $select);
        }

        /** Columns of the real table, without what only refers to others; of a table of our own none are known. */
        private static function fields(): array
        {
            $fields = Signatures::ofClass(static::class)['fields'] ?? [];
            return array_keys(array_filter($fields, fn($kind) => !preg_match('/reference|OneToMany/i', (string)$kind)));
        }

        /** The ORM throws at whatever it does not know. */
        private static function known(array $names): void
        {
            $fields = Signatures::ofClass(static::class)['fields'] ?? [];
            $unknown = array_filter($names, fn(string $name) => !isset($fields[$name]) && !str_starts_with($name, 'UF_')
                && $name !== '*');
            if ($fields !== [] && !isset($fields['*']) && $unknown !== []) {
                throw new \LogicException(static::class . ' has no field ' . implode(', ', $unknown));
            }
        }

        /** @return list<string> */
        private static function columnsOf(array $filter): array
        {
            $names = [];
            foreach ($filter as $name => $value) {
                $own = is_int($name) ? self::columnsOf($value) : [(string)preg_replace('/^[^A-Z]+/', '', $name)];
                $names = [...$names, ...array_diff($own, ['LOGIC'])];
            }
            return $names;
        }

        public static function getMap()
        {
            return [];
        }

        public static function getTableName()
        {
            return null;
        }

        public static function getByPrimary(string|int $id, array $parameters = []): Rows
        {
            $row = World::$tables[static::table()][$id] ?? null;
            return new Rows($row === null ? [] : [$row]);
        }

        public static function getCount(array $filter = [], array $cache = []): int
        {
            self::known(self::columnsOf($filter));
            return count(Rows::matching(static::table(), $filter));
        }

        public static function getEntity(): \Bitrix\Main\ORM\Entity
        {
            return new \Bitrix\Main\ORM\Entity(static::class);
        }

        /** A table of our own says itself how it is called; its rows have their first column for a number. */
        protected static function table(): string
        {
            return static::TABLE ?: static::getTableName();
        }

        public static function add(array $row)
        {
            World::call(static::class . '::add', [$row]);
            self::known(array_keys($row));
            Signatures::refuseTooLong(Signatures::ofClass(static::class)['table'] ?? null, $row);
            if (static::TABLE === '') {
                World::$tables[static::table()][reset($row)] = $row;
                return new AddResult(0);
            }
            return new AddResult(World::put(static::table(), $row + static::DEFAULTS));
        }

        public static function update(string|int $id, array $row)
        {
            World::call(static::class . '::update', [$id, $row]);
            self::known(array_keys($row));
            Signatures::refuseTooLong(Signatures::ofClass(static::class)['table'] ?? null, $row);
            World::set(static::table(), $id, $row + World::$tables[static::table()][$id]);
            return new Result();
        }

        public static function delete(string|int $id)
        {
            unset(World::$tables[static::table()][$id]);
            return new Result();
        }
    }
}

namespace Bitrix\Main\Mail\Internal {

    class EventTable extends \Bitrix\Main\ORM\Data\DataManager
    {
        protected const TABLE = 'mail_queue';
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;

    /** The site writes days first. */
    function ConvertTimeStamp(int $timestamp, string $type = 'SHORT'): string
    {
        return date($type === 'FULL' ? 'd.m.Y H:i:s' : 'd.m.Y', $timestamp);
    }

    function MakeTimeStamp(string $text): int|false
    {
        $format = strlen($text) > 10 ? '!d.m.Y H:i:s' : '!d.m.Y';
        $time = DateTimeImmutable::createFromFormat($format, $text);
        return $time === false ? false : $time->getTimestamp();
    }

    class CAgent
    {
        public static function GetList($arOrder = ['ID' => 'DESC'], $arFilter = [])
        {
            $rows = Rows::matching('agents_waiting', $arFilter);
            return new Rows(array_reverse($rows));
        }

        /** An agent of the same name is there once. */
        public static function AddAgent(
            $name,
            $module = '',
            $period = 'N',
            $interval = 86400,
            $datecheck = '',
            $active = 'Y',
            $next_exec = '',
            $sort = 100,
            $user_id = false,
            $existError = true
        ) {
            $there = Rows::matching('agents_waiting', ['NAME' => $name])[0] ?? null;
            if ($there !== null && $existError) {
                throw new \LogicException('There is such an agent');
            }
            return $there['ID'] ?? World::put('agents_waiting', ['NAME' => $name, 'MODULE_ID' => $module]);
        }
    }

    class CTimeZone
    {
        public static int $disabled = 0;

        public static function Disable(): void
        {
            self::$disabled++;
        }

        public static function Enable(): void
        {
            self::$disabled--;
        }

        public static function GetOffset($USER_ID = null, $forced = false): int
        {
            return self::$disabled > 0 ? 0 : World::OFFSET_OF_CALLER;
        }
    }

    class CSite
    {
        public static function GetDefSite($LID = false): string
        {
            return 's1';
        }
    }

    class CFile
    {
        /** @return array<string, mixed>|null from a path or a number */
        public static function MakeFileArray(
            string|int $from,
            $mimetype = false,
            $skipInternal = false,
            $external_id = ''
        ): ?array {
            if (is_int($from)) {
                $row = World::row('blobs', $from);
                $row = ['name' => $row['ORIGINAL_NAME'] ?? '', 'content' => $row['CONTENT'] ?? ''];
                return $row + ['type' => 'x', 'external_id' => World::row('blobs', $from)['EXTERNAL_ID'] ?? ''];
            }
            return is_file($from) ? ['name' => basename($from), 'tmp_name' => $from, 'type' => 'x'] : null;
        }

        public static function SaveFile(
            array $file,
            string $folder,
            $forceRandom = false,
            $skipExtension = false,
            $dirAdd = ''
        ): int|false {
            $refused = preg_match('/^$|^\.ht|[\x00-\x1f]/', $file['name']) === 1;
            if ($refused || !isset($file['content']) && filesize($file['tmp_name']) === 0) {
                return false;
            }
            return World::put('blobs', [
                'ORIGINAL_NAME' => $file['name'],
                'CONTENT' => $file['content'] ?? file_get_contents($file['tmp_name']),
                'EXTERNAL_ID' => $file['external_id'] ?? bin2hex(random_bytes(8)),
            ]);
        }

        /** What is wrong with a picture: its extension, or that nobody can read it; null when nothing is. */
        public static function CheckImageFile(
            $file,
            $iMaxSize = 0,
            $iMaxWidth = 0,
            $iMaxHeight = 0,
            $access_typies = [],
            $bForceMD5 = false,
            $bSkipExt = false
        ): ?string {
            $isPicture = preg_match('/\.(jpe?g|png|gif|bmp|webp)$/i', $file['name'] ?? 'none.png') === 1;
            return $isPicture ? null : 'The file is not a picture.';
        }

        public static function GetFileArray(int $id, $uploadDir = false): array|false
        {
            return World::row('blobs', $id) ?: false;
        }

        /** A column that owns a file: the array becomes a number, and the old one goes. */
        public static function owned(mixed $value, mixed $now): mixed
        {
            if (!is_array($value)) {
                return $value;
            }
            $old = $value['old_file'] ?? $value['old_id'] ?? null;
            $gone = ($value['del'] ?? '') === 'Y' || isset($value['name']);
            if ($gone && $old) {
                unset(World::$tables['blobs'][(int)$old]);
            }
            return isset($value['name']) ? self::SaveFile($value, 'main') : ($gone ? null : $now);
        }
    }

    class CIBlockSection
    {
        public string $LAST_ERROR = '';

        public static function GetList(
            array $order = ['SORT' => 'ASC'],
            array $filter = [],
            $count = false,
            array $select = [],
            $arNavStartParams = false
        ): Rows {
            return Rows::of(Rows::matching('sections', $filter), $select);
        }

        public function Add(array $row, $bResort = true, $bUpdateSearch = true, $bResizePictures = false): int|false
        {
            if (($row['NAME'] ?? '') === '') {
                $this->LAST_ERROR = 'No name.<br>';
                return false;
            }
            $code = $row['CODE'] ?? '';
            $there = array_column(World::$tables['sections'], 'CODE');
            if ($code !== '' && in_array($code, $there, true) && isset(World::$options['iblock']['codes_once'])) {
                $this->LAST_ERROR = 'There is a section with this code.<br>';
                return false;
            }
            return World::put('sections', $row);
        }

        public function Update(
            int $id,
            array $row,
            $bResort = true,
            $bUpdateSearch = true,
            $bResizePictures = false
        ): bool {
            World::set('sections', $id, $row + World::row('sections', $id));
            return true;
        }

        public static function Delete(int $id, $check = true): bool
        {
            unset(World::$tables['sections'][$id]);
            return true;
        }
    }
}

namespace B24migrate\Import\Tests\Kernel {

    class FakeDatabase
    {
        /** What may not be empty in the table of activities. Texts are those of columns of three bytes. */
        private const NOT_NULL = [
            'b_crm_act' => ['crm_act', 'TYPE_ID OWNER_ID OWNER_TYPE_ID SUBJECT COMPLETED STATUS RESPONSIBLE_ID PRIORITY'
                . ' NOTIFY_TYPE DIRECTION CREATED LAST_UPDATED'],
        ];

        public function Add(
            $tablename,
            $arFields,
            $arCLOBFields = [],
            $strFileDir = '',
            $ignore_errors = false,
            $error_position = '',
            $arOptions = []
        ) {
            [$table, $needed] = self::NOT_NULL[$tablename];
            $missing = array_diff(explode(' ', $needed), array_keys($arFields));
            if ($missing !== []) {
                throw new \RuntimeException('No default value for ' . implode(', ', $missing));
            }
            \Bitrix\Main\Text\Emoji::refuse($arFields);
            $times = array_intersect_key($arFields, ['CREATED' => 1, 'LAST_UPDATED' => 1]);
            return World::put($table, array_map(World::heard(...), $times) + $arFields);
        }

        /** Values are SQL. */
        public function Update(
            $table_name,
            $arFields,
            $WHERE = '',
            $error_position = '',
            $DEBUG = false,
            $ignore_errors = false,
            $additional_check = true
        ) {
            [$table] = self::NOT_NULL[$table_name];
            $id = (int)(preg_match('/^WHERE ID = (\d+)$/', $WHERE, $found) === 1 ? $found[1] : 0);
            $sql = preg_grep('/^(\d+|\'[^\']*\')$/D', $arFields, PREG_GREP_INVERT);
            if ($id === 0 || $sql !== []) {
                throw new \RuntimeException('You have an error in your SQL syntax');
            }
            $values = array_map(static fn(string $value) => trim($value, "'"), $arFields);
            World::set($table, $id, $values + World::row($table, $id));
            return 1;
        }

        public function CharToDateFunction(string $text, string $format = 'FULL', $lang = false): string
        {
            return "date($text)";
        }
    }

    class FakeApplication
    {
        private ?string $said = null;

        public function say(string $message): void
        {
            $this->said = $message;
        }

        public function ThrowException($msg, $id = false)
        {
            $this->said = $msg;
        }

        public function IncludeAdminFile($strTitle, $filepath)
        {
            World::call('IncludeAdminFile', [$strTitle, basename($filepath)]);
        }

        public function GetException(): ?object
        {
            return $this->said === null ? null : new class ($this->said) {
                public function __construct(private string $said)
                {
                }

                public function GetString(): string
                {
                    return $this->said;
                }
            };
        }

        public function ResetException(): void
        {
            $this->said = null;
        }
    }
}
