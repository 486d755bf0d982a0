<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

final class UploadsTest extends RouterCase
{
    private const TEXT = 'twenty bytes of text';

    /** @param array<string, mixed> $other */
    private function put(int $from, int $size, array $other = []): array
    {
        $facts = ['name' => 'a.txt', 'size' => strlen(self::TEXT), 'sha256' => hash('sha256', self::TEXT)];
        $chunk = ['offset' => $from, 'content' => base64_encode(substr(self::TEXT, $from, $size))];
        return $this->ask('files.put', $other + ['key' => 'f1'] + $facts + $chunk);
    }

    /** @dataProvider points */
    public function testAFileIsMadeOnceWhereverACallBreaks(string $point): void
    {
        $this->put(0, 12);
        [$this->mishap->point, $this->mishap->times] = [$point, 1];
        try {
            $this->put(12, 8);
            $this->fail("$point did not break");
        } catch (\TypeError) {
            $answer = $this->put(12, 8);
        }
        $this->assertSame(20, $answer['received']);
        $this->assertSame([$answer['id']], array_map('strval', array_keys($this->box->records('files')->all())));
        $this->assertNull($this->box->uploads()->upload('f1'));
        $this->assertSame($answer, $this->ask('files.put', ['key' => 'f1', 'offset' => -1]));
    }

    public function points(): array
    {
        return [['after-append'], ['after-intent'], ['after-create'], ['after-map']];
    }

    public function testAskingHowFarCompletesWhatABrokenCallLeft(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['after-append', 1];
        try {
            $this->put(0, 20);
        } catch (\TypeError) {
            $this->assertNotNull($this->ask('files.put', ['key' => 'f1', 'offset' => -1])['id']);
        }
    }

    public function testNamesThatAreTheSameNumberAreDifferentNames(): void
    {
        $this->put(0, 12, ['name' => '10']);
        $this->assertSame(['received' => 0, 'id' => null], $this->put(12, 8, ['name' => '1e1']));
        $this->assertSame(8, $this->put(0, 8, ['name' => '1e1'])['received']);
    }

    public function testAFileThatIsAnotherOneByNowTakesThePlaceOfWhatABrokenCallMade(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['after-create', 1];
        try {
            $this->put(0, 20);
            $this->fail('it did not break');
        } catch (\TypeError) {
            $other = ['size' => 1, 'sha256' => hash('sha256', 'a'), 'content' => 'YQ=='];
            $answer = $this->put(0, 20, $other);
        }
        $this->assertSame(1, $answer['received']);
        $this->assertSame([hash('sha256', 'a')], array_column($this->box->records('files')->all(), 'sha256'));
        $this->assertSame($answer, $this->ask('files.put', ['key' => 'f1', 'offset' => -1]));
    }

    public function testAnEmptyFileBeginsAtItsBeginningToo(): void
    {
        $empty = ['size' => 0, 'sha256' => hash('sha256', ''), 'content' => ''];
        $this->assertSame(['received' => 0, 'id' => null], $this->put(5, 0, $empty));
        $this->assertNotNull($this->put(0, 0, $empty)['id']);
    }

    public function testAWrongSumIsRefusedAndTheUploadForgotten(): void
    {
        $wrong = ['sha256' => str_repeat('0', 64), 'key' => 'f1', 'name' => 'a', 'size' => 1, 'offset' => 0];
        $this->assertRefused('ERROR_ARGUMENT', 'files.put', $wrong + ['content' => 'YQ==']);
        $this->assertSame(['received' => 0, 'id' => null], $this->ask('files.put', ['key' => 'f1', 'offset' => -1]));
    }

    /** @dataProvider contents */
    public function testContentIsBase64(mixed $content): void
    {
        $body = ['key' => 'f1', 'name' => 'a', 'size' => 1, 'sha256' => str_repeat('0', 64), 'offset' => 0];
        $this->assertRefused('ERROR_ARGUMENT', 'files.put', $body + ['content' => $content]);
    }

    public function contents(): array
    {
        return [[null], [5], ['YQ'], ['Y Q='], ['!!!!'], ['YQ==YQ==']];
    }
}
