<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Config\Option;

/**
 * The company's structure: sections of one information block. XML_ID is free there and takes the stamp of the key.
 * That newer boxes keep their own structure (humanresources) in step with it is to be checked on a real box.
 */
final class Departments extends Gateway
{
    private const FIELDS = [
        'NAME' => ['NAME', 'text'],
        'PARENT' => ['IBLOCK_SECTION_ID', 'id'],
        'SORT' => ['SORT', 'int'],
        'UF_HEAD' => ['UF_HEAD', 'id'],
    ];

    public static function block(): int
    {
        return (int)Option::get('intranet', 'iblock_structure', 0);
    }

    /** The first section without a parent. */
    public static function root(): string
    {
        $filter = ['IBLOCK_ID' => self::block(), 'SECTION_ID' => false, 'CHECK_PERMISSIONS' => 'N'];
        $rows = self::rows(\CIBlockSection::GetList(['LEFT_MARGIN' => 'ASC'], $filter, false, ['ID']));
        return (string)($rows[0]['ID'] ?? '');
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach ($this->sections(['ID' => array_map('intval', $ids)]) as $row) {
            $found[(string)$row['ID']] = (new Columns(self::FIELDS))->fromKernel($row);
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $section = new \CIBlockSection();
        $row = ['IBLOCK_ID' => self::block(), 'XML_ID' => self::stamp($key), 'ACTIVE' => 'Y'];
        $id = $section->Add($row + $this->row($fields));
        if (!$id) {
            throw $this->refusal(self::plain((string)$section->LAST_ERROR) ?: 'the box does not take this department');
        }
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $section = new \CIBlockSection();
        // UF fields of a section are only written when its block is told.
        if (!$section->Update((int)$id, ['IBLOCK_ID' => self::block()] + $this->row($fields))) {
            throw $this->refusal(self::plain((string)$section->LAST_ERROR) ?: 'the box does not take this department');
        }
    }

    public function delete(string $id): void
    {
        if (!\CIBlockSection::Delete((int)$id, false)) {
            throw $this->refusal('the box does not let this department go');
        }
    }

    public function needed(string $id, array $gone = []): ?string
    {
        $children = array_column($this->sections(['SECTION_ID' => (int)$id]), 'ID');
        if (array_diff(array_map('strval', $children), $gone) !== []) {
            return 'it has departments below it';
        }
        $one = ['FIELDS' => ['ID'], 'NAV_PARAMS' => ['nTopCount' => 1]];
        $people = \CUser::GetList('id', 'asc', ['UF_DEPARTMENT' => (int)$id], $one);
        return $people->Fetch() ? 'people work in it' : null;
    }

    public function atomic(): bool
    {
        return false;
    }

    public function trace(string $key, array $fields): ?string
    {
        $found = $this->sections(['=XML_ID' => self::stamp($key)]);
        return $found === [] ? null : (string)$found[0]['ID'];
    }

    /** A section always has a place in the order. @param array<string, mixed> $fields @return array<string, mixed> */
    private function row(array $fields): array
    {
        $row = (new Columns(self::FIELDS))->toKernel($fields);
        return ($row['SORT'] ?? 0) === false ? array_diff_key($row, ['SORT' => 1]) : $row;
    }

    /** @param array<string, mixed> $filter @return list<array<string, mixed>> */
    private function sections(array $filter): array
    {
        return self::rows(\CIBlockSection::GetList(
            ['ID' => 'ASC'],
            $filter + ['IBLOCK_ID' => self::block(), 'CHECK_PERMISSIONS' => 'N'],
            false,
            ['ID', 'NAME', 'IBLOCK_SECTION_ID', 'SORT', 'XML_ID', 'UF_HEAD']
        ));
    }
}
