<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Kind;

/** What fields may hold. */
final class CatalogTest extends RouterCase
{
    public function testEveryStreamIsNamedAsItIsAskedFor(): void
    {
        foreach (Catalog::streams() as $name => $entity) {
            $stream = Catalog::stream($name);
            $this->assertSame([$name, $entity], [$stream->name, $stream->entity]);
            $this->assertContains($entity, Catalog::ENTITIES);
            foreach ($stream->required as $field) {
                $this->assertNotNull($stream->builtin($field), "$name $field");
            }
        }
        $this->assertNull(Catalog::stream('leads'));
    }

    /** @dataProvider values */
    public function testAKindTakesWhatItIsAndRefusesTheRest(string $kind, array $good, array $bad): void
    {
        foreach ($good as $value) {
            Kind::of($kind)($value, $this->inspection());
        }
        foreach ($bad as $value) {
            try {
                Kind::of($kind)($value, $this->inspection());
            } catch (ItemFault $fault) {
                $this->assertSame(['VALIDATION', 'F'], [$fault->fault, $fault->field]);
                continue;
            }
            $this->fail('taken: ' . var_export($value, true));
        }
    }

    public function values(): array
    {
        $empty = new \stdClass();
        return [
            'text' => ['text', ['', 'x'], [5, true, [], $empty]],
            'flag' => ['flag', [true, false], [0, 1, 'Y', '']],
            'whole' => ['int', [0, -5], [1.0, '1', true]],
            'number' => ['number', [0, 1.5], ['1.5', true]],
            'date' => ['date', ['2024-02-29'], ['2023-02-29', '2024-2-9', self::NOON, "2024-02-29\n", '', 2024]],
            'time' => [
                'time',
                [self::NOON, '2024-03-01T23:59:59.123456Z'],
                ['2024-03-01', '2024-03-01T24:00:00Z', '2024-03-01T09:00:00', '2024-03-01T09:60:00Z', '٢٠٢٤-03-01'],
            ],
            'object' => ['object', [$empty, ['a' => 1], (object)['x']], [[], ['x'], 'x']],
            'tree' => ['tree', [$empty, [], ['a' => 1], [1]], ['x', 5]],
            'tally' => ['tally', [$empty, ['LIKE' => 2]], [[], ['LIKE' => '2'], ['A' => ['1']], ['A' => null]]],
            'one of' => ['role', ['A'], ['a', 0, '']],
            'many' => ['[text]', [[], ['a']], [$empty, ['a' => 'b'], (object)['a'], [null], 'a']],
            'id' => ['group', [], [5, null, ['5']]],
        ];
    }

    public function testAReferenceIsLookedUpAndToldByItsOwnCode(): void
    {
        $codes = ['OWNER_NOT_FOUND' => 'owner', 'FILE_NOT_FOUND' => 'file', 'USER_NOT_FOUND' => 'user'];
        foreach ($codes as $code => $kind) {
            try {
                Kind::of($kind)('871', $this->inspection());
                $this->fail($code);
            } catch (ItemFault $fault) {
                $this->assertSame($code, $fault->fault);
            }
        }
        $seen = $this->inspection();
        Kind::of('user')('1', $seen);
        Kind::of('author')('0', $seen);
    }

    public function testTheOwnerOfAnActivityIsARecordOfItsType(): void
    {
        $owner = static fn(mixed $type, mixed $id) => (object)['ownerTypeId' => $type, 'ownerId' => $id];
        $lead = $this->make('crm_leads', 'l', ['title' => 'A', 'stageId' => 'NEW']);
        Kind::of('crm owner')($owner(1, $lead), $this->inspection());
        $wrong = [
            'VALIDATION' => [$lead, [], $owner('1', $lead), $owner(1, (int)$lead), (object)['ownerTypeId' => 1]],
            'PARENT_NOT_FOUND' => [$owner(1, '871'), $owner(2, $lead), $owner(7, $lead), $owner(31, $lead)],
            'TYPE_NOT_FOUND' => [$owner(1030, $lead)],
        ];
        foreach ($wrong as $code => $values) {
            foreach ($values as $value) {
                try {
                    Kind::of('crm owner')($value, $this->inspection());
                    $this->fail($code);
                } catch (ItemFault $fault) {
                    $this->assertSame($code, $fault->fault);
                }
            }
        }
    }

    public function testWhatTheBoxHasOfACatalogueIsLinked(): void
    {
        $this->box->records('crm_price_types')->place('1', ['name' => 'BASE', 'base' => true]);
        $color = ['name' => 'Цвет', 'code' => 'COLOR', 'propertyType' => 'L'];
        $this->box->records('crm_product_props')->place('2', $color);
        $base = ['name' => 'Розничная', 'base' => true, 'xmlId' => 'RETAIL'];
        $this->assertSame('1', $this->make('crm_price_types', 'a', $base));
        $this->assertSame('2', $this->make('crm_product_props', 'source:crm_product_props:product:7', $color));
        $this->assertNotSame('2', $this->make('crm_product_props', 'source:crm_product_props:offer:8', $color));
    }

    public function testListValuesOfAPropertyAreAnsweredWithTheIdsOfTheBox(): void
    {
        $red = ['id' => '26', 'value' => 'Красный', 'xmlId' => 'red'];
        $blue = ['id' => '27', 'value' => 'Синий', 'xmlId' => ''];
        $color = ['name' => 'Цвет', 'code' => 'COLOR', 'propertyType' => 'L'];
        $color['options'] = [(object)$red, (object)$blue];
        $items = static fn(array $fields) => [self::item('p', $fields)];
        $send = fn(array $fields, bool $dry = false) => $this->batch('crm_product_props', $items($fields), $dry);
        $this->assertEquals(new \stdClass(), $send($color, true)[0]['options']);
        $options = (array)$send($color)[0]['options'];
        $this->assertSame([26, 27], array_keys($options));
        $this->assertEquals($options, (array)$send($color)[0]['options'], 'of one that is unchanged as well');
        $renamed = ['options' => [['value' => 'Алый'] + $red]] + $color;
        $this->assertSame([26 => $options[26]], (array)$send($renamed)[0]['options']);
        $this->assertArrayNotHasKey('options', $send(['name' => ''])[0]);
        $this->assertSame('deleted', $this->delete('crm_product_props', 'p')['status']);
    }

    private function inspection(): Inspection
    {
        $seen = new Inspection(new \B24migrate\Import\Api\CachedLookup($this->box));
        $seen->field = 'F';
        return $seen;
    }
}
