<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Ids that are unique in their stream. The box counts the items of every smart process, and the pipelines of deals and
 * of all others, each from 1; the contract has one stream for all of them. So their type stands before their own
 * number, which has ten digits then: item 12 of the type 1030 is 10300000000012. Deals and their pipelines keep theirs.
 */
final class CrmNumbers
{
    private const ROOM = 10_000_000_000;
    private const DEALS = 2;
    private const SMART_INVOICES = 31;

    /** Codes with a type (in hex after a T, known where it is that of invoices) and the number of one of its things. */
    private const IN_TEXT = '/\b(?|(DT|DYNAMIC_)(\d+)(_STAGE_|_)(\d+)|(SMART_INVOICE_STAGE_|SI_)()()(\d+)'
        . '|(T)([0-9a-f]+)(_)(\d+))\b/';

    public static function number(int $type, int $id): string
    {
        return (string)($type === self::DEALS ? $id : $type * self::ROOM + $id);
    }

    /** @return array{int, int} the type and the box's own id */
    public static function parts(string $number): array
    {
        $whole = (int)$number;
        return $whole < self::ROOM ? [self::DEALS, $whole] : [intdiv($whole, self::ROOM), $whole % self::ROOM];
    }

    /** Leads, deals, contacts, companies, quotes and requisites have streams of their own, and keep their numbers. */
    public static function ofRecord(int $type, int $id): string
    {
        return in_array($type, [1, 2, 3, 4, 7, 8], true) ? (string)$id : self::number($type, $id);
    }

    public static function id(string $number): int
    {
        return self::parts($number)[1];
    }

    /**
     * Codes of the contract as the box spells them: `DT1030_10300000000005:NEW` is `DT1030_5:NEW` there. A number that
     * does not begin with its own type only looks like one of ours.
     */
    public static function plain(string $text): string
    {
        return self::replaceCodes($text, static fn(int $type, string $digits): string
            => self::parts($digits)[0] === $type ? (string)self::id($digits) : $digits);
    }

    /** And back. */
    public static function numbered(string $text): string
    {
        return self::replaceCodes($text, static fn(int $type, string $digits): string
            => (int)$digits < self::ROOM ? self::number($type, (int)$digits) : $digits);
    }

    private static function replaceCodes(string $text, \Closure $spell): string
    {
        return (string)preg_replace_callback(self::IN_TEXT, static function (array $found) use ($spell): string {
            [, $word, $type, $between, $digits] = $found;
            return $word . $type . $between . $spell(match ($word) {
                'T' => (int)hexdec($type),
                'DT', 'DYNAMIC_' => (int)$type,
                default => self::SMART_INVOICES,
            }, $digits);
        }, $text);
    }
}
