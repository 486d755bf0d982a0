<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{Catalog, ItemFault, Json};
use B24migrate\Import\Port\Box;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * `import.selftest`: makes one of each kind with an old date and an author of its own, reads it back, takes all of them
 * back, and reports. Only a real box can say whether its kernel does what we think it does.
 */
final class Selftest
{
    private const KEY = 'b24migrate:selftest:';

    /** @var array<string, string> what was made, by stream */
    private array $ids = [];

    public function __construct(private readonly Box $box, private readonly array $entities)
    {
    }

    public function answer(): array
    {
        $reports = [];
        foreach (array_keys(Catalog::streams($this->entities)) as $stream) {
            $reports[$stream] = $this->tried($stream);
        }
        foreach (array_reverse(array_keys($this->ids)) as $stream) {
            $reports[$stream]['left'] = $this->takenBack($stream);
        }
        $bad = static fn(array $one): bool => $one['error'] !== null || $one['differs'] !== [] || $one['left'] !== null;
        return [
            'ok' => array_filter($reports, $bad) === [],
            'versions' => (object)$this->box->versions(),
            'streams' => array_values($reports),
        ];
    }

    private function tried(string $stream): array
    {
        $report = ['stream' => $stream, 'error' => null, 'differs' => [], 'left' => null];
        try {
            $root = $this->box->rootDepartment();
            $fields = Samples::of($stream, ['root' => $root] + $this->ids + ['departments' => $root]);
            $item = ['key' => self::KEY . $stream, 'digest' => hash('sha256', Json::canonical($fields))];
            $body = ['items' => [$item + ['fields' => $fields]]];
            $outcome = Batch::answer($this->box, Catalog::stream($stream), self::arguments($body))['items'][0];
            if ($outcome['error'] !== null) {
                return ['error' => "{$outcome['error']['code']}: {$outcome['error']['message']}"] + $report;
            }
            $this->ids[$stream] = $outcome['id'];
            $report['differs'] = $this->differences($stream, array_diff_key($fields, array_flip($outcome['ignored'])));
        } catch (\Throwable $fault) {
            $report['error'] = ItemFault::of($fault)->getMessage();
        }
        return $report;
    }

    private function differences(string $stream, array $sent): array
    {
        $there = $this->box->records($stream)->read([$this->ids[$stream]])[$this->ids[$stream]] ?? [];
        $differs = [];
        foreach ($sent as $name => $value) {
            if (Json::canonical($value) !== Json::canonical($there[$name] ?? null)) {
                $differs[] = ['field' => $name, 'sent' => $value, 'read' => $there[$name] ?? null];
            }
        }
        return $differs;
    }

    /** Why it is still there; null when it is gone. */
    private function takenBack(string $stream): ?string
    {
        $body = self::arguments(['keys' => [self::KEY . $stream]]);
        $one = Deletion::answer($this->box, Catalog::stream($stream), $body)['items'][0];
        return $one['status'] === 'kept' ? $one['reason'] : null;
    }

    private static function arguments(array $body): Arguments
    {
        return Arguments::ofBody(Json::encode($body));
    }
}
