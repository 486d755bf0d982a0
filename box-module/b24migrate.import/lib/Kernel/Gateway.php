<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\{Box, Records};

defined('B_PROLOG_INCLUDED') || exit;

/** Shared by most streams: each gateway defines only the differences of its kernel. */
abstract class Gateway implements Records
{
    /** The table of the ORM that holds the records, where there is one. */
    protected const TABLE = '';
    /** Names of fields by kind, as `Columns` takes them. */
    protected const FIELDS = [];
    /** Columns that cannot be empty. */
    protected const FILLED = [];
    protected const ATOMIC = true;
    /** Classes that not every box has. Without them the stream is not served. */
    protected const NEEDS = [];
    protected const LOSSES = [];
    protected const APPROXIMATIONS = [];
    protected const VOLATILE = [];
    /** Prefix of a stamp. */
    public const STAMP = 'b24m_';

    /** @var list<string> */
    protected array $leftOut = [];

    public function __construct(protected readonly Box $box, protected readonly string $stream)
    {
    }

    /** Asked when the modules are there. */
    public static function isPossible(): bool
    {
        return array_filter(static::NEEDS, class_exists(...)) === static::NEEDS;
    }

    public function losses(): array
    {
        return static::LOSSES;
    }

    public function approximations(): array
    {
        return static::APPROXIMATIONS;
    }

    public function leftOut(): array
    {
        [$told, $this->leftOut] = [$this->leftOut, []];
        return $told;
    }

    public function volatileFields(): array
    {
        return static::VOLATILE;
    }

    public function isAtomic(): bool
    {
        return static::ATOMIC;
    }

    public function has(string $id): bool
    {
        return static::TABLE === ''
            ? isset($this->read([$id])[$id])
            : ctype_digit($id) && self::rowExists(static::TABLE, ['=ID' => (int)$id]);
    }

    public function find(array $values): ?string
    {
        return null;
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach ($ids === [] ? [] : $this->loadRows(array_map('intval', $ids)) as $row) {
            $found[(string)$row['ID']] = $this->toFields($row);
        }
        return $found;
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return null;
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        return null;
    }

    public function options(string $id, array $sent): array
    {
        return [];
    }

    /** Rows of the kernel, with what lies in other tables: read for all of them at once, not for each. */
    protected function loadRows(array $ids): array
    {
        return self::findRows(static::TABLE, ['*'], ['@ID' => $ids]);
    }

    /** A row as the contract has it. */
    protected function toFields(array $row): array
    {
        return self::columns()->fromKernel($row);
    }

    /**
     * A picture for a column that owns its file. What the box takes for no picture (no extension, HEIC) is left out and
     * answered as ignored: otherwise the box refuses the whole record, and all that refers to it.
     */
    protected function picture(string $field, array $fields, string $column, int $now): array
    {
        $row = Files::ownedColumn($field, $fields, $column, $now);
        if (isset($row[$column]['name']) && \CFile::CheckImageFile($row[$column])) {
            $this->leftOut[] = $field;
            return [];
        }
        return $row;
    }

    /** Where a stream has one set of custom fields. */
    protected function customValues(): CustomValues
    {
        return new CustomValues($this->box->customFields()->of($this->stream, null));
    }

    protected static function columns(): Columns
    {
        return new Columns(static::FIELDS, static::FILLED);
    }

    /** The administrator whose webhook calls. Nobody else is ever authorized: authors are passed explicitly. */
    protected static function actor(): int
    {
        return (int)($GLOBALS['USER']?->GetID() ?? 0) ?: 1;
    }

    /** What is written into a field of limited length so that a record can be found again by its key. */
    protected static function stamp(string $key): string
    {
        return self::STAMP . substr(hash('sha256', $key), 0, 40);
    }

    /** What is to be changed, as long as it is there: the ORM would change nothing and call it a success. */
    protected static function mustExist(?array $now): array
    {
        return $now ?: throw self::deletedFault();
    }

    protected static function deletedFault(): ItemFault
    {
        return new ItemFault('VALIDATION', null, 'somebody has deleted this record on the box');
    }

    /** The kernel refused: with the words that the class itself has, or those that legacy classes leave behind. */
    public static function refusal(string $otherwise, ?string $field = null, mixed $said = ''): ItemFault
    {
        $left = $GLOBALS['APPLICATION']->GetException();
        $GLOBALS['APPLICATION']->ResetException();
        $left = self::plainText($left ? (string)$left->GetString() : '');
        $told = self::plainText((string)$said) ?: $left ?: $otherwise;
        return new ItemFault('VALIDATION', $field, $told);
    }

    /** Kernel messages are made for pages. */
    protected static function plainText(string $message): string
    {
        return trim(html_entity_decode(strip_tags(str_replace('<br>', "\n", $message))));
    }

    /** For the results that newer classes answer with. */
    public static function mustSucceed(\Bitrix\Main\Result $result): \Bitrix\Main\Result
    {
        if (!$result->isSuccess()) {
            throw new ItemFault('VALIDATION', null, self::plainText(implode("\n", $result->getErrorMessages())));
        }
        return $result;
    }

    /** @return array<int, list<mixed>> what is made of each row, by the record that it belongs to */
    public static function groupBy(array $rows, string $column, callable $make): array
    {
        $groups = [];
        foreach ($rows as $row) {
            $groups[(int)$row[$column]][] = $make($row);
        }
        return $groups;
    }

    /** Of records that look like the one that is sought, the first that no key stands for. */
    protected function firstWithoutKey(array $rows): ?string
    {
        foreach (array_map('strval', array_column($rows, 'ID')) as $id) {
            if ($this->box->map()->entriesOf($this->stream, $id) === []) {
                return $id;
            }
        }
        return null;
    }

    /** Rows of a table of the ORM, in order of their ids; none where one of no ids is asked for. */
    protected static function findRows(string $table, array $columns, array $filter): array
    {
        $query = ['select' => $columns, 'filter' => $filter, 'order' => ['ID' => 'ASC']];
        return in_array([], $filter, true) ? [] : $table::getList($query)->fetchAll();
    }

    /** Empty when it is not there. */
    protected static function findRow(string $table, array $columns, int|string $id): array
    {
        return $table::getList(['select' => $columns, 'filter' => ['=ID' => (int)$id], 'limit' => 1])->fetch() ?: [];
    }

    protected static function rowExists(string $table, array $filter): bool
    {
        return $table::getList(['select' => ['ID'], 'filter' => $filter, 'limit' => 1])->fetch() !== false;
    }

    /** Rows that depend on a record. Not every kernel has this method. */
    protected static function deleteRows(string $table, array $filter): void
    {
        method_exists($table, 'deleteByFilter') && $table::deleteByFilter($filter);
    }

    /** Legacy lists are walked row by row. */
    public static function legacyRows(mixed $result): array
    {
        $rows = [];
        while (is_object($result) && ($row = $result->Fetch())) {
            $rows[] = $row;
        }
        return $rows;
    }
}
