<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\CrmNumbers;
use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** Leads, quotes and invoices, and what other items have of them. */
final class CrmSalesTest extends KernelCase
{
    private const BY = [
        'assignedById' => '11', 'createdBy' => '12', 'updatedBy' => '13', 'createdTime' => '2019-01-02T03:04:05Z',
        'updatedTime' => '2020-01-02T03:04:05Z',
    ];
    private const LEAD = self::BY + [
        'title' => 'Заявка', 'name' => 'Анна', 'lastName' => 'Ли', 'honorific' => 'HNR_RU_1', 'post' => 'Бухгалтер',
        'companyTitle' => 'Ромашка', 'birthdate' => '1980-01-31', 'stageId' => 'CONVERTED',
        'sourceDescription' => 'С выставки', 'movedBy' => '14', 'movedTime' => '2019-12-01T00:00:00Z',
        'dateClosed' => '2019-12-01T00:00:00Z', 'opened' => true, 'opportunity' => 10, 'currencyId' => 'RUB',
        'companyId' => '5', 'contactIds' => ['7'], 'isReturnCustomer' => false, 'utmSource' => 'yandex',
        'utmTerm' => 'болты', 'fm' => [['typeId' => 'PHONE', 'valueType' => 'WORK', 'value' => '+7']],
    ];

    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
        foreach (['CONVERTED' => 'S', 'APPROVED' => 'S', 'WON' => 'S', 'DT31_5:P' => 'S'] as $code => $semantics) {
            World::put('crm_status', ['STATUS_ID' => $code, 'SEMANTICS' => $semantics]);
        }
    }

    public function testAConvertedLeadIsReadBackAsItWasSent(): void
    {
        $leads = $this->real->records('crm_leads');
        $id = $leads->create('source:crm_leads:1', self::LEAD);
        self::assertHolds(self::LEAD + ['originatorId' => null, 'originId' => null], $leads->read([$id])[$id]);
        self::assertSame(self::BY['updatedTime'], Dates::utc(World::row('crm_1', $id)['LAST_ACTIVITY_TIME']));
        self::assertSame([(int)$id], array_column(World::$tables['crm_stage_history'], 'ITEM'), 'reports count it');
        $leads->delete($id);
        self::assertFalse($leads->has($id));
    }

    /** The kernel says of every lead with a client that the client is known, and copies the lead into it. */
    public function testALeadThatGetsAClientLaterIsNotCopiedIntoIt(): void
    {
        $leads = $this->real->records('crm_leads');
        $id = $leads->create('a', ['companyId' => null, 'contactIds' => []] + self::LEAD);
        $leads->update($id, ['isReturnCustomer' => true] + self::LEAD);
        self::assertHolds(['isReturnCustomer' => true] + self::LEAD, $leads->read([$id])[$id]);
        $leads->update($id, self::LEAD);
        self::assertHolds(self::LEAD, $leads->read([$id])[$id]);
    }

    public function testALeadKeepsWhereAnotherSystemHasItFrom(): void
    {
        $leads = $this->real->records('crm_leads');
        $origin = ['originatorId' => 'shop', 'originId' => '77'];
        $id = $leads->create('a', $origin + self::LEAD);
        self::assertHolds($origin, $leads->read([$id])[$id]);
        self::assertSame($id, $leads->findLeftover('a', $origin + self::LEAD), 'by what it looks like');
        $this->real->map()->put(new Entry('a', 'crm_leads', $id, 'd'));
        self::assertNull($leads->findLeftover('b', $origin + self::LEAD), 'it is that of another key');
        $stamped = $leads->create('c', self::LEAD);
        self::assertSame([$stamped, null], [
            $leads->findLeftover('c', self::LEAD), $leads->findLeftover('d', self::LEAD),
        ]);
    }

    /** An attempt died, and before the next one somebody has changed the title at the source. */
    public function testALeftoverIsFoundByWhatDoesNotChange(): void
    {
        $quotes = $this->real->records('crm_quotes');
        World::put('crm_7', ['TITLE' => 'the box has it']);
        $numbered = $quotes->create('q', ['title' => 'x', 'quoteNumber' => '12'] + self::BY);
        $plain = $quotes->create('r', ['title' => 'z'] + self::BY);
        self::assertSame([$numbered, $plain, null, null], [
            $quotes->findLeftover('q', ['title' => 'y', 'quoteNumber' => '12'] + self::BY),
            $quotes->findLeftover('r', ['title' => 'z', 'quoteNumber' => null] + self::BY),
            $quotes->findLeftover('s', ['title' => 'x', 'quoteNumber' => '13'] + self::BY),
            $quotes->findLeftover('t', ['title' => null]),
        ], 'never one of the box');
        $origin = ['originatorId' => 'shop', 'originId' => '77', 'title' => ''];
        $lead = $this->real->records('crm_leads')->create('l', $origin + self::LEAD);
        World::set('crm_1', $lead, ['TITLE' => "Lead $lead"] + World::row('crm_1', $lead));
        self::assertSame($lead, $this->real->records('crm_leads')->findLeftover('l', $origin + self::LEAD));
    }

    public function testLinksAreWrittenPastTheOperations(): void
    {
        $lead = $this->real->records('crm_leads')->create('l', self::LEAD);
        $quote = $this->real->records('crm_quotes')->create('q', ['title' => 'x', 'leadId' => $lead]);
        $deals = $this->real->records('crm_deals');
        $links = ['leadId' => $lead, 'quoteId' => $quote, 'isReturnCustomer' => false];
        $id = $deals->create('d', ['title' => 'x', 'companyId' => '5', 'leadId' => $lead] + self::BY);
        $deals->update($id, ['title' => 'x', 'companyId' => '5'] + $links + self::BY);
        self::assertHolds($links + self::BY, $deals->read([$id])[$id]);
        self::assertSame('it has deals', $this->real->records('crm_leads')->reasonToKeep($lead));
        self::assertSame('it has deals', $this->real->records('crm_quotes')->reasonToKeep($quote));
        foreach (['crm_contacts', 'crm_companies'] as $stream) {
            $clients = $this->real->records($stream);
            $client = $clients->create("source:$stream:1", ['title' => 'x', 'name' => 'x'] + self::BY);
            $clients->update($client, ['leadId' => $lead] + self::BY);
            self::assertHolds(['leadId' => $lead] + self::BY, $clients->read([$client])[$client]);
            $clients->update($client, ['leadId' => null] + self::BY);
            self::assertNull($clients->read([$client])[$client]['leadId']);
        }
    }

    /** The kernel deletes them, or the link to it, together with the record. */
    public function testARecordIsKeptWhileOthersHangOnIt(): void
    {
        MapTable::createTable();
        $reason = function (string $stream, array $rows): ?string {
            $records = $this->real->records($stream);
            $id = $records->create("source:$stream:1", ['title' => 'x', 'name' => 'x']);
            self::assertNull($records->reasonToKeep($id));
            array_map(static fn(string $table) => World::put($table, array_map(
                static fn(mixed $value) => $value === '' ? (int)$id : $value,
                $rows[$table]
            )), array_keys($rows));
            return $records->reasonToKeep($id);
        };
        $of = static fn(int $type) => ['ENTITY_TYPE_ID' => $type, 'ENTITY_ID' => ''];
        self::assertSame('it has requisites', $reason('crm_companies', ['requisites' => $of(4)]));
        self::assertSame('it has requisites', $reason('crm_contacts', ['requisites' => $of(3)]));
        self::assertSame('it has addresses', $reason('crm_leads', ['addresses' => $of(1)]));
        self::assertSame('it has a schedule', $reason('crm_deals', ['crm_deal_recur' => ['DEAL_ID' => '']]));
        self::assertSame('it has invoices', $reason('crm_companies', ['crm_31' => ['MYCOMPANY_ID' => '']]));
        $below = ['SRC_ENTITY_TYPE_ID' => 7, 'SRC_ENTITY_ID' => '', 'DST_ENTITY_TYPE_ID' => 31, 'DST_ENTITY_ID' => 4];
        self::assertSame('it has records below it', $reason('crm_quotes', ['crm_relations' => $below]));
        $deals = $this->real->records('crm_deals');
        $id = $deals->create('d', ['title' => 'x']);
        $this->real->map()->put(new Entry('k', 'crm_requisite_links', "2:$id", 'd'));
        self::assertSame('its requisites are chosen', $deals->reasonToKeep($id));
    }

    public function testAQuoteKeepsItsNumberDatesAndFiles(): void
    {
        $deal = $this->real->records('crm_deals')->create('d', ['title' => 'x']);
        $quote = self::BY + [
            'title' => 'КП', 'quoteNumber' => 'КП-12', 'stageId' => 'APPROVED', 'begindate' => '2019-01-02',
            'closedate' => '2019-02-03', 'actualDate' => '2019-02-01', 'closed' => true, 'content' => 'Болты',
            'terms' => 'Аванс', 'dealId' => $deal, 'companyId' => '5', 'storageElementIds' => [$this->file()],
            'utmCampaign' => 'spring',
        ];
        $quotes = $this->real->records('crm_quotes');
        $id = $quotes->create('q', $quote);
        self::assertHolds($quote, $quotes->read([$id])[$id]);
        $objects = World::$tables['crm_quote_elem'][$id];
        self::assertSame(12, World::row('objects', $objects[0])['CREATED_BY']);
        $quotes->update($id, $quote);
        self::assertSame($objects, World::$tables['crm_quote_elem'][$id], 'no second copy');
        $quotes->update($id, ['storageElementIds' => null, 'quoteNumber' => null]);
        self::assertSame([], World::row('objects', $objects[0]), 'what nothing has is not left on the disk');
        self::assertHolds(['storageElementIds' => [], 'quoteNumber' => 'КП-12'], $quotes->read([$id])[$id]);
        self::assertSame($id, $quotes->findLeftover('q', $quote));
        self::assertSame('it has quotes', $this->real->records('crm_deals')->reasonToKeep($deal));
    }

    public function testAQuoteThatIsRefusedLeavesNoFilesOnTheDisk(): void
    {
        $files = [$this->file('a.pdf'), $this->file('b.pdf')];
        $quotes = $this->real->records('crm_quotes');
        $id = $quotes->create('q', ['title' => 'x', 'storageElementIds' => [$files[0]]]);
        $before = World::$tables['objects'];
        World::$quirks['crm_7'] = static fn() => throw new \RuntimeException('Data too long for column');
        $fields = ['title' => 'y', 'storageElementIds' => $files];
        foreach ([fn() => $quotes->create('r', $fields), fn() => $quotes->update($id, $fields)] as $write) {
            try {
                $write();
                self::fail('it was taken');
            } catch (\RuntimeException) {
                self::assertEquals($before, World::$tables['objects']);
            }
        }
    }

    public function testANumberIsThereOnce(): void
    {
        $numbers = ['crm_quotes' => 'quoteNumber', 'crm_invoices' => 'accountNumber'];
        foreach ($numbers as $stream => $field) {
            $records = $this->real->records($stream);
            $id = $records->create('a', ['title' => 'x', $field => '12']);
            $records->update($id, ['title' => 'y', $field => '12']);
            $other = $records->create('b', ['title' => 'x', $field => '13']);
            $twelve = [$field => '12'];
            foreach ([fn() => $records->create('c', $twelve), fn() => $records->update($other, $twelve)] as $twice) {
                try {
                    $twice();
                    self::fail('it was taken');
                } catch (ItemFault $fault) {
                    self::assertSame(['VALIDATION', $field], [$fault->fault, $fault->field]);
                }
            }
        }
    }

    public function testAnInvoiceIsAnItemOfTheType31(): void
    {
        $invoice = self::BY + [
            'title' => 'Счёт', 'accountNumber' => '12/1', 'stageId' => 'DT31_310000000005:P', 'observers' => ['4'],
            'categoryId' => '310000000005', 'begindate' => '2019-01-02', 'closedate' => '2019-02-03',
            'opportunity' => 5, 'contactIds' => ['7'], 'movedTime' => '2019-12-01T00:00:00Z',
        ];
        $invoices = $this->real->records('crm_invoices');
        $id = $invoices->create('i', $invoice);
        self::assertHolds($invoice, $invoices->read([$id])[$id]);
        [$type, $own] = CrmNumbers::parts($id);
        self::assertSame([31, 'DT31_5:P'], [$type, World::row('crm_31', $own)['STAGE_ID']]);
        self::assertSame($id, $invoices->findLeftover('i', $invoice));
    }

    /** Nobody has opened the page of invoices on this box. */
    public function testInvoicesAreMadePossible(): void
    {
        $made = ['crm_categories' => ['entityTypeId' => '31', 'name' => 'Счета'], 'crm_invoices' => ['title' => 'x']];
        foreach ($made as $stream => $fields) {
            World::$options['crm']['smart_invoices'] = 'N';
            World::$tables['crm_categories_31'] = [];
            $id = $this->real->records($stream)->create('i', $fields);
            self::assertSame(31, CrmNumbers::parts($id)[0]);
            self::assertCount(1, World::$tables['crm_categories_31'], 'they have one pipeline');
        }
    }

    public function testABoxWithoutSmartInvoicesRefusesThem(): void
    {
        World::$options['crm']['smart_invoices'] = 'never';
        try {
            $this->real->records('crm_invoices')->create('i', ['title' => 'x']);
            self::fail('it was taken');
        } catch (ItemFault $fault) {
            self::assertSame('TYPE_NOT_FOUND', $fault->fault);
        }
    }

    public function testTheNextNumberStandsBehindThoseThatWereImported(): void
    {
        $made = [
            'crm_quotes' => ['quoteNumber', ['КП-7', '120', 'без номера']],
            'crm_invoices' => ['accountNumber', ['С-9/2024', 'С-7/2025']],
        ];
        $yearly = ['TYPE' => 'CRM_SMART_INVOICE', 'TEMPLATE' => '{PREFIX}{NUMBER}/{YEAR}'];
        $numerators = [
            'CRM_QUOTE' => World::put('numerators', ['TYPE' => 'CRM_QUOTE', 'NEXT' => 8]),
            'CRM_SMART_INVOICE' => World::put('numerators', $yearly),
        ];
        foreach ($made as $stream => [$field, $numbers]) {
            foreach ($numbers as $at => $number) {
                $key = "source:$stream:$at";
                $id = $this->real->records($stream)->create($key, ['title' => $number, $field => $number]);
                $this->real->map()->put(new Entry($key, $stream, $id, 'd'));
            }
        }
        foreach ([1, 2] as $time) {
            for ($cursor = ''; $cursor !== null;) {
                ['cursor' => $cursor] = $this->real->finalize($cursor);
            }
            $next = array_map(static fn(int $id) => World::row('numerators', $id)['NEXT'], $numerators);
            self::assertSame(['CRM_QUOTE' => 121, 'CRM_SMART_INVOICE' => 10], $next, "time $time");
        }
    }
}
