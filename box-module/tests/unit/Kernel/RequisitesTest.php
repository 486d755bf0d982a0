<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Port\Records;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** Templates of requisites, requisites, bank details, addresses and links. */
final class RequisitesTest extends KernelCase
{
    private const BY = [
        'DATE_CREATE' => '2019-01-02T03:04:05Z', 'DATE_MODIFY' => '2020-01-02T03:04:05Z', 'CREATED_BY_ID' => '12',
        'MODIFY_BY_ID' => '13',
    ];
    private const REQUISITE = self::BY + [
        'ENTITY_TYPE_ID' => 4, 'ENTITY_ID' => '5', 'PRESET_ID' => '1', 'NAME' => 'ООО Ромашка', 'ACTIVE' => true,
        'ADDRESS_ONLY' => false, 'SORT' => 10, 'XML_ID' => 'r-1', 'RQ_INN' => '7701234567', 'RQ_KPP' => '770101001',
    ];

    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
    }

    private function of(string $stream): Records
    {
        return $this->real->records($stream);
    }

    public function testATemplateKeepsItsFields(): void
    {
        $inn = ['FIELD_NAME' => 'RQ_INN', 'FIELD_TITLE' => 'ИНН', 'SORT' => 10, 'IN_SHORT_LIST' => true];
        $preset = ['NAME' => 'Организация', 'COUNTRY_ID' => 1, 'ACTIVE' => true, 'SORT' => 20, 'XML_ID' => 'x'];
        $presets = $this->of('crm_requisite_presets');
        $id = $presets->create('a', $preset + ['fields' => [(object)$inn]]);
        self::assertHolds($preset + ['fields' => [$inn]], $presets->read([$id])[$id]);
        self::assertSame([$id, null], [
            $presets->find(['COUNTRY_ID' => 1, 'NAME' => 'Организация']),
            $presets->find(['COUNTRY_ID' => 6, 'NAME' => 'Организация']),
        ]);
        $presets->update($id, ['NAME' => 'Фирма']);
        self::assertHolds(['NAME' => 'Фирма', 'fields' => [$inn]], $presets->read([$id])[$id]);
        $this->of('crm_requisites')->create('r', ['PRESET_ID' => $id] + self::REQUISITE);
        self::assertSame('requisites are made by it', $presets->reasonToKeep($id));
        $presets->delete($id);
        self::assertFalse($presets->has($id));
    }

    public function testARequisiteKeepsItsDatesAndPeople(): void
    {
        World::put('fields', [
            'ENTITY_ID' => 'CRM_REQUISITE', 'FIELD_NAME' => 'UF_CRM_1', 'USER_TYPE_ID' => 'string', 'MULTIPLE' => 'N',
        ]);
        $requisites = $this->of('crm_requisites');
        $sent = self::REQUISITE + ['UF_CRM_1' => 'да'];
        $id = $requisites->create('a', $sent + ['RQ_NOWHERE' => 'x']);
        self::assertSame(['RQ_NOWHERE'], $requisites->leftOut());
        self::assertHolds($sent, $requisites->read([$id])[$id]);
        $next = ['RQ_KPP' => null, 'NAME' => 'АО Ромашка', 'UF_CRM_1' => null] + $sent;
        $requisites->update($id, $next);
        self::assertHolds($next, $requisites->read([$id])[$id]);
        $this->expectExceptionMessage('RQ_INN is too long');
        $requisites->create('b', ['RQ_INN' => str_repeat('7', 20)] + $sent);
    }

    public function testARequisiteIsKeptWhileOthersHaveIt(): void
    {
        $requisites = $this->of('crm_requisites');
        $id = $requisites->create('a', self::REQUISITE);
        $bank = ['ENTITY_ID' => $id, 'NAME' => 'Банк', 'COUNTRY_ID' => 1, 'SORT' => 5, 'RQ_BIK' => '04'];
        $details = $this->of('crm_bank_details');
        $detail = $details->create('b', $bank + self::BY);
        self::assertHolds($bank + self::BY, $details->read([$detail])[$detail]);
        self::assertSame('it has bank details', $requisites->reasonToKeep($id));
        $details->update($detail, ['NAME' => 'Другой банк'] + $bank + self::BY);
        self::assertHolds(['NAME' => 'Другой банк'] + self::BY, $details->read([$detail])[$detail]);
        $links = $this->of('crm_requisite_links');
        $link = ['ENTITY_TYPE_ID' => 2, 'ENTITY_ID' => '9', 'BANK_DETAIL_ID' => $detail];
        $place = $links->create('l', $link);
        self::assertSame('deals or the like have it', $details->reasonToKeep($detail));
        $links->update($place, ['BANK_DETAIL_ID' => null, 'MC_REQUISITE_ID' => $id]);
        self::assertNull($details->reasonToKeep($detail));
        $details->delete($detail);
        self::assertSame('deals or the like have it', $requisites->reasonToKeep($id));
        $links->delete($place);
        self::assertNull($requisites->reasonToKeep($id));
        $requisites->delete($id);
        self::assertFalse($requisites->has($id));
    }

    public function testALinkBelongsToARecordOfAnyType(): void
    {
        $links = $this->of('crm_requisite_links');
        $none = array_fill_keys(['REQUISITE_ID', 'BANK_DETAIL_ID', 'MC_REQUISITE_ID', 'MC_BANK_DETAIL_ID'], null);
        foreach ([2 => '9', 7 => '9', 31 => '310000000009', 1030 => '10300000000009'] as $type => $owner) {
            $link = ['ENTITY_TYPE_ID' => $type, 'ENTITY_ID' => $owner, 'REQUISITE_ID' => '77'];
            self::assertNull($links->findLeftover('l', $link));
            $id = $links->create('l', $link);
            self::assertSame("$type:9", $id);
            self::assertHolds($link + $none, $links->read([$id])[$id]);
            self::assertSame($id, $links->findLeftover('l', $link));
            $this->real->map()->put(new Entry("source:$type", 'crm_requisite_links', $id, 'd'));
            self::assertNull($links->findLeftover('l', $link), 'another key stands for it');
        }
        self::assertFalse($links->has('nonsense'));
    }

    public function testAnAddressIsOneOfItsKind(): void
    {
        $addresses = $this->of('crm_addresses');
        $address = [
            'ENTITY_TYPE_ID' => 8, 'ENTITY_ID' => '77', 'TYPE_ID' => 6, 'ANCHOR_TYPE_ID' => 4, 'ANCHOR_ID' => '5',
            'ADDRESS_1' => 'Тверская, 1', 'CITY' => 'Москва', 'COUNTRY' => 'Россия', 'COUNTRY_CODE' => 'RU',
        ];
        $id = $addresses->create('a', $address);
        self::assertSame('8:77:6', $id);
        self::assertHolds($address, $addresses->read([$id])[$id]);
        $addresses->update($id, ['CITY' => 'Тверь', 'COUNTRY_CODE' => 'BY']);
        self::assertHolds(['CITY' => 'Тверь', 'COUNTRY_CODE' => null] + $address, $addresses->read([$id])[$id]);
        $lead = $addresses->create('b', ['ENTITY_TYPE_ID' => 1, 'ENTITY_ID' => '3', 'TYPE_ID' => 1, 'CITY' => 'Уфа']);
        self::assertSame(['1:3:1', true], [$lead, $addresses->has($lead)]);
        $empty = ['CITY' => null, 'TYPE_ID' => 9] + array_diff_key($address, ['ADDRESS_1' => 1, 'COUNTRY' => 1]);
        $wrong = ['another address of this kind' => $address, 'no address without words' => $empty];
        foreach ($wrong as $message => $fields) {
            try {
                $addresses->create('c', $fields);
                self::fail($message);
            } catch (ItemFault $fault) {
                self::assertStringContainsString($message, $fault->getMessage());
            }
        }
        $addresses->delete($id);
        self::assertFalse($addresses->has($id));
    }
}
