<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\Json;

/** What a test may want to know about a client: whether messages come in order, whether digests are right. */
final class Watch
{
    public function __construct(private readonly Db $db)
    {
    }

    /** @return array{order_violations: int, digest_mismatches: int} */
    public function told(): array
    {
        return [
            'order_violations' => $this->count('order_violations'),
            'digest_mismatches' => $this->count('digest_mismatches'),
        ];
    }

    /**
     * @param list<array<string, mixed>> $items as they were sent
     * @param list<array<string, mixed>> $answers in the same order
     * @param array<string, bool> $known keys that stood for something before
     */
    public function saw(string $stream, array $items, array $answers, array $known): void
    {
        $this->db->inTransaction(function () use ($stream, $items, $answers, $known): void {
            $this->add('calls', 1);
            foreach ($items as $place => $item) {
                $this->add('digest_mismatches', self::digestIsWrong($item) ? 1 : 0);
                $answer = $answers[$place];
                $at = self::placeInChat($stream, $item);
                if ($at !== null && $answer['status'] === 'created') {
                    $this->created(...$at);
                } elseif ($at !== null && $answer['status'] === 'failed' && !isset($known[$item['key']])) {
                    $this->failed($at[0], $at[1], (bool)$answer['error']['retry']);
                }
            }
        });
    }

    /** Out of order is a message that a later one preceded; a repeated one, if a later call overtook it. */
    private function created(string $chat, int $number): void
    {
        $waited = $this->waited($chat, $number);
        if ($waited === null) {
            $this->arrived($chat, $number);
        } else {
            $this->add('order_violations', $waited['overtaken'] && $waited['retry'] ? 1 : 0);
            $this->db->run('DELETE FROM waiting WHERE chat = ? AND number = ?', $chat, $number);
        }
        $sql = 'UPDATE waiting SET overtaken = 1 WHERE chat = ? AND number < ? AND call < ?';
        $this->db->run($sql, $chat, $number, $this->count('calls'));
    }

    private function failed(string $chat, int $number, bool $retry): void
    {
        $waited = $this->waited($chat, $number);
        if ($waited === null) {
            $this->arrived($chat, $number);
        }
        $values = [$chat, $number, $this->count('calls'), $retry, $waited['overtaken'] ?? 0];
        $this->db->run('REPLACE INTO waiting VALUES (?, ?, ?, ?, ?)', ...$values);
    }

    private function arrived(string $chat, int $number): void
    {
        $highest = $this->db->value('SELECT number FROM highest WHERE chat = ?', $chat) ?? $number;
        $this->add('order_violations', $number < $highest ? 1 : 0);
        $this->db->run('REPLACE INTO highest VALUES (?, ?)', $chat, max($number, $highest));
    }

    /** @return ?array<string, int> */
    private function waited(string $chat, int $number): ?array
    {
        return $this->db->rows('SELECT * FROM waiting WHERE chat = ? AND number = ?', $chat, $number)[0] ?? null;
    }

    private function count(string $name): int
    {
        return $this->db->value('SELECT value FROM counter WHERE name = ?', $name) ?? 0;
    }

    private function add(string $name, int $more): void
    {
        if ($more > 0) {
            $sql = 'INSERT INTO counter VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value';
            $this->db->run($sql, $name, $more);
        }
    }

    /** @param array<string, mixed> $item */
    private static function digestIsWrong(array $item): bool
    {
        return is_string($item['digest'] ?? null) && Json::isObject($item['fields'] ?? null)
            && hash('sha256', Json::canonical($item['fields'])) !== $item['digest'];
    }

    /**
     * The chat on the target and the source's message id, which ends the key.
     *
     * @param array<string, mixed> $item
     * @return ?array{string, int}
     */
    private static function placeInChat(string $stream, array $item): ?array
    {
        $fields = (array)($item['fields'] ?? []);
        if ($stream !== 'chat_messages' || preg_match('/(?:^|:)(\d{1,18})$/D', $item['key'], $parts) !== 1) {
            return null;
        }
        return is_string($fields['chat_id'] ?? null) ? [$fields['chat_id'], (int)$parts[1]] : null;
    }
}
