<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/** Finds an item of the CRM that a killed attempt created: by its stamp, or by its other values. */
final class CrmStamp
{
    /** The ORIGINATOR_ID of stamps. */
    private const ORIGINATOR = 'b24migrate';
    /** For types without a field for a stamp: values that do not change, unlike a title. */
    private const LOOKS = ['moment' => 'createdTime', 'link' => 'createdBy'];
    private const NAMES = ['text' => 'quoteNumber originatorId originId xmlId'];

    /** @return array<string, string> by column; none where there is no place, or another system has written into it */
    public static function of(string $stream, string $stamp, array $fields): array
    {
        return match (true) {
            $stream === 'crm_quotes', ($fields['originId'] ?? $fields['xmlId'] ?? '') !== '' => [],
            in_array($stream, ['crm_spitems', 'crm_invoices'], true) => ['XML_ID' => $stamp],
            default => ['ORIGINATOR_ID' => self::ORIGINATOR, 'ORIGIN_ID' => $stamp],
        };
    }

    /** @return array<string, mixed> by column; none where it could be any record of the box */
    public static function looks(array $fields): array
    {
        $filled = array_filter($fields, static fn(mixed $value) => !in_array($value, [null, ''], true));
        $names = (new Columns(self::NAMES))->toKernel($filled) ?: (new Columns(['text' => 'title']))->toKernel($filled);
        return isset($filled['createdTime']) ? $names + (new Columns(self::LOOKS))->toKernel($filled) : [];
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
