<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Api\Kinds;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Lookup;

/** What a record refers to, so that the fake box can say later who depends on what. */
final class References
{
    /**
     * @param array<string, mixed> $fields
     * @return list<array{string, string}> stream and id
     */
    public static function of(FakeBox $box, string $name, string $id, array $fields): array
    {
        $stream = Catalog::stream($name);
        if ($stream === null) {
            return [];
        }
        $refers = [];
        $seen = new Inspection(self::trusting($box, $refers), $id);
        $type = $stream->typedBy === null ? null : $fields[$stream->typedBy] ?? null;
        foreach ((new Kinds($box->customFields()))->of($stream, $fields, $type) as $seen->field => $kind) {
            self::try(fn () => isset($fields[$seen->field]) && $kind($fields[$seen->field], $seen));
        }
        foreach ($stream->rules as $rule) {
            self::try(fn () => $rule($fields, $seen, $name));
        }
        return array_values($refers);
    }

    private static function try(callable $check): void
    {
        try {
            $check();
        } catch (ItemFault) {
            // somebody wrote nonsense by hand: it refers to nothing
        }
    }

    /** @param array<string, array{string, string}> $refers what was asked for, by stream and id */
    private static function trusting(FakeBox $box, array &$refers): Lookup
    {
        return new class ($box, $refers) implements Lookup {
            public function __construct(private readonly FakeBox $box, private array &$refers)
            {
            }

            public function rootDepartment(): string
            {
                return $this->box->rootDepartment();
            }

            public function has(string $stream, string $id): bool
            {
                $this->refers["$stream:$id"] = [$stream, $id];
                return true;
            }

            public function read(string $stream, string $id): ?array
            {
                return $this->box->records($stream)->read([$id])[$id] ?? null;
            }

            public function find(string $stream, array $values): ?string
            {
                $found = $stream === 'users' ? null : $this->box->records($stream)->find($values);
                return $found !== null && $this->has($stream, $found) ? $found : null;
            }

            public function allowedActivities(): array
            {
                return $this->box->allowedActivities();
            }
        };
    }
}
