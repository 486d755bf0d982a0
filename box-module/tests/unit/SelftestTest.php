<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Api\Door;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Tests\Fake\FakeBox;
use B24migrate\Import\Tests\Fake\NoAccidents;
use PHPUnit\Framework\TestCase;

final class SelftestTest extends TestCase
{
    public function testOneOfEachKindComesGoesAndLeavesNothing(): void
    {
        $box = new FakeBox(':memory:', new NoAccidents());
        $told = (new Door($box))->answer('import.selftest', '{}');
        $this->assertSame([], array_filter($told['streams'], static fn($one) => $one['error'] !== null), 'errors');
        $this->assertSame([], array_merge(...array_column($told['streams'], 'differs')));
        $this->assertTrue($told['ok']);
        $this->assertSame(array_keys(Catalog::streams()), array_column($told['streams'], 'stream'));
        foreach (array_keys(Catalog::streams()) as $stream) {
            $this->assertSame(0, $box->map()->count($stream), $stream);
        }
    }

    public function testWhatCannotBeMadeIsTold(): void
    {
        $box = new FakeBox(':memory:', new NoAccidents());
        $told = (new Door($box, ['groups']))->answer('import.selftest', '{}');
        $this->assertFalse($told['ok']);
        $this->assertStringContainsString('OWNER_ID', $told['streams'][0]['error']);
    }
}
