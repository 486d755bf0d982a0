<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Integration\{DiskManager, StorageFileType};
use Bitrix\Disk\File;
use Bitrix\Disk\Internals\ObjectTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Files in the folders that the CRM has on the disk: quotes and activities name objects there. */
final class CrmFiles
{
    /**
     * Objects that hold copies of these files; a copy that is there already is not made again.
     *
     * @param list<string> $files of the contract
     * @param list<int> $now objects that the record has
     * @return list<int>
     */
    public static function save(array $files, array $now, string $field, int $author): array
    {
        $there = self::origins($now);
        $objects = $copies = [];
        try {
            foreach ($files as $file) {
                $objects[] = array_search($file, $there, true) ?: $copies[] = self::copy($file, $field, $author);
            }
        } catch (\Throwable $fault) {
            self::delete($copies, $author);
            throw $fault;
        }
        return $objects;
    }

    /** @return array<int, string> files of the contract by object, of those that are copies of one */
    public static function origins(array $objects): array
    {
        $ids = array_values(array_filter(array_map('intval', $objects)));
        $rows = $ids === [] ? [] : ObjectTable::getList([
            'select' => ['ID', 'FILE_ID'], 'filter' => ['@ID' => $ids],
        ])->fetchAll();
        $blobs = array_map('intval', array_column($rows, 'FILE_ID', 'ID'));
        $origins = Files::origins($blobs);
        $files = array_map(static fn(int $blob) => $origins[$blob] ?? null, $blobs);
        return array_filter(array_replace(array_intersect_key(array_flip($ids), $files), $files));
    }

    /** Copies that no record has any more; what is no copy of ours stays. */
    public static function delete(array $objects, int $by): void
    {
        foreach (array_keys(self::origins($objects)) as $id) {
            File::loadById($id)?->delete($by);
        }
    }

    private static function copy(string $file, string $field, int $author): int
    {
        $blob = Files::save(Files::copy($file), 'crm', $field);
        return (int)DiskManager::saveFile((array)\CFile::GetFileArray($blob), '', [
            'TYPE_ID' => StorageFileType::Rest,
            'USER_ID' => $author,
            'USE_MONTH_FOLDERS' => true,
        ]) ?: throw new \RuntimeException("the disk does not take the file of $field");
    }
}
