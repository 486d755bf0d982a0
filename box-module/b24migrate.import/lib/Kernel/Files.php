<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Disk\{Driver, File, Folder};
use Bitrix\Disk\Internals\{AttachedObjectTable, ObjectTable};
use Bitrix\Main\FileTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Complete files: objects of the disk in a storage of their own, which nobody but administrators may open. What they
 * are attached to shows them (`n<id>`); photos and the like are copies, each stamped with the file it came from.
 */
final class Files extends Gateway
{
    protected const TABLE = ObjectTable::class;
    protected const FIELDS = ['text' => 'name', 'int' => 'size'];
    private const STORAGE = 'b24migrate_import';
    private const ORIGIN = 'b24m_file_';

    /** How tasks, posts and comments take files. */
    public static function attachments(?array $ids): array
    {
        return array_map(fn(string $id) => "n$id", $ids ?? []);
    }

    /**
     * @param array<int, list<mixed>> $attached ids of attachments by record
     * @return array<int, list<string>> the files behind them, in order
     */
    public static function filesOf(array $attached): array
    {
        $ids = array_map('intval', array_filter(array_merge([], ...array_values($attached))));
        $rows = self::findRows(AttachedObjectTable::class, ['ID', 'OBJECT_ID'], ['@ID' => $ids]);
        $objects = array_column($rows, 'OBJECT_ID', 'ID');
        $file = fn(mixed $id) => isset($objects[(int)$id]) ? (string)$objects[(int)$id] : null;
        return array_map(fn(array $of) => array_values(array_filter(array_map($file, $of))), $attached);
    }

    /** @return array<int, list<string>> the files that hang on each of these records by a field of the disk */
    public static function attachedFiles(string $entity, string $code, array $ids): array
    {
        $attached = [];
        foreach ($ids as $id) {
            $attached[$id] = (array)($GLOBALS['USER_FIELD_MANAGER']->GetUserFieldValue($entity, $code, $id) ?: []);
        }
        return self::filesOf($attached);
    }

    /**
     * Hangs files on a record, past the check of legacy classes and of the forum: they ask whether the author may read
     * a file, and nobody but administrators may, until it hangs there.
     */
    public static function attach(string $entity, string $code, int $id, ?array $files): void
    {
        $GLOBALS['USER_FIELD_MANAGER']->Update($entity, $id, [$code => self::attachments($files)], self::actor());
    }

    /** A copy for a column that owns its file: the kernel deletes the old one whenever the value changes. */
    public static function copy(string $id): array
    {
        $file = File::loadById((int)$id);
        $copy = \CFile::MakeFileArray((int)$file?->getFileId()) ?: [];
        return ['name' => (string)$file?->getName(), 'external_id' => self::ORIGIN . $id] + $copy;
    }

    /** For a field that names a file of the box; the kernel answers a name that it refuses with nothing. */
    public static function save(array $copy, string $module, string $field): int
    {
        return (int)\CFile::SaveFile(['MODULE_ID' => $module] + $copy, $module)
            ?: throw new ItemFault('VALIDATION', $field, "$field: the box does not take the file {$copy['name']}");
    }

    /** What is written into such a column; nothing when the field was not sent or is there already. */
    public static function ownedColumn(string $field, array $fields, string $column, int $now): array
    {
        $sent = $fields[$field] ?? false;
        if (!array_key_exists($field, $fields) || (self::origins([$now])[$now] ?? null) === $sent) {
            return [];
        }
        $file = $fields[$field] === null ? ['del' => 'Y'] : self::copy($fields[$field]);
        return [$column => $file + ['old_file' => $now]];
    }

    /** @return array<int, string> the files that such copies were made of, in the order they are asked for */
    public static function origins(array $blobs): array
    {
        $ids = array_values(array_unique(array_filter(array_map('intval', $blobs))));
        $rows = self::findRows(FileTable::class, ['ID', 'EXTERNAL_ID'], ['@ID' => $ids]);
        $stamps = preg_grep('/^' . self::ORIGIN . '/', array_column($rows, 'EXTERNAL_ID', 'ID'));
        $files = array_map(fn(string $stamp) => substr($stamp, strlen(self::ORIGIN)), $stamps);
        return array_replace(array_intersect_key(array_flip($ids), $files), $files);
    }

    /** Rows whose column contains the file instead of its copy. */
    public static function withOrigins(array $rows, string $column): array
    {
        $origins = self::origins(array_column($rows, $column));
        return array_map(fn(array $row) => [$column => $origins[(int)($row[$column] ?? 0)] ?? null] + $row, $rows);
    }

    /** That a file keeps the code it is given is to be checked on a real box. */
    public function findLeftover(string $key, array $fields): ?string
    {
        $filter = ['=CODE' => self::stamp($key), '=STORAGE_ID' => self::root()->getStorageId()];
        $rows = self::findRows(ObjectTable::class, ['ID'], $filter);
        return $rows === [] ? null : (string)$rows[0]['ID'];
    }

    /** Makes a file of what lies at a path. */
    public static function put(string $key, string $path, string $name): string
    {
        $data = ['NAME' => $name, 'CREATED_BY' => self::actor(), 'CODE' => self::stamp($key)];
        // An empty file is taken as empty content only, as the disk's own blank files are.
        $content = filesize($path) === 0 ? ['content' => ''] : (\CFile::MakeFileArray($path) ?: []);
        $file = self::folder(self::stamp($key))->uploadFile(['name' => $name] + $content, $data, [], true);
        return (string)($file?->getId() ?? throw new \RuntimeException("the disk does not take the file $name"));
    }

    private static function root(): Folder
    {
        $driver = Driver::getInstance();
        $find = fn() => $driver->getStorageByCommonId(self::STORAGE);
        $row = ['NAME' => 'Migration', 'ENTITY_ID' => self::STORAGE, 'SITE_ID' => \CSite::GetDefSite()];
        // Without rights: only administrators open it. Others open a file where it is attached. To be checked on a
        // real box.
        $make = fn() => $find() ?? $driver->addCommonStorage($row, []);
        return ($find() ?? (new KernelGuard())->withLock('storage', $make))->getRootObject();
    }

    /** One for each file: in a common one the disk would call the second photo.jpg "photo (1).jpg". */
    private static function folder(string $name): Folder
    {
        $root = self::root();
        return Folder::load(['=NAME' => $name, '=PARENT_ID' => $root->getId()])
            ?? $root->addSubFolder(['NAME' => $name, 'CREATED_BY' => self::actor()])
            ?? throw new \RuntimeException('the disk does not take a folder');
    }

    protected function loadRows(array $ids): array
    {
        $filter = ['@ID' => $ids, '=TYPE' => ObjectTable::TYPE_FILE];
        return self::findRows(ObjectTable::class, ['ID', 'NAME', 'SIZE'], $filter);
    }

    public function create(string $key, array $fields): string
    {
        throw new \LogicException('files are made by the shelf');
    }

    public function update(string $id, array $fields): void
    {
        throw new \LogicException('files do not change');
    }

    public function delete(string $id): void
    {
        $file = File::loadById((int)$id);
        $folder = $file?->getParent();
        $file?->delete(self::actor());
        // the one that was made for it alone
        $own = $folder !== null && str_starts_with((string)$folder->getName(), self::STAMP);
        $own && $folder->deleteTree(self::actor());
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $attached = self::rowExists(AttachedObjectTable::class, ['=OBJECT_ID' => (int)$id]);
        return $attached || CrmActivityParts::hasFile((int)$id) ? 'it is attached to something' : null;
    }
}
