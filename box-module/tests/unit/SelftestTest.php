<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Api\Samples;
use B24migrate\Import\Api\Selftest;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Tests\Fake\FakeBox;
use B24migrate\Import\Tests\Fake\NoAccidents;
use PHPUnit\Framework\TestCase;

final class SelftestTest extends TestCase
{
    private FakeBox $box;

    protected function setUp(): void
    {
        $this->box = new FakeBox(':memory:', new NoAccidents());
    }

    public function testOneOfEachKindComesGoesAndLeavesNothing(): void
    {
        $checks = $this->checks();
        $this->assertSame([], self::failed($checks));
        $this->assertSame([], array_diff(array_keys(Catalog::streams()), array_column($checks, 'name')));
        foreach ([...array_keys(Catalog::streams()), 'files'] as $stream) {
            $this->assertSame(0, $this->box->map()->count($stream), $stream);
        }
        $this->assertSame(['rules' => []], $this->ask('fidelity'));
    }

    public function testStreamsThatABoxDoesNotServeAreNotTried(): void
    {
        $this->box->set('streams', ['crm_comments']);
        $tried = array_filter(array_column($this->checks(), 'name'), Catalog::isOfLaterVersion(...));
        $this->assertSame(['crm_comments'], array_values($tried));
    }

    public function testWhatABoxDoesNotKeepIsNamedAndFidelityTellsItBeforeARun(): void
    {
        $this->box->set('bent', ['crm_deals' => ['closedate' => '2026-11-16'], 'tasks' => ['deadline' => null]]);
        $failed = self::failed($this->checks());
        $this->assertSame(['crm_deals.closedate', 'tasks.deadline'], array_keys($failed));
        $this->assertSame('sent "2020-03-04", the box has "2026-11-16"', $failed['crm_deals.closedate']);
        $told = $this->ask('fidelity')['rules'];
        $short = static fn($rule) => "{$rule['stream']} {$rule['field']} {$rule['keeping']}";
        $this->assertSame(
            ['crm_deals closedate approximated', 'tasks deadline lost'],
            array_map($short, $told)
        );
        // the same words as long as the box is the same: who has accepted them is not asked again
        $this->box->set('bent', ['crm_deals' => ['closedate' => '2026-11-17'], 'tasks' => ['deadline' => null]]);
        $this->checks();
        $this->assertSame($told, $this->ask('fidelity')['rules']);
        $this->box->set('bent', []);
        $this->checks();
        $this->assertSame(['rules' => []], $this->ask('fidelity'), 'a box that was repaired');
    }

    public function testWhatIsKnownToBeLostIsNotToldTwice(): void
    {
        $this->box->set('losses', ['crm_deals' => ['closedate' => 'No room.']]);
        $this->assertSame([], self::failed($this->checks()));
        $this->assertCount(1, $this->ask('fidelity')['rules']);
    }

    public function testNoiseIsTold(): void
    {
        $this->box->set('noise', ['mails' => ['USER_INVITE']]);
        $this->assertSame(['mails' => 'USER_INVITE'], self::failed($this->checks()));
    }

    public function testOnASlowBoxItEndsInTimeAndSaysWhatItDidNotTry(): void
    {
        $rule = ['stream' => 'tasks', 'field' => 'deadline', 'keeping' => 'lost', 'reason' => 'Found out earlier.'];
        $this->box->keepFindings([$rule, ['stream' => 'users'] + $rule]);
        $seconds = 0;
        $clock = static function () use (&$seconds): int {
            return $seconds += 5;
        };
        $checks = (new Selftest($this->box, Catalog::ENTITIES, $clock))->answer()['checks'];
        $failed = self::failed($checks);
        $late = 'not tried: the box is too slow for the whole self-test';
        $this->assertSame([$late], array_values(array_unique($failed)));
        $made = array_diff(Samples::names(), array_keys($failed));
        $this->assertSame(['files', 'departments', 'users', 'users (another)'], $made);
        $this->assertSame([], array_diff($made, array_column($checks, 'name')), 'what was made is compared');
        $this->assertSame(0, $this->box->map()->count('users'), 'and deleted');
        $this->assertSame(['rules' => [$rule]], $this->ask('fidelity'), 'what was known of the others still holds');
    }

    public function testWhatCannotBeMadeIsTold(): void
    {
        $failed = self::failed($this->checks(['groups']));
        $this->assertStringContainsString('OWNER_ID', $failed['groups']);
        $this->assertStringContainsString('it needs users', $failed['groups']);
        // nothing of that is the fault of the box
        $this->assertSame(['rules' => []], $this->ask('fidelity'));
    }

    private function checks(array $entities = Catalog::ENTITIES): array
    {
        return $this->ask('selftest', $entities)['checks'];
    }

    private function ask(string $method, array $entities = Catalog::ENTITIES): array
    {
        return (new Router($this->box, $entities))->answer("import.$method", '{}');
    }

    private static function failed(array $checks): array
    {
        return array_column(array_filter($checks, static fn(array $check) => !$check['ok']), 'detail', 'name');
    }
}
