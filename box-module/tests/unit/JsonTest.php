<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Contract\Json;
use PHPUnit\Framework\TestCase;

final class JsonTest extends TestCase
{
    /** @dataProvider texts */
    public function testWhatComesInGoesOutAsItCame(string $text): void
    {
        $this->assertSame($text, Json::encode(Json::decode($text)));
    }

    public function texts(): array
    {
        $texts = ['{}', '[]', '{"0":"a"}', '["a"]', '1', '1.0', '1.5', '0.1', '-0.0', '{"a":{},"b":[],"c":[{}]}'];
        array_push($texts, '"Счёт/ok"', '{"1":{"0":[]}}', '9007199254740993', '1234567.891', '{"":1}', "\"\u{2028}\"");
        return array_combine($texts, array_map(static fn ($text) => [$text], $texts));
    }

    public function testOnlyWhatAnArrayCannotTellFromAListIsAnObjectOfPhp(): void
    {
        $expected = ['a' => new \stdClass(), 'b' => [], 'c' => (object)['5']];
        $this->assertEquals($expected, Json::decode('{"a":{},"b":[],"c":{"0":"5"}}'));
    }

    public function testWhatIsNoNumberOfThisMachineIsRefused(): void
    {
        $this->expectException(\JsonException::class);
        Json::decode('{"a":[1e999]}');
    }

    public function testWhatIsDeepEnoughToComeInGoesOutInsideAnAnswer(): void
    {
        $deepest = Json::decode(str_repeat('[', 499) . str_repeat(']', 499));
        $this->assertNotSame('', Json::encode(['result' => ['items' => [['fields' => ['TEMPLATE' => $deepest]]]]]));
        $this->expectException(\JsonException::class);
        Json::decode(str_repeat('[', 500) . str_repeat(']', 500));
    }

    public function testNamesAreSortedEverywhereButListsStayAsTheyAre(): void
    {
        $canonical = Json::canonical(Json::decode('{"b":[{"z":1,"y":2},3],"a":{},"B":null}'));
        $this->assertSame('{"B":null,"a":{},"b":[{"y":2,"z":1},3]}', $canonical);
    }

    public function testObjectsAndListsAreToldApart(): void
    {
        $judged = array_map(
            static fn ($text) => [Json::isObject(Json::decode($text)), Json::isList(Json::decode($text))],
            ['{}', '[]', '{"0":1}', '[1]', '{"a":1}', '"x"', 'null']
        );
        $object = [true, false];
        $list = [false, true];
        $neither = [false, false];
        $this->assertSame([$object, $list, $object, $list, $object, $neither, $neither], $judged);
    }
}
