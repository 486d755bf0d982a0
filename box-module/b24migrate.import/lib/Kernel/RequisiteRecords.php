<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** What requisites and bank details have in common: columns of every country, and dates that the kernel forces. */
abstract class RequisiteRecords extends Gateway
{
    protected const FILLED = ['SORT', 'DATE_CREATE', 'CREATED_BY_ID', 'PRESET_ID', 'NAME'];
    private const CHANGES = ['moment' => 'DATE_CREATE DATE_MODIFY', 'link' => 'CREATED_BY_ID MODIFY_BY_ID'];
    /** RQ_INN, RQ_ACC_NUM: which of them there are is a matter of the country. */
    private const OF_COUNTRY = '/^RQ_[A-Z0-9_]+$/D';

    protected function toFields(array $row): array
    {
        $fields = parent::toFields($row) + (new Columns(self::CHANGES))->fromKernel($row);
        foreach (preg_grep(self::OF_COUNTRY, array_keys($row)) as $column) {
            $fields[$column] = (string)$row[$column] === '' ? null : (string)$row[$column];
        }
        return $fields;
    }

    /** @return array<string, mixed> columns; those that the table does not have are reported as losses */
    protected function row(array $fields): array
    {
        $row = self::columns()->toKernel($fields);
        $entity = static::TABLE::getEntity();
        foreach (preg_grep(self::OF_COUNTRY, array_keys($fields)) as $column) {
            if ($entity->hasField($column)) {
                $row[$column] = (string)$fields[$column];
            } else {
                $this->leftOut[] = $column;
            }
        }
        return $row;
    }

    /** Past the classes of the kernel, which write the caller and now. */
    protected function saveChanges(int $id, array $fields): void
    {
        $row = (new Columns(self::CHANGES, ['DATE_CREATE', 'CREATED_BY_ID']))->toKernel($fields);
        $row === [] || self::mustSucceed(static::TABLE::update($id, $row));
    }
}
