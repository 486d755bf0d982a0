<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Api\CachedLookup;
use B24migrate\Import\Api\Writer;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Port\Entry;

/** What a batch does that only a look behind the door can tell. */
final class BatchTest extends RouterCase
{
    private const ANNA = ['NAME' => 'Anna', 'EMAIL' => 'anna@example.org'];

    public function testAnErrorOfPhpIsTheErrorOfOneItem(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['after-create', 1];
        $fields = ['NAME' => 'Sales', 'OWNER_ID' => '1'];
        $answers = $this->batch('groups', [self::item('g1', $fields), self::item('g2', $fields)]);
        $this->assertSame(['failed', 'created'], array_column($answers, 'status'));
        $this->assertSame(['INTERNAL', true], [$answers[0]['error']['code'], $answers[0]['error']['retry']]);
        $this->assertCount(1, $this->box->records('groups')->all());
    }

    /** @dataProvider points */
    public function testAnAttemptThatBrokeIsCompletedByTheNext(string $stream, array $fields, string $point): void
    {
        [$this->mishap->point, $this->mishap->times] = [$point, 1];
        $before = count($this->box->records($stream)->all());
        $this->assertSame('failed', $this->send($stream, 'k', $fields)['status']);
        $answer = $this->send($stream, 'k', $fields + ['ACTIVE' => true]);
        $this->assertSame('created', $answer['status'], Json::encode($answer));
        $this->assertCount($before + 1, $this->box->records($stream)->all());
        $this->assertTrue($this->box->records($stream)->read([$answer['id']])[$answer['id']]['ACTIVE']);
    }

    public function points(): iterable
    {
        $groups = ['NAME' => 'Sales', 'OWNER_ID' => '1'];
        foreach (['after-intent', 'after-create'] as $point) {
            yield "users $point" => ['users', self::ANNA, $point];
        }
        foreach (['after-create', 'after-map'] as $point) {
            yield "groups $point" => ['groups', $groups, $point];
        }
    }

    /** @dataProvider pointsBeforeTheMap */
    public function testWhatABrokenAttemptMadeIsNotTakenForWhatTheBoxHad(string $point): void
    {
        $this->box->set('apart', ['crm_types']);
        [$this->mishap->point, $this->mishap->times] = [$point, 1];
        $this->send('crm_types', 'k', ['title' => 'Claims']);
        $this->make('crm_types', 'k', ['title' => 'Claims']);
        $this->assertCount(1, $this->box->records('crm_types')->all());
        $this->assertFalse($this->box->map()->entries(['k'])['k']->linked);
        $this->assertSame('deleted', $this->delete('crm_types', 'k')['status']);
        $this->assertSame([], $this->box->records('crm_types')->all());
    }

    public function pointsBeforeTheMap(): array
    {
        return [['after-intent'], ['after-create']];
    }

    public function testWhatABrokenAttemptLeftGoesWhenTheItemIsRefusedLater(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['after-create', 1];
        $this->send('users', 'k', self::ANNA);
        $this->assertCount(2, $this->box->records('users')->all());
        $answer = $this->send('users', 'k', ['NAME' => ''] + self::ANNA);
        $this->assertSame('VALIDATION', $answer['error']['code']);
        $this->assertCount(1, $this->box->records('users')->all());
        $this->assertSame([], $this->box->map()->entries(['k']));
    }

    public function testAnItemThatTheBoxRefusesLeavesNoIntent(): void
    {
        $this->send('users', 'k', ['NAME' => 'Anna']);
        $this->assertSame([], $this->box->map()->entries(['k']));
    }

    public function testWhatWasWrittenIsSealedAndARepeatedCallSealsWhatABrokenOneDidNot(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['before-seal', 1];
        $this->group();
        $this->assertSame('', $this->box->map()->entries(['g1'])['g1']->fingerprint);
        $this->assertSame('unchanged', $this->send('groups', 'g1', ['NAME' => 'Sales', 'OWNER_ID' => '1'])['status']);
        $this->assertNotSame('', $this->box->map()->entries(['g1'])['g1']->fingerprint);
    }

    public function testWhichRunItIsChangesNothing(): void
    {
        $id = $this->group();
        $fields = ['NAME' => 'Sales', 'OWNER_ID' => '1'];
        $item = ['key' => 'g1', 'digest' => hash('sha256', Json::canonical($fields)), 'fields' => $fields];
        foreach ([['run' => 'r2'], []] as $run) {
            $told = $this->ask('groups.batch', ['stream' => 'groups', 'items' => [$item]] + $run)['items'][0];
            $this->assertSame(['unchanged', $id], [$told['status'], $told['id']]);
        }
    }

    public function testWhatThisBoxCannotKeepIsJudgedThenIgnoredAndToldBeforehand(): void
    {
        $this->box->set('losses', ['groups' => ['KEYWORDS' => 'This box has no room for keywords.']]);
        $fields = ['NAME' => 'Sales', 'OWNER_ID' => '1', 'KEYWORDS' => 'a'];
        $answer = $this->send('groups', 'g1', $fields);
        $this->assertSame(['created', ['KEYWORDS']], [$answer['status'], $answer['ignored']]);
        $this->assertSame(['KEYWORDS'], $this->send('groups', 'g1', $fields)['ignored']);
        $this->assertArrayNotHasKey('KEYWORDS', $this->box->records('groups')->read([$answer['id']])[$answer['id']]);
        $this->assertSame('VALIDATION', $this->send('groups', 'g2', ['KEYWORDS' => 5] + $fields)['error']['code']);
        $told = ['stream' => 'groups', 'field' => 'KEYWORDS', 'keeping' => 'lost'];
        $told += ['reason' => 'This box has no room for keywords.'];
        $this->assertSame(['rules' => [$told]], $this->ask('fidelity', []));
    }

