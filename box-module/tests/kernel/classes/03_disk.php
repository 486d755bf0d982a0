<?php

// Module disk: a storage has a root, folders hold files, names are unique in a folder.

declare(strict_types=1);

namespace Bitrix\Disk\Internals {

    use Bitrix\Main\ORM\Data\DataManager;

    class ObjectTable extends DataManager
    {
        public const TYPE_FILE = 3;
        public const TYPE_FOLDER = 2;
        protected const TABLE = 'objects';
    }

    class AttachedObjectTable extends DataManager
    {
        protected const TABLE = 'attached';
    }
}

namespace Bitrix\Disk {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Disk\Internals\ObjectTable;

    class BaseObject
    {
        public function __construct(protected array $row)
        {
        }

        public static function load(array $filter, array $with = []): ?static
        {
            $row = Rows::matching('objects', $filter)[0] ?? null;
            return $row === null ? null : new static($row);
        }

        public static function loadById(int $id, array $with = []): ?static
        {
            return static::load(['ID' => $id]);
        }

        public function getId(): int
        {
            return $this->row['ID'];
        }

        public function getName(): string
        {
            return $this->row['NAME'];
        }

        public function getParent(): ?Folder
        {
            return Folder::loadById((int)$this->row['PARENT_ID']);
        }

        public function getStorageId(): int
        {
            return $this->row['STORAGE_ID'];
        }
    }

    class File extends BaseObject
    {
        public function getFileId(): int
        {
            return $this->row['FILE_ID'];
        }

        public function delete(int $by): bool
        {
            unset(World::$tables['objects'][$this->row['ID']], World::$tables['blobs'][$this->row['FILE_ID']]);
            return true;
        }
    }

    class Folder extends BaseObject
    {
        public function addSubFolder(array $data, array $rights = [], bool $unique = false): ?self
        {
            return new self($this->child($data + ['TYPE' => ObjectTable::TYPE_FOLDER]));
        }

        public function uploadFile(array $file, array $data, array $rights = [], $unique = false): ?\Bitrix\Disk\File
        {
            $blob = \CFile::SaveFile($file, 'disk');
            if ($blob === false) {
                return null;
            }
            $size = strlen(World::row('blobs', $blob)['CONTENT']);
            $row = ['FILE_ID' => $blob, 'SIZE' => $size, 'TYPE' => ObjectTable::TYPE_FILE];
            $kept = array_intersect_key($data, ['NAME' => 1, 'CREATED_BY' => 1, 'CODE' => 1]);
            return new File($this->child($kept + $row));
        }

        public function deleteTree(): bool
        {
            foreach (Rows::matching('objects', ['PARENT_ID' => $this->row['ID']]) as $child) {
                unset(World::$tables['objects'][$child['ID']]);
            }
            unset(World::$tables['objects'][$this->row['ID']]);
            return true;
        }

        private function child(array $row): array
        {
            $taken = Rows::matching('objects', ['PARENT_ID' => $this->row['ID'], 'NAME' => $row['NAME']]) !== [];
            $row['NAME'] .= $taken ? ' (1)' : '';
            $row += ['PARENT_ID' => $this->row['ID'], 'STORAGE_ID' => $this->row['STORAGE_ID']];
            return World::row('objects', World::put('objects', $row));
        }
    }

    class Storage
    {
        public function __construct(private array $row)
        {
        }

        public function getRootObject(): \Bitrix\Disk\Folder
        {
            return Folder::loadById($this->row['ROOT']);
        }
    }

    class Driver
    {
        public static function getInstance(): self
        {
            return new self();
        }

        public function getStorageByCommonId(string $id): ?\Bitrix\Disk\Storage
        {
            $row = Rows::matching('storages', ['ENTITY_ID' => $id])[0] ?? null;
            return $row === null ? null : new Storage($row);
        }

        public function addCommonStorage(array $data, array $rights): \Bitrix\Disk\Storage
        {
            World::call('Driver::addCommonStorage', [$data, $rights]);
            return new Storage(World::row('storages', self::storage($data)));
        }

        public static function storage(array $data): int
        {
            $root = World::put('objects', ['NAME' => '/', 'PARENT_ID' => 0, 'TYPE' => ObjectTable::TYPE_FOLDER]);
            $id = World::put('storages', $data + ['ROOT' => $root]);
            World::$tables['objects'][$root]['STORAGE_ID'] = $id;
            return $id;
        }
    }
}
