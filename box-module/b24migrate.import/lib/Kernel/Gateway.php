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

    public function needed(string $id): ?string
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
    protected function actor(): int
    {
        return (int)($GLOBALS['USER']?->GetID() ?? 0) ?: 1;
    }

    /** What is written into a field of limited length so that a record can be found again by its key. */
    protected static function stamp(string $key): string
    {
        return 'b24m_' . substr(hash('sha256', $key), 0, 40);
    }

    /** The kernel said no: its own words, from where legacy classes leave them. */
    protected function refusal(string $otherwise, ?string $field = null): ItemFault
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
    protected static function rows(mixed $result): array
    {
        $rows = [];
        while (is_object($result) && ($row = $result->Fetch())) {
            $rows[] = $row;
        }
        return $rows;
    }
}
