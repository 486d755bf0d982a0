<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Disk\Driver;
use Bitrix\Disk\File;
use Bitrix\Disk\Folder;
use Bitrix\Disk\Internals\AttachedObjectTable;
use Bitrix\Disk\Internals\ObjectTable;

/**
 * Complete files: objects of the disk in a storage of their own, which nobody but administrators may open. What they
 * are attached to shows them (`n<id>`); photos and the like are copies, each stamped with the file it came from.
 */
final class Files extends Gateway
{
    private const STORAGE = 'b24migrate_import';
    private const ORIGIN = 'b24m_file_';

    /** How tasks, posts and comments take a file. */
    public static function attachment(string $id): string
    {
        return 'n' . $id;
    }

    /** @param list<mixed> $attached ids of attachments @return list<string> files behind them, in order */
    public static function attachedTo(array $attached): array
    {
        $ids = array_values(array_filter(array_map('intval', $attached)));
        if ($ids === []) {
            return [];
        }
        $rows = self::all(AttachedObjectTable::class, ['ID', 'OBJECT_ID'], ['@ID' => $ids]);
        $objects = array_column($rows, 'OBJECT_ID', 'ID');
        return array_values(array_map('strval', array_filter(array_map(fn(int $id) => $objects[$id] ?? null, $ids))));
    }

    /**
     * A copy for a column that owns its file: the kernel deletes the old one whenever the value changes.
     *
     * @return array<string, mixed> as CFile takes it
     */
    public static function copy(string $id): array
    {
        $file = File::loadById((int)$id);
        $copy = \CFile::MakeFileArray((int)$file?->getFileId()) ?: [];
        return ['name' => (string)$file?->getName(), 'external_id' => self::ORIGIN . $id] + $copy;
    }

    /** The file that such a copy was made of. */
    public static function origin(int $blob): ?string
    {
        $row = $blob > 0 ? \CFile::GetFileArray($blob) : false;
        $stamp = (string)($row['EXTERNAL_ID'] ?? '');
        return str_starts_with($stamp, self::ORIGIN) ? substr($stamp, strlen(self::ORIGIN)) : null;
    }

    public static function stamped(string $key): ?string
    {
        $filter = ['=CODE' => self::stamp($key), '=STORAGE_ID' => self::root()->getStorageId()];
        $rows = self::all(ObjectTable::class, ['ID'], $filter);
        return $rows === [] ? null : (string)$rows[0]['ID'];
    }

    /** Makes a file of what lies at a path. */
    public static function put(string $key, string $path, string $name): string
    {
        $author = self::actor();
        $data = ['NAME' => $name, 'CREATED_BY' => $author, 'CODE' => self::stamp($key)];
        // An empty file is taken as empty content only, as the disk's own blank files are.
        $content = filesize($path) === 0 ? ['content' => ''] : (\CFile::MakeFileArray($path) ?: []);
        $content = ['name' => $name] + $content;
        $file = self::folder(self::stamp($key), $author)->uploadFile($content, $data, [], true);
        if ($file === null) {
            throw new \RuntimeException("the disk does not take the file $name");
        }
        return (string)$file->getId();
    }

    private static function root(): Folder
    {
        $driver = Driver::getInstance();
        // Without rights of anybody: only administrators look into it, and whoever sees what a file is attached to.
        // To be checked on a real box.
        $storage = $driver->getStorageByCommonId(self::STORAGE) ?? $driver->addCommonStorage(
            ['NAME' => 'Migration', 'ENTITY_ID' => self::STORAGE, 'SITE_ID' => \CSite::GetDefSite()],
            []
        );
        return $storage->getRootObject();
    }

    /** One for each file: in a common one the disk would call the second photo.jpg "photo (1).jpg". */
    private static function folder(string $name, int $author): Folder
    {
        $root = self::root();
        return Folder::load(['=NAME' => $name, '=PARENT_ID' => $root->getId()])
            ?? $root->addSubFolder(['NAME' => $name, 'CREATED_BY' => $author])
            ?? throw new \RuntimeException('the disk does not take a folder');
    }

    public function has(string $id): bool
    {
        return self::exists(ObjectTable::class, $id);
    }

    public function read(array $ids): array
    {
        $found = [];
        $filter = ['@ID' => array_map('intval', $ids), '=TYPE' => ObjectTable::TYPE_FILE];
        foreach (self::all(ObjectTable::class, ['ID', 'NAME', 'SIZE'], $filter) as $row) {
            $found[(string)$row['ID']] = ['name' => $row['NAME'], 'size' => (int)$row['SIZE']];
        }
        return $found;
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
        File::loadById((int)$id)?->delete(self::actor());
    }

    public function needed(string $id, array $gone = []): ?string
    {
        return self::any(AttachedObjectTable::class, ['=OBJECT_ID' => (int)$id]) ? 'it is attached to something' : null;
    }
}
