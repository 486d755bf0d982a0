<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\Service\Factory;
use Bitrix\Main\Numerator\Numerator;

defined('B_PROLOG_INCLUDED') || exit;

/** The numbers that people see on quotes and invoices: unique in their type, and counted by a numerator of the box. */
final class CrmItemNumbers
{
    private const OF = [
        7 => ['quoteNumber', 'QUOTE_NUMBER', 'CRM_QUOTE'],
        31 => ['accountNumber', 'ACCOUNT_NUMBER', 'CRM_SMART_INVOICE'],
    ];
    /** What is longer is no number that anybody counts. */
    private const DIGITS = '/\d{1,9}(?=\D*$)/D';

    /** With checks off the kernel would make a double of it, or the database refuse it without a word. */
    public static function mustBeFree(Factory $factory, array $fields, int $itself): void
    {
        [$field, $column] = self::OF[$factory->getEntityTypeId()] ?? ['', ''];
        $number = (string)($fields[$field] ?? '');
        $same = ["=$column" => $number, '!=ID' => $itself];
        if ($number !== '' && $factory->getItemsCount($same) > 0) {
            throw new ItemFault('VALIDATION', $field, "$field: the box has another record with the number $number");
        }
    }

    /** The kernel tries ten times to find a free number; after that no quote or invoice can be created any more. */
    public static function advance(Factory $factory, int $id): void
    {
        [, $column, $type] = self::OF[$factory->getEntityTypeId()];
        $rows = $factory->getDataClass()::getList(['select' => [$column], 'filter' => ['=ID' => $id]])->fetchAll();
        $settings = Numerator::getOneByType($type);
        $last = self::counted((string)($rows[0][$column] ?? ''), (string)($settings['template'] ?? ''));
        $numerator = $settings === null || $last === 0 ? null : Numerator::load($settings['id']);
        $counts = $numerator !== null && $numerator->hasSequentialNumber();
        if (!$counts || $numerator->previewNextSequentialNumber() > $last) {
            return;
        }
        if (!$numerator->setNextSequentialNumber($last + 1)->isSuccess()) {
            // One that never counted has no place yet where its number is kept: to be checked on a real box.
            $numerator->getNext();
            Gateway::mustSucceed($numerator->setNextSequentialNumber($last + 1));
        }
    }

    /** The counter in a number, the 15 of `15/2024`; the last digits if the template does not define it. */
    private static function counted(string $number, string $template): int
    {
        $words = (string)preg_replace('/\\\{(?!NUMBER)\w+\\\}/', '.*?', preg_quote($template, '/'));
        $made = '/^' . str_replace('\{NUMBER\}', '(\d{1,9})', $words) . '$/uD';
        $isMade = str_contains($template, '{NUMBER}') && preg_match($made, $number, $found) === 1;
        return $isMade || preg_match(self::DIGITS, $number, $found) === 1 ? (int)end($found) : 0;
    }
}
