<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Stream;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Port\Records;

/** Writes records and what they are known by, so that a call that dies anywhere can be repeated. */
final class Writing implements Hand
{
    /** @var array<string, Entry> entries whose records are to be read back, by key */
    private array $unsealed = [];

    public function __construct(private readonly Box $box, private readonly Sight $sight, private readonly string $run)
    {
    }

    public function alone(string $name, callable $work): mixed
    {
        return $this->box->guard()->alone($name, $work);
    }

    public function entries(array $keys): array
    {
        $entries = $this->box->map()->entries($keys);
        // a call that died before it had read its records back is made good by the one that repeats it
        $this->unsealed += array_filter($entries, static fn ($entry) => $entry->id !== null && $entry->print === '');
        return $entries;
    }

    public function left(Entry $intent, array $fields): ?string
    {
        return $this->box->records($intent->stream)->trace($intent->key, $fields);
    }

    public function abandon(Entry $intent, string $left): void
    {
        $this->box->records($intent->stream)->delete($left);
        $this->box->map()->drop($intent->key);
    }

    public function create(Stream $stream, string $key, string $digest, array $fields, ?string $left): string
    {
        $records = $this->box->records($stream->name);
        $entry = fn (?string $id) => new Entry($key, $stream->name, $id, $digest, run: $this->run);
        if (!$records->atomic()) {
            return $this->wrote($entry($this->createAfterIntent($records, $entry(null), $fields, $left)));
        }
        return $this->box->guard()->together(fn () => $this->wrote($entry($records->create($key, $fields))));
    }

    public function link(Stream $stream, string $key, string $digest, string $id, array $blanks): string
    {
        $entry = new Entry($key, $stream->name, $id, $digest, adopted: true, run: $this->run);
        return $this->set($entry, $blanks);
    }

    public function update(Entry $entry, string $digest, array $fields): string
    {
        $next = new Entry($entry->key, $entry->stream, $entry->id, $digest, $entry->adopted, '', $this->run);
        return $this->set($next, $fields);
    }

    public function shown(Entry $entry): ?string
    {
        return $entry->id;
    }

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
            $print = Fingerprint::of($now[$entry->id], $records);
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

    private function createAfterIntent(Records $records, Entry $intent, array $fields, ?string $left): string
    {
        $this->box->map()->put($intent);
        try {
            if ($left === null) {
                return $records->create($intent->key, $fields);
            }
            $records->update($left, $fields);
            return $left;
        } catch (ItemFault $fault) {
            $left === null ? $this->box->map()->drop($intent->key) : $this->abandon($intent, $left);
            throw $fault;
        }
    }

    private function set(Entry $entry, array $fields): string
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

    /** Two keys of one record: what the import changes under the other one is no change of people either. */
    private function unsealMakerOf(Entry $shared): void
    {
        [$map, $records, $id] = [$this->box->map(), $this->box->records($shared->stream), (string)$shared->id];
        $maker = $shared->adopted ? $map->makerOf($shared->stream, $id) : null;
        $now = $maker === null ? [] : $records->read([$id])[$id] ?? [];
        if ($maker !== null && $maker->print === Fingerprint::of($now, $records)) {
            $this->unsealed[$maker->key] = $maker->sealed('');
            $map->put($maker->sealed(''));
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
