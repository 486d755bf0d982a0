<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\Service\Container;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Smart processes. Their id is the entityTypeId. To make one makes tables, which no transaction can hold. That a free
 * entityTypeId of the source is taken as it is, is to be checked on a real box.
 */
final class CrmTypes extends Gateway
{
    protected const ATOMIC = false;

    public function find(array $values): ?string
    {
        $title = $values['title'] ?? null;
        $rows = $this->dataClass()::getList(['filter' => ['=TITLE' => $title]])->fetchAll();
        // The database may take letters for equal that are not.
        $type = array_search($title, array_column($rows, 'TITLE', 'ENTITY_TYPE_ID'), true);
        return $type === false ? null : (string)$type;
    }

    protected function loadRows(array $ids): array
    {
        $rows = $this->dataClass()::getList(['filter' => ['@ENTITY_TYPE_ID' => $ids]])->fetchAll();
        return array_map(fn(array $row) => ['ID' => $row['ENTITY_TYPE_ID']] + $row, $rows);
    }

    public function create(string $key, array $fields): string
    {
        $class = $this->dataClass();
        $type = $class::createObject();
        $type->set('NAME', $class::generateName($fields['title']));
        $wished = (int)($fields['entityTypeId'] ?? 0);
        if ($wished > 0 && !$this->has((string)$wished)) {
            $type->set('ENTITY_TYPE_ID', $wished);
        }
        $this->save($type, $fields);
        return (string)$type->getEntityTypeId();
    }

    public function update(string $id, array $fields): void
    {
        $this->save($this->type($id), $fields);
    }

    public function delete(string $id): void
    {
        self::mustSucceed($this->type($id)->delete());
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return CrmItems::count((int)$id) > 0 ? 'it has items' : null;
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        // One with this title would have been linked had it been there before: so it is the one of the attempt.
        return $this->find($fields);
    }

    private function save(object $type, array $fields): void
    {
        $entity = $this->dataClass()::getEntity();
        foreach ($fields as $name => $value) {
            $column = Columns::column($name);
            if ($name !== 'entityTypeId' && $value !== null && $entity->hasField($column)) {
                $type->set($column, $value);
            }
        }
        self::mustSucceed($type->save());
    }

    protected function toFields(array $row): array
    {
        $fields = ['title' => $row['TITLE'], 'entityTypeId' => (string)$row['ENTITY_TYPE_ID']];
        $fields['code'] = (string)($row['CODE'] ?? '') === '' ? null : $row['CODE'];
        foreach ($row as $column => $value) {
            if (preg_match('/^IS_\w+_ENABLED$/', $column) === 1) {
                $fields[lcfirst(str_replace('_', '', ucwords(strtolower($column), '_')))]
                    = Columns::fromColumn('flag', $value);
            }
        }
        return $fields;
    }

    private function type(string $id): object
    {
        return $this->dataClass()::getList(['filter' => ['=ENTITY_TYPE_ID' => (int)$id]])->fetchObject()
            ?? throw self::deletedFault();
    }

    private function dataClass(): string
    {
        return Container::getInstance()->getDynamicTypeDataClass();
    }
}
