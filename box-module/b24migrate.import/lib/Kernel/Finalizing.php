<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Port\{Box, Entry};
use Bitrix\Im\Model\MessageTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What silent records leave undone, once all of them are there: each gateway says in `settle` what. The place where
 * the next call goes on is the stream and the place in its map. Whether chats of tasks belong among the recent ones is
 * to be checked on a real box.
 */
final class Finalizing
{
    /** How many in a call: a chat costs several writes for each of its people, a task next to nothing. */
    private const STRETCHES = [
        'chats' => 10, 'task_comments' => 10, 'groups' => 20, 'feed_posts' => 50, 'tasks' => 100,
    ];

    public function __construct(private readonly Box $box)
    {
    }

    public function stretch(string $after): array
    {
        $streams = array_keys(self::STRETCHES);
        Groups::checkNamesAgain();
        [$stream, $place] = explode('|', ($after === '' ? $streams[0] : $after) . '|');
        $at = array_search($stream, $streams, true);
        if ($at === false) {
            throw CallFault::malformed('after: is not a cursor of this method');
        }
        [$entries, $next] = $this->box->map()->page($stream, $place, self::STRETCHES[$stream]);
        $ids = array_map(static fn(Entry $entry): int => (int)$entry->id, $entries);
        $ids = $stream === 'task_comments' ? self::chatsOf($ids) : $ids;
        $settled = $ids === [] ? null : $this->box->records($stream === 'task_comments' ? 'chats' : $stream);
        array_map(static fn(int $id) => $settled->settle($id), $ids);
        $following = $streams[$at + 1] ?? null;
        return ['done' => count($ids), 'cursor' => $next === null ? $following : "$stream|$next"];
    }

    /** Comments are settled with the chats that they are messages of, where they are. */
    private static function chatsOf(array $comments): array
    {
        if ($comments === [] || !ChatComments::areUsed()) {
            return [];
        }
        $rows = MessageTable::getList(['select' => ['CHAT_ID'], 'filter' => ['@ID' => $comments]])->fetchAll();
        return array_values(array_unique(array_map('intval', array_column($rows, 'CHAT_ID'))));
    }
}
