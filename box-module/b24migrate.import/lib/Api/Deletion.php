<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{ItemFault, Stream};
use B24migrate\Import\Port\{Box, Entry, Records};

defined('B_PROLOG_INCLUDED') || exit;

/** `import.<entity>.delete`: takes imports back, but for what people have changed or others depend on. */
final class Deletion
{
    private readonly Records $records;

    /** @var array<string, Entry> by key, of those that a rehearsal imagines to be taken back */
    private array $gone = [];

    private function __construct(private readonly Box $box, private readonly Stream $stream, private readonly bool $dry)
    {
        $this->records = $box->records($stream->name);
    }

    public static function answer(Box $box, Stream $stream, Arguments $body): array
    {
        $keys = $body->texts('keys');
        $deletion = new self($box, $stream, $body->flag('dry_run'));
        return ['items' => array_map($deletion->answerKey(...), $keys)];
    }

    private function answerKey(string $key): array
    {
        try {
            $work = fn () => $this->deleteKey($key);
            [$status, $reason] = $this->dry ? $work() : $this->box->guard()->withLock($this->stream->lock($key), $work);
        } catch (\Throwable $refusal) {
            [$status, $reason] = ['kept', 'the box did not delete it: ' . ItemFault::of($refusal)->getMessage()];
        }
        return ['key' => $key, 'status' => $status, 'reason' => $reason];
    }

    /** @return array{string, ?string} status and reason */
    private function deleteKey(string $key): array
    {
        $entry = isset($this->gone[$key]) ? null : $this->box->map()->entries([$key])[$key] ?? null;
        if ($entry === null || $entry->stream !== $this->stream->name) {
            return ['absent', null];
        }
        if ($entry->id === null) {
            return ['kept', 'an attempt to import it has died, and may have left something: send it again first'];
        }
        $now = $this->records->read([$entry->id])[$entry->id] ?? null;
        // a record that was only linked is not the import's to remove
        $mine = $now !== null && !$entry->linked;
        $reason = $mine ? $this->reasonToKeep($entry, $now) : null;
        if ($reason !== null) {
            return ['kept', $reason];
        }
        $this->delete($entry, $mine);
        return [$now === null ? 'absent' : 'deleted', null];
    }

    private function reasonToKeep(Entry $entry, array $now): ?string
    {
        if ($entry->fingerprint === '') {
            return 'nobody can tell whether it was changed after its import: send it again first';
        }
        if (Writer::fingerprint($now, $this->records) !== $entry->fingerprint) {
            return 'changed after its import';
        }
        $deleted = array_filter($this->gone, static fn ($one) => !$one->linked);
        $ids = array_map(static fn ($one) => (string)$one->id, array_values($deleted));
        $needed = $this->records->reasonToKeep((string)$entry->id, $ids);
        if ($needed !== null) {
            // the contract's word: who takes everything back looks for it, and comes again when the others are gone
            return str_contains($needed, 'depend') ? $needed : "others depend on it: $needed";
        }
        $keys = array_column($this->box->map()->entriesOf($this->stream->name, (string)$entry->id), 'key');
        return array_diff($keys, [$entry->key, ...array_map('strval', array_keys($this->gone))]) === []
            ? null
            : 'another key stands for it too';
    }

    private function delete(Entry $entry, bool $withRecord): void
    {
        if ($this->dry) {
            $this->gone[$entry->key] = $entry;
            return;
        }
        $work = function () use ($entry, $withRecord): void {
            if ($withRecord) {
                $this->records->delete((string)$entry->id);
            }
            $this->box->map()->drop($entry->key);
        };
        $this->records->isAtomic() ? $this->box->guard()->inTransaction($work) : $work();
    }
}
