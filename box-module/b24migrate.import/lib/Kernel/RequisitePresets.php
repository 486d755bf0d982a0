<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\{EntityPreset, PresetTable, RequisiteTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Templates of requisites: which of them a country asks for. A box has those of its own country. */
final class RequisitePresets extends TableGateway
{
    protected const TABLE = PresetTable::class;
    protected const FIELDS = ['text' => 'NAME XML_ID', 'int' => 'SORT COUNTRY_ID', 'flag' => 'ACTIVE'];
    protected const FILLED = ['SORT', 'COUNTRY_ID'];

    public function find(array $values): ?string
    {
        return $this->findByFields($values, ['=ENTITY_TYPE_ID' => EntityPreset::Requisite]);
    }

    public function create(string $key, array $fields): string
    {
        $row = ['ENTITY_TYPE_ID' => EntityPreset::Requisite] + $this->settingsRow($fields, []) + ['ACTIVE' => 'Y'];
        return (string)self::mustSucceed((new EntityPreset())->add($row))->getId();
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(PresetTable::class, ['*'], $id));
        $row = $this->settingsRow($fields, (array)$now['SETTINGS']) + ['SETTINGS' => (array)$now['SETTINGS']];
        self::mustSucceed((new EntityPreset())->update((int)$id, $row));
    }

    public function delete(string $id): void
    {
        self::mustSucceed((new EntityPreset())->delete((int)$id));
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return self::rowExists(RequisiteTable::class, ['=PRESET_ID' => (int)$id]) ? 'requisites are made by it' : null;
    }

    protected function toFields(array $row): array
    {
        $told = static fn(array $one): array => [
            'FIELD_NAME' => (string)$one['FIELD_NAME'], 'FIELD_TITLE' => (string)($one['FIELD_TITLE'] ?? ''),
            'SORT' => (int)($one['SORT'] ?? 0), 'IN_SHORT_LIST' => ($one['IN_SHORT_LIST'] ?? 'N') === 'Y',
        ];
        $fields = array_values(((array)$row['SETTINGS'])['FIELDS'] ?? []);
        return parent::toFields($row) + ['fields' => array_map($told, $fields)];
    }

    /** The fields of a template lie in its settings, numbered. */
    private function settingsRow(array $fields, array $settings): array
    {
        $row = self::columns()->toKernel($fields);
        if (!array_key_exists('fields', $fields)) {
            return $row;
        }
        $list = [];
        foreach (array_values($fields['fields'] ?? []) as $at => $one) {
            $one = (array)$one;
            $list[] = [
                'ID' => $at + 1, 'FIELD_NAME' => (string)($one['FIELD_NAME'] ?? ''),
                'FIELD_TITLE' => (string)($one['FIELD_TITLE'] ?? ''), 'SORT' => (int)($one['SORT'] ?? 0),
                'IN_SHORT_LIST' => ($one['IN_SHORT_LIST'] ?? false) ? 'Y' : 'N',
            ];
        }
        return $row + ['SETTINGS' => ['FIELDS' => $list, 'LAST_FIELD_ID' => count($list)] + $settings];
    }
}
