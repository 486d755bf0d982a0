<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Port\{Box, Entry};
use Bitrix\Im\Model\MessageTable;
use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What silent messages leave undone in their chats. Groups need nothing: whoever writes into one puts its dates back.
 * The place where the next call goes on is the stream and the place in its map. Whether chats of tasks belong among the
 * recent ones is to be checked on a real box.
 */
final class Finalizing
{
    /** Each chat costs several writes for each of its people. */
    private const STRETCH = 10;
    private const STREAMS = ['chats', 'task_comments'];

    public function __construct(private readonly Box $box)
    {
    }

    public function stretch(string $after): array
    {
        if (!Loader::includeModule('im')) {
            return ['done' => 0, 'cursor' => null];
        }
        [$stream, $place] = explode('|', ($after === '' ? self::STREAMS[0] : $after) . '|');
        $at = array_search($stream, self::STREAMS, true);
        if ($at === false) {
            throw CallFault::malformed('after: is not a cursor of this method');
        }
        [$entries, $next] = $this->box->map()->page($stream, $place, self::STRETCH);
        $chats = $this->chats($stream, $entries);
        array_map((new Chats($this->box, 'chats'))->settle(...), $chats);
        $following = self::STREAMS[$at + 1] ?? null;
        return ['done' => count($chats), 'cursor' => $next === null ? $following : "$stream|$next"];
    }

    private function chats(string $stream, array $entries): array
    {
        $ids = array_map(static fn(Entry $entry): int => (int)$entry->id, $entries);
        if ($stream === 'chats') {
            return $ids;
        }
        if ($ids === [] || !ChatComments::areUsed()) {
            return [];
        }
        $rows = MessageTable::getList(['select' => ['CHAT_ID'], 'filter' => ['@ID' => $ids]])->fetchAll();
        return array_values(array_unique(array_map('intval', array_column($rows, 'CHAT_ID'))));
    }
}
