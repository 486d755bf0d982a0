<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** A list of many costs as many questions as a list of one. */
final class BulkTest extends KernelCase
{
    public function testManyItemsOfTheCrmAreReadWithAFewQuestions(): void
    {
        $deals = (new KernelBox())->records('crm_deals');
        $deal = ['title' => 'x', 'observers' => ['1'], 'contactIds' => ['3']];
        $deal += ['productRows' => [['productName' => 'a']]];
        $ids = array_map(fn(int $n) => $deals->create("d$n", $deal), range(1, 30));
        World::$calls = [];
        $read = $deals->read([...$ids, '99999']);
        self::assertSame($ids, array_map('strval', array_keys($read)));
        self::assertSame([], World::calls('getItem'));
        self::assertCount(4, World::calls('getItems'), 'the items, contacts, products, observers');
        foreach ($read as $one) {
            self::assertSame([['3'], ['1'], 'a'], [
                $one['contactIds'], $one['observers'], $one['productRows'][0]['productName'],
            ]);
        }
    }

    public function testItemsOfSeveralSmartProcessesAreReadTogether(): void
    {
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1030]);
        World::put('crm_types', ['ENTITY_TYPE_ID' => 1032]);
        $items = (new KernelBox())->records('crm_spitems');
        $one = $items->create('a', ['entityTypeId' => '1030', 'title' => 'one']);
        $two = $items->create('b', ['entityTypeId' => '1032', 'title' => 'two']);
        $read = $items->read([$one, '10310000000001', $two]);
        self::assertSame(['one', 'two'], array_column($read, 'title'));
        self::assertSame([$one, $two], array_map('strval', array_keys($read)));
    }

    /** @return array<string, array{string, string, array<string, mixed>}> */
    public function pictures(): array
    {
        return [
            'users' => ['users', 'PERSONAL_PHOTO', ['NAME' => 'Ann']],
            'groups' => ['groups', 'IMAGE', ['NAME' => 'Sales', 'OWNER_ID' => '1']],
            'chats' => ['chats', 'avatar', ['type' => 'chat', 'users' => ['1']]],
        ];
    }

    /** @dataProvider pictures */
    public function testAPictureThatStaysIsNotCopiedAgain(string $stream, string $field, array $fields): void
    {
        $pictures = [$this->file('a.png'), $this->file('b.png')];
        $ids = [];
        foreach ($pictures as $at => $picture) {
            $mail = $stream === 'users' ? ['EMAIL' => "$at@example.org"] : [];
            $ids[] = $this->made($stream, [$field => $picture] + $fields + $mail, "source:x:$at");
        }
        self::assertSame($pictures, array_column($this->records($stream)->read($ids), $field));
        $before = World::$tables['blobs'];
        $this->records($stream)->update($ids[0], [$field => $pictures[0]]);
        self::assertSame($before, World::$tables['blobs']);
        $this->records($stream)->update($ids[0], [$field => $pictures[1]]);
        self::assertSame($pictures[1], $this->now($stream, $ids[0])[$field]);
        $this->records($stream)->update($ids[0], [$field => null]);
        self::assertNull($this->now($stream, $ids[0])[$field]);
    }

    public function testAFileOfADealThatStaysIsNotCopiedAgain(): void
    {
        $field = ['ENTITY_ID' => 'CRM_DEAL', 'FIELD_NAME' => 'UF_DOC', 'USER_TYPE_ID' => 'file', 'MULTIPLE' => 'Y'];
        World::put('fields', $field);
        [$one, $two] = [$this->file('a.txt'), $this->file('b.txt')];
        $deals = (new KernelBox())->records('crm_deals');
        $id = $deals->create('a', ['title' => 'x', 'UF_DOC' => [$one]]);
        $before = count(World::$tables['blobs']);
        $deals->update($id, ['UF_DOC' => [$two, $one]]);
        self::assertSame([$two, $one], $deals->read([$id])[$id]['UF_DOC']);
        self::assertCount($before + 1, World::$tables['blobs']);
    }
}
