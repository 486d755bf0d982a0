<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{ItemFault, Json, Stream};
use B24migrate\Import\Port\{Box, Entry, Records};

defined('B_PROLOG_INCLUDED') || exit;

/** Writes records and what they are known by, so that a call that dies anywhere can be repeated. */
class Writer
{
    /** @var array<string, Entry> entries whose records are to be read back, by key */
    private array $withoutFingerprint = [];

    public function __construct(protected readonly Box $box, protected readonly CachedLookup $lookup)
    {
    }

    /**
     * Tells whether a record still looks as it did after its import: by all that the box says about it, but for what
     * it changes by itself and for what is empty. A custom field that somebody adds later is empty everywhere.
     */
    public static function fingerprint(array $fields, Records $records): string
    {
        $steady = array_diff_key($fields, array_flip($records->volatileFields()));
        $filled = array_filter($steady, static fn ($value) => !in_array($value, [null, '', []], true));
        return hash('sha256', Json::canonical($filled));
    }

    /** Runs the work while no other call imports the same. */
    public function withLock(string $name, callable $work): mixed
    {
        return $this->box->guard()->withLock($name, $work);
    }

    /** @return array<string, Entry> those of these keys that are known */
    public function entries(array $keys): array
    {
        $entries = $this->box->map()->entries($keys);
        // a call that died before it had read its records back is made good by the one that repeats it
        $open = static fn ($entry) => $entry->id !== null && $entry->fingerprint === '';
        $this->withoutFingerprint += array_filter($entries, $open);
        return $entries;
    }

    /** Takes away what an attempt that died has made, and its intent. */
    public function abandon(Entry $intent, string $left): void
    {
        $this->box->records($intent->stream)->delete($left);
        $this->box->map()->drop($intent->key);
    }

    /**
     * @param ?string $left what an attempt that died has made: it is completed
     * @return ?string the id, null where it is only imagined
     */
    public function create(Entry $intent, array $fields, ?string $left): ?string
    {
        $records = $this->box->records($intent->stream);
        $create = fn () => $this->saveEntry($intent->withId($records->create($intent->key, $fields)));
        if ($records->isAtomic()) {
            return $this->box->guard()->inTransaction($create);
        }
        $this->box->map()->put($intent);
        try {
            if ($left === null) {
                return $create();
            }
            $records->update($left, $fields);
            return $this->saveEntry($intent->withId($left));
        } catch (ItemFault $fault) {
            $left === null ? $this->box->map()->drop($intent->key) : $this->abandon($intent, $left);
            throw $fault;
        }
    }

    /** A record that is there gets these fields, and the key stands for it. */
    public function set(Entry $entry, array $fields): ?string
    {
        $records = $this->box->records($entry->stream);
        $work = function () use ($records, $entry, $fields): string {
            if ($fields !== []) {
                $this->resetOtherFingerprint($entry);
                $records->update((string)$entry->id, $fields);
            }
            return $this->saveEntry($entry);
        };
        return $records->isAtomic() ? $this->box->guard()->inTransaction($work) : $work();
    }

    /** The id of a known key as it is answered: null where the record is only imagined. */
    public function visibleId(Entry $entry): ?string
    {
        return $entry->id;
    }

    /** Notes fingerprints of the written records, to detect later changes by users. */
    public function storeFingerprints(Stream $stream): void
    {
        $mine = static fn ($entry) => $entry->stream === $stream->name && !$entry->linked;
        $open = array_filter($this->withoutFingerprint, $mine);
        $this->withoutFingerprint = [];
        if ($open === []) {
            return;
        }
        $records = $this->box->records($stream->name);
        $now = $records->read(array_values(array_map(static fn ($entry) => (string)$entry->id, $open)));
        foreach (array_filter($open, static fn ($entry) => isset($now[$entry->id])) as $entry) {
            $fingerprint = self::fingerprint($now[$entry->id], $records);
            $this->withLock($stream->lock($entry->key), fn () => $this->storeFingerprint($entry, $fingerprint));
        }
    }

    private function storeFingerprint(Entry $entry, string $fingerprint): void
    {
        $still = $this->box->map()->entries([$entry->key])[$entry->key] ?? null;
        // another call may have been quicker with a later version, or has taken it back
        $same = $still !== null && $still->digest === $entry->digest && $still->id === $entry->id;
        if ($same && $still->fingerprint === '') {
            $this->box->map()->put($still->withFingerprint($fingerprint));
        }
    }

    /** Two keys of one record: what the import changes under the other one is no change of people either. */
    private function resetOtherFingerprint(Entry $shared): void
    {
        [$map, $records, $id] = [$this->box->map(), $this->box->records($shared->stream), (string)$shared->id];
        foreach ($shared->linked ? $map->entriesOf($shared->stream, $id) : [] as $one) {
            if (!$one->linked && $one->fingerprint === self::fingerprint($records->read([$id])[$id] ?? [], $records)) {
                $this->withoutFingerprint[$one->key] = $one->withFingerprint('');
                $map->put($one->withFingerprint(''));
            }
        }
    }

    private function saveEntry(Entry $entry): string
    {
        $this->box->map()->put($entry);
        $this->lookup->forget($entry->stream);
        $this->withoutFingerprint[$entry->key] = $entry;
        return (string)$entry->id;
    }
}
