<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Kind\Kind;
use B24migrate\Import\Contract\Kind\Many;
use B24migrate\Import\Contract\Kind\Plain;
use B24migrate\Import\Contract\Kind\Ref;

/** What fields may hold. */
final class CatalogTest extends DoorCase
{
    public function testEveryStreamIsNamedAsItIsAskedFor(): void
    {
        foreach (Catalog::STREAMS as $name => $entity) {
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
    public function testAKindTakesWhatItIsAndRefusesTheRest(Kind $kind, array $good, array $bad): void
    {
        foreach ($good as $value) {
            $kind->check($value, $this->inspection());
        }
        foreach ($bad as $value) {
            try {
                $kind->check($value, $this->inspection());
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
            'text' => [Plain::text(), ['', 'x'], [5, true, [], $empty]],
            'flag' => [Plain::flag(), [true, false], [0, 1, 'Y', '']],
            'whole' => [Plain::whole(), [0, -5], [1.0, '1', true]],
            'number' => [Plain::number(), [0, 1.5], ['1.5', true]],
            'date' => [Plain::date(), ['2024-02-29'], ['2023-02-29', '2024-2-9', self::NOON, "2024-02-29\n", '', 2024]],
            'time' => [
                Plain::time(),
                [self::NOON, '2024-03-01T23:59:59.123456Z'],
                ['2024-03-01', '2024-03-01T24:00:00Z', '2024-03-01T09:00:00', '2024-03-01T09:60:00Z', '٢٠٢٤-03-01'],
            ],
            'object' => [Plain::object(), [$empty, ['a' => 1], (object)['x']], [[], ['x'], 'x']],
            'tree' => [Plain::tree(), [$empty, [], ['a' => 1], [1]], ['x', 5]],
            'tally' => [Plain::tally(), [$empty, ['LIKE' => 2]], [[], ['LIKE' => '2'], ['A' => ['1']], ['A' => null]]],
            'one of' => [Plain::oneOf('A', 'K'), ['A'], ['a', 0, '']],
            'many' => [new Many(Plain::text()), [[], ['a']], [$empty, ['a' => 'b'], (object)['a'], [null], 'a']],
            'id' => [new Ref('groups'), [], [5, null, ['5']]],
        ];
    }

    public function testAReferenceIsLookedUpAndToldByItsOwnCode(): void
    {
        $codes = ['OWNER_NOT_FOUND' => Ref::owner(), 'FILE_NOT_FOUND' => Ref::file(), 'USER_NOT_FOUND' => Ref::user()];
        foreach ($codes as $code => $kind) {
            try {
                $kind->check('871', $this->inspection());
                $this->fail($code);
            } catch (ItemFault $fault) {
                $this->assertSame($code, $fault->fault);
            }
        }
        $seen = $this->inspection();
        Ref::user()->check('1', $seen);
        Ref::userOrSystem()->check('0', $seen);
        $this->assertSame([['users', '1']], array_values($seen->refers));
    }

    private function inspection(): Inspection
    {
        $seen = new Inspection(new \B24migrate\Import\Api\Sight($this->box));
        $seen->field = 'F';
        return $seen;
    }
}
