<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, Json, Stream};
use B24migrate\Import\Port\{Box, Entry};

defined('B_PROLOG_INCLUDED') || exit;

/** `import.<entity>.list`: what was imported, as the box has it now. */
final class Listing
{
    /** So many are read at a time: letters are long, and a page of them may be more than the memory of a call. */
    private const SLICE = 100;

    public static function answer(Box $box, Stream $stream, Arguments $body): array
    {
        $keys = $body->raw('keys') === null ? null : $body->texts('keys', Arguments::MOST_KEYS);
        [$items, $cursor] = $keys === null
            ? self::page($box, $stream, $body)
            : [self::read($box, $stream, self::findKeys($box, $stream, $keys)), null];
        return ['items' => $items, 'cursor' => $cursor, 'count' => $box->map()->count($stream->name)];
    }

    /** @param list<Entry> $entries */
    private static function read(Box $box, Stream $stream, array $entries): array
    {
        $ids = array_map(static fn (Entry $entry) => (string)$entry->id, $entries);
        $now = $ids === [] ? [] : $box->records($stream->name)->read(array_values(array_unique($ids)));
        $items = [];
        foreach ($entries as $entry) {
            // the client must see that a user has deleted the record on the box
            if (isset($now[$entry->id])) {
                $items[] = ['key' => $entry->key, 'id' => $entry->id, 'digest' => $entry->digest]
                    + ['fields' => (object)$now[$entry->id]];
            }
        }
        return $items;
    }

    private static function findKeys(Box $box, Stream $stream, array $keys): array
    {
        $mine = static fn (Entry $entry) => $entry->stream === $stream->name && $entry->id !== null;
        $entries = array_values(array_filter($box->map()->entries(array_values(array_unique($keys))), $mine));
        usort($entries, static fn ($one, $other) => [(int)$one->id, $one->key] <=> [(int)$other->id, $other->key]);
        return $entries;
    }

    private static function page(Box $box, Stream $stream, Arguments $body): array
    {
        [$after, $limit] = [$body->word('after'), $body->whole('limit', Arguments::MOST_KEYS)];
        if ($after !== '' && preg_match('/^\d+\D./s', $after) !== 1) {
            throw CallFault::malformed('after must be empty or the cursor of a previous call');
        }
        if ($limit < 1 || $limit > Arguments::MOST_KEYS) {
            throw CallFault::malformed('limit must be between 1 and ' . Arguments::MOST_KEYS);
        }
        [$items, $cursor, $room] = [[], $after, $box->limits()['body_bytes']];
        do {
            [$entries, $cursor] = $box->map()->page($stream->name, $cursor, min(self::SLICE, $limit));
            $limit -= count($entries);
            $slice = self::read($box, $stream, $entries);
            array_push($items, ...$slice);
            $room -= strlen(Json::encode($slice));
        } while ($cursor !== null && $limit > 0 && $room > 0);
        return [$items, $cursor];
    }
}
