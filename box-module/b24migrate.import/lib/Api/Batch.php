<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, Inspection, ItemFault, Json, Stream};
use B24migrate\Import\Port\{Box, Entry, Records};

defined('B_PROLOG_INCLUDED') || exit;

/** `import.<entity>.batch`: every item is judged completely before it is written. */
final class Batch
{
    private readonly Kinds $kinds;

    private readonly Records $records;

    private function __construct(
        Box $box,
        private readonly Stream $stream,
        private readonly CachedLookup $lookup,
        private readonly Writer $writer
    ) {
        $this->kinds = new Kinds($box->customFields());
        $this->records = $box->records($stream->name);
    }

    public static function answer(Box $box, Stream $stream, Arguments $body): array
    {
        $items = $body->objects('items');
        $rehearsed = $body->flag('dry_run');
        // which run it is matters to the client alone
        $body->word('run');
        $most = $box->limits()['items'];
        if (count($items) > $most) {
            throw CallFault::malformed("a call may carry at most $most items");
        }
        $keys = array_map(static fn ($item) => $item->text('key'), $items);
        $lookup = new CachedLookup($box);
        $writer = $rehearsed ? new DryRun($box, $lookup) : new Writer($box, $lookup);
        return ['items' => (new self($box, $stream, $lookup, $writer))->importAll($keys, $items)];
    }

    private function importAll(array $keys, array $items): array
    {
        $known = $this->writer->entries(array_values(array_unique($keys)));
        $answers = [];
        foreach ($items as $place => $item) {
            $key = $keys[$place];
            $answers[] = $this->importItem($key, $item, $known[$key] ?? null);
            unset($known[$key]);
        }
        try {
            $this->writer->storeFingerprints($this->stream);
        } catch (\Throwable) {
            // the items are in; when they are sent again their fingerprints are stored
        }
        return $answers;
    }

    private function importItem(string $key, Arguments $item, ?Entry $known): array
    {
        try {
            [$digest, $fields] = self::parse($item);
            if ($known !== null && $known->id !== null && $known->digest === $digest) {
                return $this->importRecord($key, $digest, $fields, $known);
            }
            return $this->writer->withLock($this->stream->lock($key), function () use ($key, $digest, $fields): array {
                return $this->importRecord($key, $digest, $fields, $this->writer->entries([$key])[$key] ?? null);
            });
        } catch (\Throwable $any) {
            $error = ItemFault::of($any)->body();
            return ['key' => $key, 'status' => 'failed', 'id' => null, 'ignored' => [], 'error' => $error];
        }
    }

    private function importRecord(string $key, string $digest, array $fields, ?Entry $entry): array
    {
        if ($entry !== null && $entry->stream !== $this->stream->name) {
            throw new ItemFault('VALIDATION', 'key', "$key stands for a record of $entry->stream");
        }
        // losses of a failed item must not be reported for the next one
        $this->records->leftOut();
        $kinds = $this->kinds->of($this->stream, $fields, $this->typeOf($fields, $entry));
        $known = array_intersect_key($fields, $kinds);
        $told = array_flip($this->stream->neverWritten);
        $kept = array_diff_key($known, $this->records->losses(), $told);
        if ($entry?->id === null) {
            // what an attempt that died has left is this item itself, and no other that stands in its way
            $left = $entry === null ? null : $this->records->findLeftover($key, $kept);
            $this->inspectNew($known, $kinds, $entry, $left);
            $intent = new Entry($key, $this->stream->name, null, $digest);
            [$status, $id] = ['created', $this->create($intent, $known, $kept, $left)];
        } elseif ($entry->digest === $digest) {
            [$status, $id] = ['unchanged', $this->writer->visibleId($entry)];
        } else {
            $own = $entry->linked ? array_flip($this->stream->keptWhenLinked) : [];
            $now = $this->lookup->read($entry->stream, $entry->id)
                ?? throw new ItemFault('VALIDATION', null, "somebody has deleted $entry->stream $entry->id on the box");
            $seen = new Inspection($this->lookup, $entry->id);
            $this->stream->inspect(array_diff_key($known, $own), $kinds, $seen, $now);
            $next = new Entry($key, $entry->stream, $entry->id, $digest, $entry->linked);
            [$status, $id] = ['updated', $this->writer->set($next, array_diff_key($kept, $own))];
        }
        $ignored = array_map('strval', [
            ...array_keys(array_diff_key($fields, $kept, $told)), ...$this->records->leftOut(),
        ]);
        $answer = ['key' => $key, 'status' => $status, 'id' => $id, 'ignored' => $ignored, 'error' => null];
        return $this->stream->hasOptions ? $answer + ['options' => (object)$this->optionsOf($id, $fields)] : $answer;
    }

    private function optionsOf(?string $id, array $fields): array
    {
        return $id === null ? [] : $this->records->options($id, $fields['options'] ?? []);
    }

    private function inspectNew(array $fields, array $kinds, ?Entry $intent, ?string $left): void
    {
        try {
            $this->stream->inspect($fields, $kinds, new Inspection($this->lookup, $left));
        } catch (ItemFault $fault) {
            // an item that fails leaves no trace, not even that of an earlier attempt
            if ($intent !== null && $left !== null) {
                $this->writer->abandon($intent, $left);
            }
            throw $fault;
        }
    }

    /** @param array<string, mixed> $kept what of it the box can keep */
    private function create(Entry $intent, array $known, array $kept, ?string $left): ?string
    {
        $look = $left === null ? $this->stream->linkedTo : null;
        $found = $look === null ? null : $look($known, $this->lookup, $intent->key);
        if ($found === null) {
            return $this->writer->create($intent, $kept, $left);
        }
        $filled = static fn (array $values) => array_filter($values, static fn ($value) => $value !== null);
        $blanks = array_diff_key($filled($kept), $filled($this->lookup->read($this->stream->name, $found) ?? []));
        $taken = array_intersect_key($filled($kept), array_flip($this->stream->takenWhenLinked));
        // a record that the box had takes over what it does not have yet
        $linked = new Entry($intent->key, $intent->stream, $found, $intent->digest, linked: true);
        return $this->writer->set($linked, $blanks + $taken);
    }

    private function typeOf(array $fields, ?Entry $entry): ?string
    {
        $name = $this->stream->typedBy;
        if ($name === null) {
            return null;
        }
        $known = array_key_exists($name, $fields) || $entry?->id === null
            ? $fields
            : $this->lookup->read($entry->stream, $entry->id);
        return is_string($known[$name] ?? null) ? $known[$name] : null;
    }

    /** @return array{string, array<string, mixed>} digest and fields */
    private static function parse(Arguments $item): array
    {
        $digest = $item->raw('digest');
        if (!is_string($digest) || preg_match('/^[0-9a-f]{64}$/D', $digest) !== 1) {
            throw new ItemFault('VALIDATION', 'digest', 'digest: must be 64 lower-case hex digits');
        }
        $fields = $item->raw('fields');
        if (!Json::isObject($fields)) {
            throw new ItemFault('VALIDATION', 'fields', 'fields: must be an object');
        }
        return [$digest, (array)$fields];
    }
}
