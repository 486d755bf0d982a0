<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** How an item of the CRM is found again that an attempt made before it died: by a stamp, or by what it looks like. */
final class CrmStamp
{
    /** Who says that an ORIGIN_ID is a stamp. */
    private const ORIGINATOR = 'b24migrate';
    /** Of those types that have no place for a stamp. */
    private const LOOKS = ['text' => 'title', 'moment' => 'createdTime', 'link' => 'createdBy'];

    /** @return array<string, string> by column; none where there is no place, or another system has written into it */
    public static function of(string $stream, string $stamp, array $fields): array
    {
        return match (true) {
            $stream === 'crm_quotes', ($fields['originId'] ?? $fields['xmlId'] ?? '') !== '' => [],
            in_array($stream, ['crm_spitems', 'crm_invoices'], true) => ['XML_ID' => $stamp],
            default => ['ORIGINATOR_ID' => self::ORIGINATOR, 'ORIGIN_ID' => $stamp],
        };
    }

    /** @return array<string, mixed> by column */
    public static function looks(array $fields): array
    {
        return (new Columns(self::LOOKS))->toKernel($fields);
    }

    public static function filter(array $row): array
    {
        return array_combine(array_map(static fn(string $column) => "=$column", array_keys($row)), $row);
    }

    /** @return array<string, mixed> fields that were read, without a stamp */
    public static function hide(array $fields): array
    {
        $isStamp = ($fields['originatorId'] ?? null) === self::ORIGINATOR;
        $isOurs = str_starts_with((string)($fields['xmlId'] ?? ''), Gateway::STAMP);
        $hidden = ($isStamp ? ['originatorId' => null, 'originId' => null] : []) + ($isOurs ? ['xmlId' => null] : []);
        return $hidden + $fields;
    }
}
