<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\Product\Catalog;
use Bitrix\Iblock\{ElementTable, SectionTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Sections of the one catalogue that the CRM of the box has. */
final class CatalogSections extends TableGateway
{
    protected const TABLE = SectionTable::class;
    protected const FIELDS = [
        'text' => 'name code xmlId description descriptionType', 'int' => 'sort', 'flag' => 'active',
        'id' => 'iblockSectionId',
    ];
    protected const FILLED = ['SORT', 'DESCRIPTION_TYPE'];

    /** The catalogue of products, or that of their offers. */
    public static function block(string $kind = 'product'): int
    {
        $id = $kind === 'offer' ? Catalog::getDefaultOfferId() : Catalog::getDefaultId();
        return $id ?? throw new ItemFault('VALIDATION', null, "the CRM of the box has no catalogue of {$kind}s");
    }

    public function find(array $values): ?string
    {
        return $this->findByFields($values, ['=IBLOCK_ID' => self::block()]);
    }

    public function create(string $key, array $fields): string
    {
        $section = new \CIBlockSection();
        $row = ['IBLOCK_ID' => self::block(), 'ACTIVE' => 'Y'];
        return (string)($this->save($fields, static fn(array $sent) => $section->Add($sent + $row, true, false))
            ?: throw self::refusal('the box does not take this section', said: $section->LAST_ERROR));
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(SectionTable::class, ['ID'], $id));
        $section = new \CIBlockSection();
        $this->save($fields, static fn(array $sent) => $section->Update((int)$id, $sent, true, false))
            ?: throw self::refusal('the box does not take this section', said: $section->LAST_ERROR);
    }

    public function delete(string $id): void
    {
        \CIBlockSection::Delete((int)$id, false) ?: throw self::refusal('the box does not let this section go');
    }

    /** The kernel deletes what is in a section together with it. */
    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $below = self::findRows(SectionTable::class, ['ID'], ['=IBLOCK_SECTION_ID' => (int)$id]);
        if (array_diff(array_map('strval', array_column($below, 'ID')), $gone) !== []) {
            return 'it has sections below it';
        }
        return self::rowExists(ElementTable::class, ['=IBLOCK_SECTION_ID' => (int)$id]) ? 'products are in it' : null;
    }

    /** A catalogue may want a code once: then it is left out. */
    private function save(array $fields, \Closure $write): int|bool
    {
        $row = self::columns()->toKernel($fields);
        $saved = $write($row);
        if (!$saved && ($row['CODE'] ?? '') !== '') {
            $this->leftOut[] = 'code';
            $saved = $write(['CODE' => ''] + $row);
        }
        return $saved;
    }
}
