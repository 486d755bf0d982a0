<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\CrmNumbers;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\Rows;
use B24migrate\Import\Tests\Kernel\World;

final class CrmStructureTest extends KernelCase
{
    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
    }

    /** @dataProvider spellings */
    public function testCodesAreSpelledAsTheBoxDoesAndBack(string $ours, string $theirs): void
    {
        $this->assertSame($theirs, CrmNumbers::plain($ours));
        $this->assertSame($ours, CrmNumbers::numbered($theirs));
    }

    /** @return list<array{string, string}> */
    public function spellings(): array
    {
        return [
            ['DYNAMIC_1030_STAGE_10300000000005', 'DYNAMIC_1030_STAGE_5'],
            ['DT1030_10300000000005:NEW', 'DT1030_5:NEW'],
            ['SMART_INVOICE_STAGE_310000000005', 'SMART_INVOICE_STAGE_5'],
            ['DT31_310000000005:N', 'DT31_5:N'],
            ['T406_10300000000012', 'T406_12'],
            ['DYNAMIC_1030_10300000000012', 'DYNAMIC_1030_12'],
            ['SI_310000000012', 'SI_12'],
            ['DEAL_STAGE_7', 'DEAL_STAGE_7'],
            ['C7:WON', 'C7:WON'],
            ['D_12', 'D_12'],
            ['SOURCE', 'SOURCE'],
        ];
    }

    public function testADefaultPipelineOfDealsIsTheNumberNought(): void
    {
        $this->assertSame('0', CrmNumbers::number(2, 0));
        $this->assertSame([2, 0], CrmNumbers::parts('0'));
        $this->assertSame([1030, 5], CrmNumbers::parts(CrmNumbers::number(1030, 5)));
    }

    public function testATypeGetsTheNumberItWishesForWhenThatIsFree(): void
    {
        $types = $this->real->records('crm_types');
        $flags = ['isCategoriesEnabled' => true, 'isUnknownEnabled' => true];
        $wish = ['title' => 'Заявки', 'entityTypeId' => '1030'] + $flags;
        $this->assertSame('1030', $types->create('a', $wish));
        $this->assertSame(
            ['title' => 'Заявки', 'entityTypeId' => '1030', 'code' => null, 'isCategoriesEnabled' => true],
            $types->read(['1030'])['1030']
        );
        $this->assertNotSame('1030', $types->create('b', ['title' => 'Другие'] + $wish));
        $this->assertSame('1030', $types->find(['title' => 'Заявки']));
        $this->assertNull($types->find(['title' => 'заявки']));
        $this->assertFalse($types->isAtomic());
    }

    public function testPipelinesOfDealsAndOfSmartProcessesAreToldApart(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        $categories = $this->real->records('crm_categories');
        $named = ['name' => 'Опт', 'sort' => 30, 'isDefault' => true];
        $ofDeals = $categories->create('a', ['entityTypeId' => '2', 'isDefault' => false] + $named);
        $smart = $categories->create('b', ['entityTypeId' => '1030'] + $named);
        $this->assertNotSame($ofDeals, $smart);
        $this->assertSame(
            ['entityTypeId' => '1030', 'name' => 'Опт', 'sort' => 30, 'isDefault' => true],
            $categories->read([$smart])[$smart]
        );
        $this->assertSame($smart, $categories->find(['entityTypeId' => '1030', 'name' => 'Опт']));
        $this->assertSame($smart, $categories->findLeftover('b', ['entityTypeId' => '1030', 'name' => 'Опт']));
        $this->assertNull($categories->find(['entityTypeId' => '4', 'name' => 'Опт']));
    }

    /** A new pipeline has its successful stage at 60 (deals) or 40, and takes nothing before it that stands behind. */
    public function testAStageBehindTheSuccessfulOneOfANewPipelineArrives(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        $pipelines = $this->real->records('crm_categories');
        foreach (['2' => 'DEAL_STAGE_%s C%s:', '1030' => 'DYNAMIC_1030_STAGE_%s DT1030_%s:'] as $type => $spelled) {
            $pipeline = $pipelines->create("p$type", ['entityTypeId' => (string)$type, 'name' => 'Опт']);
            [$dictionary, $prefix] = explode(' ', sprintf($spelled, $pipeline, $pipeline));
            foreach (['UC_LATE' => [170, null], 'UC_LOST' => [20, 'F']] as $code => [$sort, $semantics]) {
                $stage = ['ENTITY_ID' => $dictionary, 'STATUS_ID' => $prefix . $code, 'NAME' => $code, 'SORT' => $sort];
                $id = $this->real->records('crm_stages')->create("s$code$type", $stage + ['SEMANTICS' => $semantics]);
                self::assertHolds($stage, $this->real->records('crm_stages')->read([$id])[$id]);
            }
        }
    }

    public function testALinkedStageTakesThePlaceItHasInTheSource(): void
    {
        $pipeline = $this->real->records('crm_categories')->create('p', ['entityTypeId' => '2', 'name' => 'Опт']);
        $won = ['ENTITY_ID' => "DEAL_STAGE_$pipeline", 'STATUS_ID' => "C$pipeline:WON", 'NAME' => 'WON', 'SORT' => 180];
        $item = ['key' => 'source:crm_stages:won', 'digest' => str_repeat('0', 64), 'fields' => $won];
        $body = json_encode(['stream' => 'crm_stages', 'items' => [$item]]);
        [$told] = (new Router($this->real))->answer('import.crm.batch', $body)['items'];
        self::assertSame(['created', null], [$told['status'], $told['error']]);
        self::assertSame([180], array_column(Rows::matching('crm_status', ['STATUS_ID' => "C$pipeline:WON"]), 'SORT'));
    }

    public function testAStageWithoutAColourStaysWithoutOne(): void
    {
        $stages = $this->real->records('crm_stages');
        $id = $stages->create('a', ['ENTITY_ID' => 'SOURCE', 'STATUS_ID' => 'X', 'NAME' => 'Сайт', 'COLOR' => null]);
        $stages->update($id, ['NAME' => 'Web', 'COLOR' => null]);
        self::assertNull($stages->read([$id])[$id]['COLOR']);
    }

    public function testThereIsOneDefaultPipelineAtATime(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        $categories = $this->real->records('crm_categories');
        $fields = ['entityTypeId' => '1030', 'isDefault' => true];
        $first = $categories->create('a', ['name' => 'Общая'] + $fields);
        $second = $categories->create('b', ['name' => 'Опт'] + $fields);
        $this->assertFalse($categories->read([$first])[$first]['isDefault']);
        $this->assertTrue($categories->read([$second])[$second]['isDefault']);
    }

    public function testAStageLiesInThePipelineThatItsDictionaryNames(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        $stages = $this->real->records('crm_stages');
        $stage = [
            'ENTITY_ID' => 'DYNAMIC_1030_STAGE_10300000000005', 'STATUS_ID' => 'DT1030_10300000000005:NEW',
            'NAME' => 'Новая', 'SORT' => 10, 'SEMANTICS' => 'P', 'COLOR' => '#112233',
        ];
        $id = $stages->create('a', $stage);
        self::assertHolds($stage, $stages->read([$id])[$id]);
        $this->assertSame(5, World::row('crm_status', $id)['CATEGORY_ID']);
        $this->assertSame('DT1030_5:NEW', World::row('crm_status', $id)['STATUS_ID']);
        $this->assertSame($id, $stages->find(array_slice($stage, 0, 2)));
        $this->assertNull($stages->find(['NAME' => 'новая'] + array_slice($stage, 0, 1)));
        $this->assertNull($stages->reasonToKeep($id));
        World::put('crm_1030', ['STAGE_ID' => 'DT1030_5:NEW']);
        $this->assertSame('items are in this stage', $stages->reasonToKeep($id));
    }

    public function testANewPipelineIsKnownForTheRestOfTheCall(): void
    {
        $pipelines = $this->real->records('crm_categories');
        $this->assertNull($pipelines->find(['entityTypeId' => '2', 'name' => 'Опт']));
        $id = $pipelines->create('a', ['entityTypeId' => '2', 'name' => 'Опт', 'sort' => 20]);
        $this->assertSame($id, $pipelines->find(['entityTypeId' => '2', 'name' => 'Опт']));
        $this->assertSame(20, $pipelines->read([$id])[$id]['sort']);
        $pipelines->delete($id);
        $this->assertFalse($pipelines->has($id));
    }

    public function testAChangeOfOneFieldOfAStageLeavesTheOthers(): void
    {
        $stages = $this->real->records('crm_stages');
        $id = $stages->create('a', ['ENTITY_ID' => 'SOURCE', 'STATUS_ID' => 'X', 'NAME' => 'Сайт', 'SORT' => 70]);
        $stages->update($id, ['COLOR' => '#445566']);
        $this->assertSame(['Сайт', '#445566', 70], array_values(array_intersect_key(
            $stages->read([$id])[$id],
            ['NAME' => 1, 'SORT' => 1, 'COLOR' => 1]
        )));
        $this->assertSame('X', $stages->read([$id])[$id]['STATUS_ID']);
    }

    public function testTheKernelsOwnWordsSayWhyAStageIsRefused(): void
    {
        $GLOBALS['APPLICATION']->say('left behind by an earlier item');
        $this->expectException(ItemFault::class);
        $this->expectExceptionMessage('The name is empty');
        $this->real->records('crm_stages')->create('a', ['ENTITY_ID' => 'SOURCE', 'STATUS_ID' => 'X', 'NAME' => '']);
    }

    public function testStagesOfLeadsQuotesAndInvoicesAreKeptWhileRecordsAreInThem(): void
    {
        $box = new KernelBox();
        $places = [
            'crm_leads' => ['STATUS', 'HOT'], 'crm_quotes' => ['QUOTE_STATUS', 'READ'],
            'crm_invoices' => ['SMART_INVOICE_STAGE_310000000005', 'DT31_310000000005:P'],
        ];
        foreach ($places as $stream => [$dictionary, $code]) {
            $stage = ['ENTITY_ID' => $dictionary, 'STATUS_ID' => $code, 'NAME' => 'x', 'SORT' => 5];
            $id = $box->records('crm_stages')->create("source:crm_stages:$code", $stage);
            self::assertNull($box->records('crm_stages')->reasonToKeep($id), $dictionary);
            $box->records($stream)->create("source:$stream:1", ['title' => 'x', 'stageId' => $code]);
            self::assertSame('items are in this stage', $box->records('crm_stages')->reasonToKeep($id), $dictionary);
        }
    }

    public function testInvoicesHaveOnePipeline(): void
    {
        $categories = (new KernelBox())->records('crm_categories');
        $invoices = ['entityTypeId' => '31', 'name' => 'Счета'];
        self::assertNull($categories->find($invoices));
        $id = World::put('crm_categories_31', ['TYPE' => 31, 'NAME' => 'Общая', 'IS_DEFAULT' => true]);
        $number = CrmNumbers::number(31, $id);
        $box = new KernelBox();
        World::$services = [];
        self::assertSame($number, $box->records('crm_categories')->find($invoices));
        self::assertNull($box->records('crm_categories')->find(['entityTypeId' => '2', 'name' => 'Счета']));
    }
}
