<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, Catalog, ItemFault, Json};
use B24migrate\Import\Port\{Box, Entry};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * `import.selftest`: makes a small world of its own by what imports everything else, reads all of it back, compares it
 * field by field, and takes it away. Only a real box can say whether its kernel does what we think it does; what it
 * says is kept, and `import.fidelity` tells it before a run begins.
 */
final class Selftest
{
    private const KEY = 'b24migrate:selftest:';
    private const FILES = 'files';
    private const EMPTY = [null, '', []];
    /** Sentences without values: whoever accepted one need not be asked again after the next self-test. */
    private const REASONS = [
        'lost' => 'In its self-test this box kept nothing of what was sent.',
        'approximated' => 'In its self-test this box kept something else than what was sent.',
        'refused' => 'In its self-test this box refused such a record.',
    ];

    /** @var array<string, string> what was made, by sample */
    private array $ids = [];

    /** @var list<array{name: string, ok: bool, detail: string}> */
    private array $checks = [];

    /** @var array<string, array<string, string>> rules of `import.fidelity`, each once */
    private array $findings = [];

    public function __construct(private readonly Box $box, private readonly array $entities)
    {
    }

    public function answer(): array
    {
        try {
            return $this->box->guard()->alone('selftest', $this->tried(...));
        } catch (ItemFault $fault) {
            throw $fault->fault === 'LOCKED'
                ? new CallFault('QUERY_LIMIT_EXCEEDED', 503, 'Another self-test runs on this box right now.')
                : $fault;
        }
    }

    private function tried(): array
    {
        // what a self-test that died has left
        $this->takeAway();
        $started = $this->box->listen();
        array_map($this->make(...), Samples::names($this->entities));
        array_map($this->compare(...), array_keys($this->ids));
        $this->hear($started);
        $this->box->keepFindings(array_values($this->findings));
        $left = $this->takeAway();
        $this->check('cleanup', $left === [], $left === [] ? 'nothing is left' : implode('; ', $left));
        $versions = $this->box->versions();
        $spelled = array_map(static fn ($module, $version) => "$module $version", array_keys($versions), $versions);
        $this->check('versions', true, implode(', ', $spelled));
        return ['checks' => $this->checks];
    }

    private function make(string $name): void
    {
        $stream = Samples::streamOf($name);
        [$fields, $missing] = $this->sample($name);
        try {
            if ($stream === self::FILES) {
                $body = ['key' => self::KEY . $name, 'offset' => 0] + $fields;
                $this->ids[$name] = (string)Uploads::answer($this->box, self::arguments($body))['id'];
                return;
            }
            $item = ['key' => self::KEY . $name, 'digest' => hash('sha256', Json::canonical($fields))];
            $body = ['items' => [$item + ['fields' => $fields]]];
            $outcome = Batch::answer($this->box, Catalog::stream($stream), self::arguments($body))['items'][0];
            $error = $outcome['error'] === null ? '' : "{$outcome['error']['code']}: {$outcome['error']['message']}";
        } catch (\Throwable $fault) {
            $error = ItemFault::of($fault)->getMessage();
        }
        if ($error === '') {
            $this->ids[$name] = $outcome['id'];
            return;
        }
        $because = $missing === [] ? '' : ' (it needs ' . implode(', ', $missing) . ')';
        $this->check($name, false, "the box does not take it: $error$because");
        // whoever lacks what another sample should have been says nothing about the box
        $missing === [] && $this->find($stream, '', 'approximated', self::REASONS['refused']);
    }

    private function compare(string $name): void
    {
        $stream = Samples::streamOf($name);
        try {
            $records = $this->box->records($stream);
            $there = $records->read([$this->ids[$name]])[$this->ids[$name]] ?? [];
            $sent = array_diff_key($this->expected($name), $records->losses());
        } catch (\Throwable $fault) {
            $this->check($name, false, 'the box does not read it: ' . ItemFault::of($fault)->getMessage());
            return;
        }
        $differs = false;
        foreach ($sent as $field => $value) {
            $now = $there[$field] ?? null;
            if (self::spelled($value) === self::spelled($now)) {
                continue;
            }
            $differs = true;
            $detail = 'sent ' . self::spelled($value) . ', the box has ' . self::spelled($now);
            $this->check("$name.$field", false, $detail);
            $keeping = in_array($now, self::EMPTY, true) ? 'lost' : 'approximated';
            $stream === self::FILES || $this->find($stream, $field, $keeping, self::REASONS[$keeping]);
        }
        $differs || $this->check($name, true, 'kept as it was sent: ' . implode(', ', array_keys($sent)));
    }

