<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{ItemFault, Json, Stream};
use B24migrate\Import\Port\{Box, Entry, Records};

defined('B_PROLOG_INCLUDED') || exit;

/** Writes records and what they are known by, so that a call that dies anywhere can be repeated. */
class Writing
{
    /** @var array<string, Entry> entries whose records are to be read back, by key */
    private array $unsealed = [];

    public function __construct(protected readonly Box $box, protected readonly Sight $sight)
    {
    }

    /**
     * Tells whether a record still looks as it did after its import: by all that the box says about it, but for what
     * it changes by itself and for what is empty. A custom field that somebody adds later is empty everywhere.
     */
    public static function fingerprint(array $fields, Records $records): string
    {
        $steady = array_diff_key($fields, array_flip($records->restless()));
        $filled = array_filter($steady, static fn ($value) => !in_array($value, [null, '', []], true));
        return hash('sha256', Json::canonical($filled));
    }

    /** Runs the work while nobody else imports the same. */
    public function alone(string $name, callable $work): mixed
    {
        return $this->box->guard()->alone($name, $work);
    }

    /** @return array<string, Entry> those of these keys that are known */
    public function entries(array $keys): array
    {
        $entries = $this->box->map()->entries($keys);
        // a call that died before it had read its records back is made good by the one that repeats it
        $this->unsealed += array_filter($entries, static fn ($entry) => $entry->id !== null && $entry->print === '');
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
        $create = fn () => $this->wrote($intent->standingFor($records->create($intent->key, $fields)));
        if ($records->atomic()) {
            return $this->box->guard()->together($create);
        }
        $this->box->map()->put($intent);
        try {
            if ($left === null) {
                return $create();
            }
            $records->update($left, $fields);
            return $this->wrote($intent->standingFor($left));
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
                $this->unsealMakerOf($entry);
                $records->update((string)$entry->id, $fields);
            }
            return $this->wrote($entry);
        };
        return $records->atomic() ? $this->box->guard()->together($work) : $work();
    }

    /** The id of a known key as it is answered: null where the record is only imagined. */
    public function shown(Entry $entry): ?string
    {
        return $entry->id;
    }

    /** Notes what the written records look like now, to tell later whether somebody has changed them since. */
    public function seal(Stream $stream): void
    {
        $mine = static fn ($entry) => $entry->stream === $stream->name && !$entry->adopted;
        $open = array_filter($this->unsealed, $mine);
        $this->unsealed = [];
        if ($open === []) {
            return;
        }
        $records = $this->box->records($stream->name);
        $now = $records->read(array_values(array_map(static fn ($entry) => (string)$entry->id, $open)));
        foreach (array_filter($open, static fn ($entry) => isset($now[$entry->id])) as $entry) {
            $print = self::fingerprint($now[$entry->id], $records);
            $this->alone($stream->lock($entry->key), fn () => $this->sealOne($entry, $print));
        }
    }

    private function sealOne(Entry $entry, string $print): void
    {
        $still = $this->box->map()->entries([$entry->key])[$entry->key] ?? null;
        // another call may have been quicker with a later version, or has taken it back
        if ($still !== null && $still->print === '' && $still->digest === $entry->digest && $still->id === $entry->id) {
            $this->box->map()->put($still->sealed($print));
        }
    }

    /** Two keys of one record: what the import changes under the other one is no change of people either. */
    private function unsealMakerOf(Entry $shared): void
    {
        [$map, $records, $id] = [$this->box->map(), $this->box->records($shared->stream), (string)$shared->id];
        foreach ($shared->adopted ? $map->standingFor($shared->stream, $id) : [] as $one) {
            if (!$one->adopted && $one->print === self::fingerprint($records->read([$id])[$id] ?? [], $records)) {
                $this->unsealed[$one->key] = $one->sealed('');
                $map->put($one->sealed(''));
            }
        }
    }

    private function wrote(Entry $entry): string
    {
        $this->box->map()->put($entry);
        $this->sight->wrote($entry->stream);
        $this->unsealed[$entry->key] = $entry;
        return (string)$entry->id;
    }
}
