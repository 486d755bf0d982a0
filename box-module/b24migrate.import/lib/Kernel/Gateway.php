<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\Records;

/** What most streams have in common: each gateway says only how its own kernel differs. */
abstract class Gateway implements Records
{
    public function __construct(protected readonly Box $box)
    {
    }

    public function losses(): array
    {
        return [];
    }

    public function has(string $id): bool
    {
        return isset($this->read([$id])[$id]);
    }

    public function find(array $values): ?string
    {
        return null;
    }

    public function needed(string $id, array $gone = []): ?string
    {
        return null;
    }

    public function atomic(): bool
    {
        return true;
    }

    public function trace(string $key, array $fields): ?string
    {
        return null;
    }

    public function restless(): array
    {
        return [];
    }

    /** The administrator whose webhook calls. Nobody else is ever authorized: authors are told explicitly. */
    protected static function actor(): int
    {
        return (int)($GLOBALS['USER']?->GetID() ?? 0) ?: 1;
    }

    /** What is written into a field of limited length so that a record can be found again by its key. */
    protected static function stamp(string $key): string
    {
        return 'b24m_' . substr(hash('sha256', $key), 0, 40);
    }

    /**
     * What is to be changed, as long as it is there: the ORM would change nothing and call it a success.
     *
     * @param ?array<string, mixed> $now
     * @return array<string, mixed>
     */
    protected static function present(?array $now): array
    {
        return $now ?: throw self::gone();
    }

    protected static function gone(): ItemFault
    {
        return new ItemFault('VALIDATION', null, 'somebody has deleted this record on the box');
    }

    /** The kernel said no: its own words, from where legacy classes leave them. */
    public static function refusal(string $otherwise, ?string $field = null): ItemFault
    {
        $application = $GLOBALS['APPLICATION'];
        $told = $application->GetException();
        $application->ResetException();
        return new ItemFault('VALIDATION', $field, self::plain($told ? (string)$told->GetString() : '') ?: $otherwise);
    }

    /** Kernel messages are made for pages. */
    protected static function plain(string $message): string
    {
        return trim(html_entity_decode(strip_tags(str_replace('<br>', "\n", $message))));
    }

    /**
     * Of records that look like the one that is sought, the first that no key stands for.
     *
     * @param list<array<string, mixed>> $rows
     */
    protected function keyless(string $stream, array $rows): ?string
    {
        foreach (array_map('strval', array_column($rows, 'ID')) as $id) {
            if ($this->box->map()->keysOf($stream, $id) === 0) {
                return $id;
            }
        }
        return null;
    }

    /**
     * Rows of a table that the ORM knows, in order of their ids.
     *
     * @param class-string $table
     * @param list<string> $columns
     * @param array<int|string, mixed> $filter
     * @return list<array<string, mixed>>
     */
    protected static function all(string $table, array $columns, array $filter): array
    {
        return $table::getList(['select' => $columns, 'filter' => $filter, 'order' => ['ID' => 'ASC']])->fetchAll();
    }

    /** @param class-string $table @param list<string> $columns @return array<string, mixed> empty when it is not there */
    protected static function one(string $table, array $columns, int|string $id): array
    {
        return $table::getList(['select' => $columns, 'filter' => ['=ID' => (int)$id], 'limit' => 1])->fetch() ?: [];
    }

    /** @param class-string $table @param array<int|string, mixed> $filter */
    protected static function any(string $table, array $filter): bool
    {
        return $table::getList(['select' => ['ID'], 'filter' => $filter, 'limit' => 1])->fetch() !== false;
    }

    /** The cheap answer to `has`. @param class-string $table */
    protected static function exists(string $table, string $id): bool
    {
        return ctype_digit($id) && self::any($table, ['=ID' => (int)$id]);
    }

    /** For the results that newer classes answer with. */
    protected function mustSucceed(\Bitrix\Main\Result $result): void
    {
        if (!$result->isSuccess()) {
            throw new ItemFault('VALIDATION', null, self::plain(implode("\n", $result->getErrorMessages())));
        }
    }

    /**
     * Legacy lists are walked row by row.
     *
     * @return list<array<string, mixed>>
     */
    public static function rows(mixed $result): array
    {
        $rows = [];
        while (is_object($result) && ($row = $result->Fetch())) {
            $rows[] = $row;
        }
        return $rows;
    }
}
