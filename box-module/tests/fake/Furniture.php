<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\Catalog;

/** What a box has before anything is imported: an administrator, a company, the CRM's own dictionaries. */
final class Furniture
{
    private const ID_STRIDE = 1_000_000;
    private const ID_START = 4_001;
    private const ADMINISTRATOR = [
        'NAME' => 'Администратор',
        'LAST_NAME' => '',
        'EMAIL' => 'admin@box.example',
        'ACTIVE' => true,
        'UF_DEPARTMENT' => ['1'],
    ];
    private const DICTIONARIES = [
        'DEAL_STAGE' => [
            'NEW' => 'Новая',
            'PREPARATION' => 'Подготовка документов',
            'PREPAYMENT_INVOICE' => 'Счёт на предоплату',
            'EXECUTING' => 'В работе',
            'FINAL_INVOICE' => 'Финальный счёт',
            'WON' => 'Сделка успешна',
            'LOSE' => 'Сделка провалена',
            'APOLOGY' => 'Анализ причины провала',
        ],
        'STATUS' => [
            'NEW' => 'Не обработан',
            'IN_PROCESS' => 'В работе',
            'CONVERTED' => 'Качественный лид',
            'JUNK' => 'Некачественный лид',
        ],
        'QUOTE_STATUS' => [
            'DRAFT' => 'Новое', 'SENT' => 'Отправлено клиенту', 'APPROVED' => 'Принято', 'DECLAINED' => 'Отклонено',
        ],
        'SOURCE' => ['CALL' => 'Звонок', 'EMAIL' => 'Электронная почта', 'WEB' => 'Веб-сайт', 'OTHER' => 'Другое'],
        'CONTACT_TYPE' => [
            'CLIENT' => 'Клиенты', 'SUPPLIER' => 'Поставщики', 'PARTNER' => 'Партнёры', 'OTHER' => 'Другое',
        ],
        'COMPANY_TYPE' => [
            'CUSTOMER' => 'Клиент', 'SUPPLIER' => 'Поставщик', 'PARTNER' => 'Партнёр', 'OTHER' => 'Другое',
        ],
        'DEAL_TYPE' => ['SALE' => 'Продажа', 'SERVICES' => 'Услуги'],
    ];
    private const SEMANTICS = [
        'WON' => 'S', 'CONVERTED' => 'S', 'LOSE' => 'F', 'APOLOGY' => 'F', 'JUNK' => 'F',
        'APPROVED' => 'S', 'DECLAINED' => 'F',
    ];

    /** @return array<string, array<string, array<string, mixed>>> records by stream and id */
    public static function ofAnyBox(): array
    {
        $pipeline = ['entityTypeId' => '2', 'name' => 'Общая', 'sort' => 100, 'isDefault' => true];
        return [
            'departments' => ['1' => ['NAME' => 'Моя компания', 'PARENT' => null, 'SORT' => 500]],
            'users' => ['1' => self::ADMINISTRATOR],
            'crm_categories' => ['0' => $pipeline],
            'crm_stages' => self::stages(),
        ] + self::catalog();
    }

    /** @param array<string, array<string, array<string, mixed>>> $records */
    public static function place(FakeBox $box, array $records): void
    {
        // far from any source's ids and far from one another, so that a reference nobody mapped finds nothing
        foreach ([...array_keys(Catalog::streams()), 'files'] as $place => $stream) {
            $number = ($place + 1) * self::ID_STRIDE + self::ID_START;
            $box->db->run('INSERT OR IGNORE INTO next VALUES (?, ?)', $stream, $number);
        }
        foreach ($records as $stream => $rows) {
            foreach ($rows as $id => $fields) {
                $box->records($stream)->place((string)$id, $fields);
            }
        }
        $box->set('root_department', (string)array_key_first($records['departments']));
        $box->set('timezone', 'Europe/Moscow');
    }

    /** @return array<string, array<string, array<string, mixed>>> */
    private static function catalog(): array
    {
        $currency = static fn (string $code, float $rate) => [
            'CURRENCY' => $code, 'AMOUNT' => $rate, 'AMOUNT_CNT' => 1, 'BASE' => $code === 'RUB',
        ];
        $measure = static fn (int $code, string $title, string $symbol) => [
            'code' => $code, 'measureTitle' => $title, 'symbol' => $symbol, 'isDefault' => $code === 796,
        ];
        $vat = static fn (string $name, ?int $rate) => ['name' => $name, 'rate' => $rate, 'active' => true];
        return [
            'crm_currencies' => [
                '1' => $currency('RUB', 1), '2' => $currency('USD', 78.5), '3' => $currency('EUR', 91.25),
            ],
            'crm_measures' => [
                '1' => $measure(6, 'Метр', 'м'), '2' => $measure(112, 'Литр', 'л'),
                '3' => $measure(166, 'Килограмм', 'кг'), '4' => $measure(796, 'Штука', 'шт'),
            ],
            'crm_vats' => ['1' => $vat('Без НДС', null), '2' => $vat('НДС 20%', 20)],
            'crm_price_types' => ['1' => ['name' => 'BASE', 'base' => true, 'xmlId' => 'BASE', 'sort' => 100]],
        ];
    }

    /** @return array<string, array<string, mixed>> */
    private static function stages(): array
    {
        $stages = [];
        $number = 101;
        foreach (self::DICTIONARIES as $dictionary => $names) {
            foreach ($names as $code => $name) {
                $stages[(string)$number] = [
                    'ENTITY_ID' => $dictionary,
                    'STATUS_ID' => $code,
                    'NAME' => $name,
                    'SORT' => $number++ * 10,
                    'SEMANTICS' => self::SEMANTICS[$code] ?? null,
                ];
            }
        }
        return $stages;
    }
}
