<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\CrmNumbers;
use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class CrmTest extends KernelCase
{
    private const BY = [
        'createdBy' => '12', 'updatedBy' => '13', 'createdTime' => '2019-01-02T03:04:05Z',
        'updatedTime' => '2020-01-02T03:04:05Z',
    ];

    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
    }

    public function testADealIsReadBackAsItWasSent(): void
    {
        $deal = self::BY + [
            'title' => 'Договор', 'categoryId' => '0', 'stageId' => 'NEW', 'assignedById' => '12', 'movedBy' => '14',
            'movedTime' => '2021-01-02T03:04:05Z', 'opened' => true, 'closed' => false, 'opportunity' => 1500.5,
            'currencyId' => 'RUB', 'isManualOpportunity' => true, 'begindate' => '2019-01-02', 'closedate' => null,
            'companyId' => '5', 'contactIds' => ['7', '8'], 'observers' => ['12'], 'parentId1030' => '10300000000009',
            'productRows' => [[
                'productName' => 'Болт', 'measureCode' => '796', 'price' => 10, 'quantity' => 2.5, 'discountRate' => 0,
                'discountSum' => 1.5, 'taxRate' => 20, 'taxIncluded' => true, 'sort' => 10, 'discountTypeId' => 1,
                'productId' => '77',
            ]],
        ];
        $deals = $this->real->records('crm_deals');
        $id = $deals->create('source:crm_deals:1', $deal);
        $read = $deals->read([$id])[$id];
        ksort($deal);
        $kept = array_intersect_key($read, $deal);
        ksort($kept);
        $this->assertSame($deal, $kept);
        $this->assertSame(9, World::row('crm_2', $id)['PARENT_ID_1030']);
        $this->assertTrue($deals->has($id));
    }

    /** The kernel dates whatever enters a final stage to today. */
    public function testAClosedItemKeepsTheDayItWasClosedOn(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        World::put('crm_status', ['STATUS_ID' => 'WON', 'SEMANTICS' => 'S']);
        World::put('crm_status', ['STATUS_ID' => 'DT1030_5:FAIL', 'SEMANTICS' => 'F']);
        $closed = [
            'crm_deals' => ['stageId' => 'WON', 'closedate' => '2020-03-04', 'begindate' => '2019-01-02'],
            'crm_spitems' => ['entityTypeId' => '1030', 'stageId' => 'DT1030_10300000000005:FAIL', 'closedate' => null],
        ];
        foreach ($closed as $stream => $fields) {
            $records = $this->real->records($stream);
            $id = $records->create('a', $fields + ['title' => 'x']);
            self::assertHolds($fields, $records->read([$id])[$id]);
            $open = $records->create('b', ['stageId' => 'NEW', 'title' => 'x'] + $fields);
            $records->update($open, $fields);
            self::assertHolds($fields, $records->read([$open])[$open]);
        }
    }

    public function testTheLastActivityOfAnItemIsItsLastChangeInTheSource(): void
    {
        $id = $this->real->records('crm_deals')->create('a', ['title' => 'x'] + self::BY);
        ['LAST_ACTIVITY_TIME' => $at, 'LAST_ACTIVITY_BY' => $by] = World::row('crm_2', $id);
        self::assertSame([self::BY['updatedTime'], 13], [Dates::utc($at), $by]);
    }

    public function testADealIsCountedAndHasAStageHistory(): void
    {
        $id = $this->real->records('crm_deals')->create('a', ['title' => 'x']);
        $this->real->records('crm_companies')->create('b', ['title' => 'x']);
        self::assertSame([(int)$id], array_column(World::$tables['crm_stage_history'] ?? [], 'ITEM'));
    }

    public function testAFileThatTheBoxRefusesIsToldAndNotLostSilently(): void
    {
        World::put('fields', [
            'ENTITY_ID' => 'CRM_DEAL', 'FIELD_NAME' => 'UF_DOC', 'USER_TYPE_ID' => 'file', 'MULTIPLE' => 'N',
        ]);
        $file = $this->file('plan.pdf');
        World::$tables['objects'][(int)$file]['NAME'] = '.htaccess';
        $this->expectExceptionMessage('the box does not take the file .htaccess');
        $this->real->records('crm_deals')->create('a', ['title' => 'x', 'UF_DOC' => $file]);
    }

    public function testItemsNeedNotComeInTheOrderOfTheirCreation(): void
    {
        $deals = $this->real->records('crm_deals');
        $deals->create('a', ['title' => 'late', 'createdTime' => '2024-01-01T00:00:00Z']);
        $id = $deals->create('b', ['title' => 'early', 'createdTime' => '2014-01-01T00:00:00Z']);
        $this->assertSame('2014-01-01T00:00:00Z', $deals->read([$id])[$id]['createdTime']);
    }

    public function testAnUpdateKeepsWhoMadeAndChangedAnItemAndWhen(): void
    {
        $deals = $this->real->records('crm_deals');
        $id = $deals->create('a', ['title' => 'one', 'observers' => ['4']] + self::BY);
        $deals->update($id, ['title' => 'two', 'createdTime' => '2018-01-01T00:00:00Z'] + self::BY);
        $read = $deals->read([$id])[$id];
        $this->assertSame(['two', '2018-01-01T00:00:00Z'], [$read['title'], $read['createdTime']]);
        $this->assertSame(['12', '13', self::BY['updatedTime']], [
            $read['createdBy'], $read['updatedBy'], $read['updatedTime'],
        ]);
        $this->assertSame(['4'], $read['observers']);
    }

    public function testWhatAnItemMustHaveIsNotCleared(): void
    {
        $deals = $this->real->records('crm_deals');
        $filled = ['title' => 'one', 'stageId' => 'NEW', 'assignedById' => '5', 'companyId' => '6'];
        $id = $deals->create('a', $filled + self::BY);
        $deals->update($id, array_fill_keys(['stageId', 'assignedById', 'createdTime', 'companyId', 'title'], null));
        $read = $deals->read([$id])[$id];
        $this->assertSame(['NEW', '5', self::BY['createdTime']], [
            $read['stageId'], $read['assignedById'], $read['createdTime'],
        ]);
        $this->assertSame([null, null], [$read['companyId'], $read['title']]);
    }

    public function testWhatAnAttemptThatDiedHasMadeIsFoundByItsKey(): void
    {
        foreach (['crm_companies' => [], 'crm_spitems' => ['entityTypeId' => '1030']] as $stream => $typed) {
            World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
            $records = $this->real->records($stream);
            $this->assertNull($records->findLeftover('a', $typed));
            $id = $records->create('a', ['title' => 'one'] + $typed);
            $this->assertSame($id, $records->findLeftover('a', $typed));
            $this->assertNull($records->findLeftover('b', $typed));
        }
    }

    public function testPhonesAndTheCompaniesOfAContactAreReplaced(): void
    {
        $contacts = $this->real->records('crm_contacts');
        $phone = ['typeId' => 'PHONE', 'valueType' => 'WORK', 'value' => '+7'];
        $mail = ['typeId' => 'EMAIL', 'valueType' => 'HOME', 'value' => 'a@b.c'];
        $id = $contacts->create('a', ['name' => 'Анна', 'fm' => [$phone, $mail], 'companyIds' => ['3', '4']]);
        $this->assertSame([$phone, $mail], $contacts->read([$id])[$id]['fm']);
        $this->assertSame('Y', World::row('crm_3', $id)['COMPANY_BINDINGS'][0]['IS_PRIMARY']);
        $contacts->update($id, ['fm' => [$mail], 'companyIds' => null]);
        $this->assertSame([$mail], $contacts->read([$id])[$id]['fm']);
        $this->assertSame([], $contacts->read([$id])[$id]['companyIds']);
    }

    public function testItemsOfTwoSmartProcessesNeverHaveTheSameId(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1032]);
        $items = $this->real->records('crm_spitems');
        $id = $items->create('a', ['entityTypeId' => '1030', 'title' => 'x']);
        [$type, $own] = CrmNumbers::parts($id);
        $this->assertSame(1030, $type);
        $this->assertFalse($items->has(CrmNumbers::number(1032, $own)));
        $this->assertSame('1030', $items->read([$id])[$id]['entityTypeId']);
        $items->delete($id);
        $this->assertFalse($items->has($id));
    }

    public function testCustomValuesOfItemsAreObjectsFilesAndLinks(): void
    {
        $types = ['UF_DAY' => 'date', 'UF_TIME' => 'datetime', 'UF_LINK' => 'crm', 'UF_YES' => 'boolean'];
        foreach ($types as $code => $type) {
            World::put('fields', [
                'ENTITY_ID' => 'CRM_DEAL', 'FIELD_NAME' => $code, 'USER_TYPE_ID' => $type,
                'MULTIPLE' => $type === 'crm' ? 'Y' : 'N',
            ]);
        }
        $custom = [
            'UF_DAY' => '2020-02-29', 'UF_TIME' => '2020-02-29T12:00:00Z', 'UF_YES' => true,
            'UF_LINK' => ['T406_10300000000012', 'C_4'],
        ];
        $deals = $this->real->records('crm_deals');
        $id = $deals->create('a', ['title' => 'x'] + $custom);
        $this->assertEquals($custom, array_intersect_key($deals->read([$id])[$id], $custom));
        $this->assertSame(['T406_12', 'C_4'], World::row('crm_2', $id)['UF_LINK']);
        $this->assertIsObject(World::row('crm_2', $id)['UF_DAY']);
    }

    public function testProductsThatTheBoxDoesNotTakeAreNotLostSilently(): void
    {
        $this->expectExceptionMessage('A product has no name');
        $this->real->records('crm_deals')->create('a', ['title' => 'x', 'productRows' => [['productName' => '']]]);
    }

    public function testWhatAProductDoesNotHaveIsToldToo(): void
    {
        $deals = $this->real->records('crm_deals');
        $bolt = ['productName' => 'Болт', 'price' => 10, 'taxRate' => null];
        $id = $deals->create('a', ['title' => 'x', 'productRows' => [$bolt, new \stdClass()]]);
        $names = ['productName', 'measureCode', 'price', 'quantity', 'discountRate', 'discountSum', 'sort'];
        $names[] = 'productId';
        $none = array_fill_keys($names, null) + ['taxIncluded' => false, 'taxRate' => null, 'discountTypeId' => 2];
        $this->assertEquals([$bolt + $none, $none], $deals->read([$id])[$id]['productRows']);
    }

    public function testNumbersThatOnlyLookLikeOursStayAsTheyAre(): void
    {
        foreach (['T1_1700000000000', 'DT1030_10310000000005:NEW', 'SI_99999999999999999999'] as $text) {
            $this->assertSame($text, CrmNumbers::plain($text));
        }
        $this->assertSame('DT1030_5:NEW', CrmNumbers::plain('DT1030_10300000000005:NEW'));
    }

    public function testAnItemOfATypeThatIsNotThereIsRefused(): void
    {
        $this->expectExceptionMessage('no records of the type 1030');
        $this->real->records('crm_spitems')->create('a', ['entityTypeId' => '1030']);
    }

    public function testACompanyWithDealsIsNeeded(): void
    {
        $id = $this->real->records('crm_companies')->create('a', ['title' => 'x']);
        $this->assertNull($this->real->records('crm_companies')->reasonToKeep($id));
        $this->real->records('crm_deals')->create('b', ['title' => 'y', 'companyId' => $id]);
        $this->assertSame('it has deals', $this->real->records('crm_companies')->reasonToKeep($id));
    }
}
