<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Tests\Fake\FakeBox;

final class RouterTest extends RouterCase
{
    public function testEveryMethodOfTheContractIsThere(): void
    {
        $methods = Router::methods();
        $this->assertCount(5 + 7 * 4 + 1, array_unique($methods));
        foreach (['import.info', 'import.users.match', 'import.files.put', 'import.crm.fields'] as $method) {
            $this->assertContains($method, $methods);
        }
        $this->assertNotContains('import.users.match', Router::methods(['groups']));
    }

    /** @dataProvider bodies */
    public function testABodyIsOneObject(string $body): void
    {
        $this->expectException(CallFault::class);
        (new Router($this->box))->answer('import.info', $body);
    }

    public function bodies(): array
    {
        return [['[]'], ['"x"'], ['{'], ['null'], ['{"start": 0}'], ['{"auth": null}'], ["{\"a\": \"\xff\"}"]];
    }

    public function testInfoTellsWhatIsServedAndHowMuchOfIt(): void
    {
        $box = new FakeBox(':memory:', $this->mishap, ['items' => 7]);
        $told = (new Router($box, ['users', 'crm']))->answer('import.info', '');
        $this->assertSame([1, ['users', 'crm'], 7], [$told['contract'], $told['entities'], $told['limits']['items']]);
        $this->assertMatchesRegularExpression('/^b24migrate\.import\/\d/', $told['server']);
    }

    public function testInfoNamesStreamsOfLaterVersionsThatThisBoxServes(): void
    {
        $this->box->set('streams', ['crm_leads', 'crm_quotes']);
        $this->assertSame(['crm_leads', 'crm_quotes'], $this->ask('info', [])['streams']);
        $this->assertSame([], (new Router($this->box, ['users']))->answer('import.info', '')['streams']);
        $this->assertSame([], $this->batch('crm_leads', []));
        $this->assertRefused('ERROR_ARGUMENT', 'crm.batch', ['stream' => 'crm_invoices', 'items' => []]);
    }

    public function testABodyOverTheLimitIsRefusedUnread(): void
    {
        $door = new Router(new FakeBox(':memory:', $this->mishap, ['body_bytes' => 4]));
        $this->assertArrayHasKey('limits', $door->answer('import.info', '{  }'));
        $this->expectExceptionMessage('at most 4 bytes');
        $door->answer('import.info', '{   }');
    }

    public function testWhatIsLeftAtTheEndIsDoneAStretchAtATime(): void
    {
        $chats = array_map(static fn ($n) => self::item("c$n", ['type' => 'chat']), range(1, 100));
        $this->batch('chats', $chats);
        $this->make('chats', 'c101', ['type' => 'chat']);
        $first = $this->ask('finalize', []);
        $second = $this->ask('finalize', ['after' => $first['cursor']]);
        $this->assertSame([100, 1, null], [$first['done'], $second['done'], $second['cursor']]);
    }

    public function testAHundredDealsTakeFarLessThanHalfASecond(): void
    {
        $deal = ['title' => 'A', 'assignedById' => '1', 'createdBy' => '1', 'stageId' => 'WON', 'categoryId' => '0'];
        $deals = array_map(static fn ($n) => self::item("d$n", $deal), range(1, 100));
        $began = getrusage();
        $this->batch('crm_deals', $deals);
        $spent = getrusage()['ru_utime.tv_sec'] - $began['ru_utime.tv_sec']
            + (getrusage()['ru_utime.tv_usec'] - $began['ru_utime.tv_usec']) / 1e6;
        $this->assertLessThan(0.5, $spent);
    }

    /** A page of letters may be more than the memory of a call: it ends earlier, and the next one goes on there. */
    public function testAPageEndsWhereItGrowsTooLarge(): void
    {
        $deal = ['ownerTypeId' => 2, 'ownerId' => $this->make('crm_deals', 'd', ['title' => 'x'])];
        $fields = ['OWNER' => (object)$deal, 'TYPE_ID' => 4, 'DESCRIPTION' => str_repeat('x', 200)];
        foreach (array_chunk(range(1, 250), 100) as $some) {
            $this->batch('crm_activities', array_map(static fn(int $at) => self::item("a$at", $fields), $some));
        }
        $pages = function (): array {
            $ids = [];
            for ($after = ''; $after !== null; $after = $page['cursor']) {
                $page = $this->ask('crm.list', ['stream' => 'crm_activities', 'after' => $after, 'limit' => 240]);
                $ids[] = array_column($page['items'], 'id');
                $this->assertSame(250, $page['count']);
            }
            $this->assertCount(250, array_unique(array_merge(...$ids)));
            return array_map('count', $ids);
        };
        $this->assertSame([240, 10], $pages());
        $this->box->set('limits', ['body_bytes' => 10_000]);
        $this->assertSame([100, 100, 50], $pages());
    }
}