    private function hear(\Closure $started): void
    {
        try {
            foreach ($started($this->made()) as $kind => $heard) {
                $this->check($kind, $heard === [], $heard === [] ? 'none was started' : implode('; ', $heard));
            }
        } catch (\Throwable $fault) {
            // what was made has to go all the same
            $this->check('silence', false, 'the box does not tell: ' . ItemFault::of($fault)->getMessage());
        }
    }

    /** What a record is to be like: of one that the box had, only what it takes over. */
    private function expected(string $name): array
    {
        [$fields] = $this->sample($name);
        if (Samples::streamOf($name) === self::FILES) {
            return array_intersect_key($fields, ['name' => 1, 'size' => 1]);
        }
        $entry = $this->box->map()->entries([self::KEY . $name])[self::KEY . $name] ?? null;
        $taken = array_flip(Catalog::stream(Samples::streamOf($name))->takenWhenLinked);
        return $entry?->adopted ? array_intersect_key($fields, $taken) : $fields;
    }

    /** @return array{array<string, mixed>, list<string>} fields, and the samples that they lack */
    private function sample(string $name): array
    {
        return Samples::of($name, $this->ids + ['root' => $this->box->rootDepartment()]);
    }

    /**
     * By what the map says, so that it also finds what a self-test that died has left. Nobody else works with these
     * records, hence it does not ask whether somebody has changed them.
     *
     * @return list<string> what is still there, and why
     */
    private function takeAway(): array
    {
        $names = Samples::names();
        $entries = $this->box->map()->entries(array_map(static fn ($name) => self::KEY . $name, $names));
        $this->ids = [];
        foreach ($names as $name) {
            isset($entries[self::KEY . $name]->id) && $this->ids[$name] = $entries[self::KEY . $name]->id;
        }
        $left = [];
        foreach (array_reverse($names) as $name) {
            try {
                Samples::streamOf($name) === self::FILES && $this->box->shelf()->discard(self::KEY . $name);
                isset($entries[self::KEY . $name]) && $this->takeOne($name, $entries[self::KEY . $name]);
            } catch (\Throwable $fault) {
                $left[] = "$name: " . ItemFault::of($fault)->getMessage();
            }
        }
        $this->ids = [];
        return $left;
    }

    private function takeOne(string $name, Entry $entry): void
    {
        $records = $this->box->records($entry->stream);
        $work = function () use ($records, $name, $entry): void {
            $id = $entry->id ?? $records->trace($entry->key, $this->sample($name)[0]);
            $id === null || $entry->adopted || !$records->has($id) || $records->delete($id);
            $this->box->map()->drop($entry->key);
        };
        $records->atomic() ? $this->box->guard()->together($work) : $work();
    }

    /** @return array<string, list<string>> ids by stream */
    private function made(): array
    {
        $made = [];
        foreach ($this->ids as $name => $id) {
            $made[Samples::streamOf($name)][] = $id;
        }
        return $made;
    }

    private function check(string $name, bool $ok, string $detail): void
    {
        $this->checks[] = ['name' => $name, 'ok' => $ok, 'detail' => $detail];
    }

    private function find(string $stream, string $field, string $keeping, string $reason): void
    {
        $rule = ['stream' => $stream, 'field' => $field, 'keeping' => $keeping, 'reason' => $reason];
        $this->findings["$stream.$field"] ??= $rule;
    }

    /** Lists of ids have no order of their own. */
    private static function spelled(mixed $value): string
    {
        if (is_array($value) && array_is_list($value) && array_filter($value, is_scalar(...)) === $value) {
            sort($value);
        }
        return Json::canonical($value);
    }

    private static function arguments(array $body): Arguments
    {
        return Arguments::ofBody(Json::encode($body));
    }
}