    public function testARecordThatSomebodyDeletedIsNotMadeAgain(): void
    {
        $this->box->records('groups')->delete($this->group());
        $answer = $this->send('groups', 'g1', ['NAME' => 'Sold', 'OWNER_ID' => '1']);
        $this->assertSame(['VALIDATION', false], [$answer['error']['code'], $answer['error']['retry']]);
        $this->assertSame([], $this->listed('groups')['items']);
    }

    public function testKeysAndFieldsThatLookLikeNumbersAreTaken(): void
    {
        $answer = $this->send('groups', '12', ['NAME' => 'Sales', 'OWNER_ID' => '1', '44' => 'x', '0' => 'y']);
        $this->assertSame(['12', 'created', ['44', '0']], [$answer['key'], $answer['status'], $answer['ignored']]);
        $this->assertSame(['12'], array_column($this->listed('groups')['items'], 'key'));
        $this->assertSame('deleted', $this->delete('groups', '12')['status']);
    }

    public function testARehearsalSeesWhatItHasImagined(): void
    {
        $users = [
            self::item('u1', self::ANNA),
            self::item('u2', ['EMAIL' => ' ANNA@example.org'] + self::ANNA),
            self::item('u1', ['EMAIL' => 'other@example.org'] + self::ANNA),
            self::item('u3', self::ANNA),
        ];
        $statuses = ['created', 'failed', 'updated', 'created'];
        foreach ([true, false] as $dry) {
            $answers = $this->batch('users', $users, $dry);
            $this->assertSame($statuses, array_column($answers, 'status'));
            $this->assertSame($dry, array_filter(array_column($answers, 'id')) === []);
        }
    }

    public function testARehearsalTellsNamesApartThatAreTheSameNumber(): void
    {
        $ten = self::item('u1', ['NAME' => 'A', 'EMAIL' => '10']);
        $alsoTen = self::item('u2', ['NAME' => 'A', 'EMAIL' => '1e1']);
        $answers = $this->batch('users', [$ten, $alsoTen], true);
        $this->assertSame(['created', 'created'], array_column($answers, 'status'));
    }

    public function testWhatALinkedRecordKeepsIsNotJudged(): void
    {
        $this->make('departments', 'd1', ['NAME' => 'Company']);
        $answer = $this->send('departments', 'd1', ['NAME' => null, 'PARENT' => '77', 'SORT' => 7]);
        $this->assertSame(['updated', '1'], [$answer['status'], $answer['id']]);
        $this->assertSame(7, $this->box->records('departments')->read(['1'])['1']['SORT']);
    }

    public function testABugDoesNotTellWhereTheBoxKeepsItsFiles(): void
    {
        $bug = new \ErrorException('fopen(/srv/site/upload/0f3c/a.part): Failed to open stream: No such file');
        $told = ItemFault::of($bug)->body();
        $this->assertSame(['INTERNAL', true], [$told['code'], $told['retry']]);
        $this->assertSame('ErrorException: fopen((path)): Failed to open stream: No such file', $told['message']);
        $refusal = new ItemFault('VALIDATION', 'NAME', 'NAME: /a/b is no name');
        $this->assertSame($refusal, ItemFault::of($refusal));
    }

    public function testWhoSealsLateSpoilsNothingThatCameLater(): void
    {
        $stream = Catalog::stream('groups');
        foreach (['g1', 'g2'] as $key) {
            $late = new Writer($this->box, new CachedLookup($this->box));
            $intent = new Entry($key, 'groups', null, str_repeat('0', 64));
            $late->create($intent, ['NAME' => 'Sales', 'OWNER_ID' => '1'], null);
            $fields = ['NAME' => 'Sold', 'OWNER_ID' => '1'];
            $this->assertSame('updated', $this->send('groups', $key, $fields)['status']);
            if ($key === 'g2') {
                $this->assertSame('deleted', $this->delete('groups', $key)['status']);
            }
            $late->storeFingerprints($stream);
        }
        $this->assertSame('unchanged', $this->send('groups', 'g1', $fields)['status']);
        $this->assertSame('deleted', $this->delete('groups', 'g1')['status']);
        $this->assertSame([], $this->box->map()->entries(['g1', 'g2']));
    }

    public function testANumberKeepsItsSpellingOnTheWayThrough(): void
    {
        $this->make('crm_deals', 'd1', ['title' => 'A', 'opportunity' => 5.0]);
        $this->make('crm_deals', 'd2', ['title' => 'A', 'opportunity' => 5]);
        $told = Json::encode(array_column($this->listed('crm_deals')['items'], 'fields'));
        $this->assertSame('[{"title":"A","opportunity":5.0},{"title":"A","opportunity":5}]', $told);
    }

    public function testAnEmptyObjectStaysOne(): void
    {
        $chat = $this->make('chats', 'c1', ['type' => 'chat']);
        $said = ['chat_id' => $chat, 'author_id' => '1', 'date' => self::NOON];
        $this->make('chat_messages', 'm1', $said + ['params' => new \stdClass(), 'files' => []]);
        $told = Json::encode($this->listed('chat_messages')['items'][0]['fields']);
        $this->assertStringContainsString('"params":{},"files":[]', $told);
    }
}
