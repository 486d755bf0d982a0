<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\{Entry, Map};

defined('B_PROLOG_INCLUDED') || exit;

/** The map in the box's own database, on the connection of the records, so that one transaction holds both. */
final class KernelMap implements Map
{
    public function entries(array $keys): array
    {
        if ($keys === []) {
            return [];
        }
        $rows = MapTable::getList(['filter' => ['@KEY_HASH' => array_map(self::hash(...), $keys)]]);
        $entries = [];
        while ($row = $rows->fetch()) {
            $entries[$row['SOURCE_KEY']] = self::entry($row);
        }
        return $entries;
    }

    public function put(Entry $entry): void
    {
        $hash = self::hash($entry->key);
        $row = [
            'SOURCE_KEY' => $entry->key,
            'STREAM' => $entry->stream,
            'TARGET_ID' => (string)$entry->id,
            'TARGET_ORDER' => self::order($entry->id),
            'DIGEST' => $entry->digest,
            'ADOPTED' => $entry->linked,
            'FINGERPRINT' => $entry->fingerprint,
        ];
        $result = MapTable::getByPrimary($hash)->fetch()
            ? MapTable::update($hash, $row)
            : MapTable::add(['KEY_HASH' => $hash] + $row);
        if (!$result->isSuccess()) {
            throw new \RuntimeException(implode("\n", $result->getErrorMessages()));
        }
    }

    public function drop(string $key): void
    {
        MapTable::delete(self::hash($key));
    }

    public function page(string $stream, string $after, int $limit): array
    {
        // Several keys may stand for one record, so the cursor holds the id and the key.
        [$order, $hash] = explode('.', $after . '.');
        $rows = MapTable::getList([
            'filter' => ['=STREAM' => $stream, '!=TARGET_ID' => '', [
                'LOGIC' => 'OR',
                ['>TARGET_ORDER' => $order],
                ['=TARGET_ORDER' => $order, '>KEY_HASH' => $hash],
            ]],
            'order' => ['TARGET_ORDER' => 'ASC', 'KEY_HASH' => 'ASC'],
            'limit' => $limit + 1,
        ])->fetchAll();
        $page = array_slice($rows, 0, $limit);
        $last = end($page);
        $cursor = count($rows) > $limit && $last ? "{$last['TARGET_ORDER']}.{$last['KEY_HASH']}" : null;
        return [array_map(self::entry(...), $page), $cursor];
    }

    public function count(string $stream): int
    {
        return MapTable::getCount(['=STREAM' => $stream, '!=TARGET_ID' => '']);
    }

    public function entriesOf(string $stream, string $id): array
    {
        $same = ['=STREAM' => $stream, '=TARGET_ORDER' => self::order($id)];
        return array_map(self::entry(...), MapTable::getList(['filter' => $same])->fetchAll());
    }

    private static function hash(string $key): string
    {
        return hash('sha256', $key);
    }

    private static function order(?string $id): string
    {
        return $id === null ? '' : str_pad($id, 20, '0', STR_PAD_LEFT);
    }

    private static function entry(array $row): Entry
    {
        return new Entry(
            $row['SOURCE_KEY'],
            $row['STREAM'],
            (string)$row['TARGET_ID'] === '' ? null : (string)$row['TARGET_ID'],
            $row['DIGEST'],
            $row['ADOPTED'] === 'Y' || $row['ADOPTED'] === true,
            (string)$row['FINGERPRINT']
        );
    }
}
