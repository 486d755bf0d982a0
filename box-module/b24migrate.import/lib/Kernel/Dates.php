<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Type\{Date, DateTime};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Between the contract's times (UTC) and the two ways in which the kernel takes them: objects in the ORM, strings in
 * the site's format and the server's time zone everywhere else (`Service` switches the zone of the caller off).
 */
final class Dates
{
    public static function now(): string
    {
        return gmdate('Y-m-d\TH:i:s\Z');
    }

    /** For the ORM. */
    public static function moment(?string $utc): ?DateTime
    {
        return $utc === null ? null : DateTime::createFromTimestamp(self::at($utc));
    }

    /** A day for the ORM. */
    public static function date(?string $day): ?Date
    {
        return $day === null ? null : Date::createFromTimestamp(self::at($day));
    }

    /** For legacy classes: a string in the site's FULL format. */
    public static function text(?string $utc): string|false
    {
        return $utc === null ? false : ConvertTimeStamp(self::at($utc), 'FULL');
    }

    /** A day such as 2024-03-01 in the site's SHORT format. It has no time, hence no time zone either. */
    public static function dayText(?string $day): string|false
    {
        return $day === null ? false : ConvertTimeStamp(self::at($day), 'SHORT');
    }

    public static function utc(mixed $value): ?string
    {
        $seconds = self::seconds($value);
        return $seconds === null ? null : gmdate('Y-m-d\TH:i:s\Z', $seconds);
    }

    public static function day(mixed $value): ?string
    {
        $seconds = self::seconds($value);
        return $seconds === null ? null : date('Y-m-d', $seconds);
    }

    private static function at(string $iso): int
    {
        return (new \DateTimeImmutable($iso))->getTimestamp();
    }

    private static function seconds(mixed $value): ?int
    {
        if ($value instanceof Date) {
            return $value->getTimestamp();
        }
        $seconds = is_string($value) && $value !== '' ? MakeTimeStamp($value) : false;
        return $seconds === false ? null : (int)$seconds;
    }
}
