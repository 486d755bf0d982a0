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
    /** Then nothing more is made: to compare and to delete takes as long again, and a client waits for a minute. */
    private const SECONDS = 25.0;
    private const LONGEST = 120;
    /** Sentences without values: one that was accepted need not be accepted again after the next self-test. */
    private const REASONS = [
        'lost' => 'In the self-test this box kept nothing of the value.',
        'approximated' => 'In the self-test this box kept a different value.',
        'refused' => 'In the self-test this box refused the record.',
    ];

    /** @var array<string, string> what was made, by sample */
    private array $ids = [];

    /** @var list<array{name: string, ok: bool, detail: string}> */
    private array $checks = [];

    /** @var array<string, array<string, string>> rules of `import.fidelity`, each once */
    private array $findings = [];

    /** @param callable(): float $clock in seconds */
    public function __construct(private readonly Box $box, private readonly array $entities, private $clock = null)
    {
        $this->clock ??= static fn () => hrtime(true) / 1e9;
    }

    public function answer(): array
    {
        try {
            return $this->box->guard()->withLock('selftest', $this->run(...));
        } catch (ItemFault $fault) {
            throw $fault->fault === 'LOCKED'
                ? new CallFault('QUERY_LIMIT_EXCEEDED', 503, 'Another self-test runs on this box right now.')
                : $fault;
        }
    }

    /** Before the module goes: @return list<string> what of a self-test that died is still there, and why */
    public function cleanUp(): array
    {
        if ($this->entries() === []) {
            return [];
        }
        $this->box->quiet();
        return $this->box->guard()->withLock('selftest', $this->deleteAll(...));
    }

    private function run(): array
    {
        $end = ($this->clock)() + self::SECONDS;
        // PHP may allow a call less, and would end it in the middle
        function_exists('set_time_limit') && set_time_limit(self::LONGEST);
        // what a self-test that died has left
        $this->deleteAll();
        $started = $this->box->listen();
        foreach (Samples::names($this->entities, $this->box->streams()) as $name) {
            ($this->clock)() < $end ? $this->create($name) : $this->skip($name);
        }
        array_map($this->compare(...), array_keys($this->ids));
        $this->checkSilence($started);
        $this->box->keepFindings(array_values($this->findings));
        $left = $this->deleteAll();
        $this->check('cleanup', !$left, implode('; ', $left) ?: 'nothing is left', $left ? '' : 'clean');
        $versions = $this->box->versions();
        $spelled = array_map(static fn ($module, $version) => "$module $version", array_keys($versions), $versions);
        $this->check('versions', true, implode(', ', $spelled));
        return ['checks' => $this->checks];
    }

    private function create(string $name): void
    {
        [$fields, $missing] = $this->sample($name);
        try {
            $this->ids[$name] = $this->send($name, $fields);
        } catch (\Throwable $fault) {
            $no = ItemFault::of($fault)->getMessage() . ($missing ? ' (it needs ' . implode(', ', $missing) . ')' : '');
            $this->check($name, false, "the box does not take it: $no", 'refused');
            // one that lacks what another sample should have been says nothing about the box
            $missing === [] && $this->find(Samples::streamOf($name), '', 'approximated', self::REASONS['refused']);
        }
    }

    /** By the methods that import everything else. */
    private function send(string $name, array $fields): string
    {
        $key = ['key' => self::KEY . $name];
        $stream = Catalog::stream(Samples::streamOf($name));
        if ($stream === null) {
            return (string)Uploads::answer($this->box, self::arguments($key + ['offset' => 0] + $fields))['id'];
        }
        $item = $key + ['digest' => hash('sha256', Json::canonical($fields)), 'fields' => $fields];
        $answer = Batch::answer($this->box, $stream, self::arguments(['items' => [$item]]))['items'][0];
        $error = $answer['error'];
        return $answer['id'] ?? throw new ItemFault($error['code'], null, "{$error['code']}: {$error['message']}");
    }

    /** What was found out about it earlier still holds. */
    private function skip(string $name): void
    {
        $this->check($name, false, 'not tried: the box is too slow for the whole self-test', 'skipped');
        foreach ($this->box->findings() as $rule) {
            $rule['stream'] === Samples::streamOf($name) && $this->find(...array_values($rule));
        }
    }

    private function compare(string $name): void
    {
        $stream = Samples::streamOf($name);
        try {
            $records = $this->box->records($stream);
            $there = $records->read([$this->ids[$name]])[$this->ids[$name]] ?? [];
            $sent = array_diff_key($this->expected($name), $records->losses());
        } catch (\Throwable $fault) {
            $this->check($name, false, 'the box does not read it: ' . ItemFault::of($fault)->getMessage(), 'unread');
            return;
        }
        $differs = false;
        foreach ($sent as $field => $value) {
            $now = $there[$field] ?? null;
            [$a, $b] = [self::spelled($value), self::spelled($now)];
            if ($a === $b) {
                continue;
            }
            $differs = true;
            $this->check("$name.$field", false, "sent $a, the box has $b", 'differs', ['sent' => $a, 'kept' => $b]);
            $keeping = in_array($now, [null, '', []], true) ? 'lost' : 'approximated';
            $stream === self::FILES || $this->find($stream, $field, $keeping, self::REASONS[$keeping]);
        }
        $differs || $this->check($name, true, 'kept as it was sent: ' . implode(', ', array_keys($sent)), 'kept');
    }

    private function checkSilence(\Closure $started): void
    {
        $made = [];
        foreach ($this->ids as $name => $id) {
            $made[Samples::streamOf($name)][] = $id;
        }
        try {
            foreach ($started($made) as $kind => $names) {
                $this->check($kind, !$names, implode('; ', $names) ?: 'none was started', $names ? '' : 'silent');
            }
        } catch (\Throwable $fault) {
            // what was made has to go all the same
            $this->check('silence', false, 'the box does not tell: ' . ItemFault::of($fault)->getMessage(), 'untold');
        }
    }

    /** What a record is to be like: of one that the box had, only what it takes over. */
    private function expected(string $name): array
    {
        [$fields] = $this->sample($name);
        if (Samples::streamOf($name) === self::FILES) {
            return array_intersect_key($fields, ['name' => 1, 'size' => 1]);
        }
        $taken = array_flip(Catalog::stream(Samples::streamOf($name))->takenWhenLinked);
        return $this->entries()[$name]->linked ? array_intersect_key($fields, $taken) : $fields;
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
    private function deleteAll(): array
    {
        $entries = $this->entries();
        $this->ids = array_filter(array_map(static fn (Entry $entry) => $entry->id, $entries));
        $left = [];
        $this->box->uploads()->discard(self::KEY . self::FILES);
        foreach (array_reverse(array_intersect(Samples::names(), array_keys($entries))) as $name) {
            try {
                $this->delete($name, $entries[$name]);
            } catch (\Throwable $fault) {
                $left[] = "$name: " . ItemFault::of($fault)->getMessage();
            }
        }
        $this->ids = [];
        return $left;
    }

    /** @return array<string, Entry> by sample */
    private function entries(): array
    {
        $entries = $this->box->map()->entries(substr_replace(Samples::names(), self::KEY, 0, 0));
        return array_combine(str_replace(self::KEY, '', array_keys($entries)), $entries);
    }

    private function delete(string $name, Entry $entry): void
    {
        $records = $this->box->records($entry->stream);
        $work = function () use ($records, $name, $entry): void {
            $id = $entry->id ?? $records->findLeftover($entry->key, $this->sample($name)[0]);
            $id === null || $entry->linked || !$records->has($id) || $records->delete($id);
            $this->box->map()->drop($entry->key);
        };
        $records->isAtomic() ? $this->box->guard()->inTransaction($work) : $work();
    }

    private function check(string $name, bool $ok, string $detail, string $key = '', array $values = []): void
    {
        $message = ['key' => $key, 'values' => $values ?: ['what' => explode(': ', $detail, 2)[1] ?? '']];
        $this->checks[] = ['name' => $name, 'ok' => $ok, 'detail' => $detail] + ($key === '' ? [] : $message);
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
