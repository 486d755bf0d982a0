<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Config\Option;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The company's structure: sections of one information block. XML_ID is free there and takes the stamp of the key.
 * That newer boxes keep their own structure (humanresources) in step with it is to be checked on a real box.
 */
final class Departments extends Gateway
{
    protected const ATOMIC = false;
    protected const FIELDS = ['text' => 'NAME', 'id' => 'PARENT:IBLOCK_SECTION_ID UF_HEAD', 'int' => 'SORT'];
    protected const FILLED = ['SORT'];

    /** The first section without a parent. */
    public static function root(): string
    {
        return (string)(self::sections(['SECTION_ID' => false], ['LEFT_MARGIN' => 'ASC'])[0]['ID'] ?? '');
    }

    public function create(string $key, array $fields): string
    {
        $section = new \CIBlockSection();
        $id = $section->Add(['XML_ID' => self::stamp($key), 'ACTIVE' => 'Y'] + self::row($fields))
            ?: throw self::refusal('the box does not take this department', said: $section->LAST_ERROR);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $section = new \CIBlockSection();
        $section->Update((int)$id, self::row($fields))
            ?: throw self::refusal('the box does not take this department', said: $section->LAST_ERROR);
    }

    public function delete(string $id): void
    {
        \CIBlockSection::Delete((int)$id, false) ?: throw self::refusal('the box does not let this department go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $children = array_column(self::sections(['SECTION_ID' => (int)$id]), 'ID');
        if (array_diff(array_map('strval', $children), $gone) !== []) {
            return 'it has departments below it';
        }
        $one = ['FIELDS' => ['ID'], 'NAV_PARAMS' => ['nTopCount' => 1]];
        $people = \CUser::GetList('id', 'asc', ['UF_DEPARTMENT' => (int)$id], $one);
        return $people->Fetch() ? 'people work in it' : null;
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $found = self::sections(['=XML_ID' => self::stamp($key)]);
        return $found === [] ? null : (string)$found[0]['ID'];
    }

    protected function loadRows(array $ids): array
    {
        return self::sections(['ID' => $ids]);
    }

    /** The kernel writes UF fields of a section only with IBLOCK_ID. */
    private static function row(array $fields): array
    {
        return ['IBLOCK_ID' => self::block()] + self::columns()->toKernel($fields);
    }

    private static function sections(array $filter, array $order = ['ID' => 'ASC']): array
    {
        $filter += ['IBLOCK_ID' => self::block(), 'CHECK_PERMISSIONS' => 'N'];
        $select = ['ID', 'NAME', 'IBLOCK_SECTION_ID', 'SORT', 'XML_ID', 'UF_HEAD'];
        return self::legacyRows(\CIBlockSection::GetList($order, $filter, false, $select));
    }

    private static function block(): int
    {
        return (int)Option::get('intranet', 'iblock_structure', 0);
    }
}
