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
        $seen = new Inspection(self::trusting($box), $id);
        $type = $stream->typedBy === null ? null : $fields[$stream->typedBy] ?? null;
        foreach ((new Kinds($box->customFields()))->of($stream, $fields, $type) as $seen->field => $kind) {
            self::try(fn () => isset($fields[$seen->field]) && $kind($fields[$seen->field], $seen));
        }
        foreach ($stream->rules as $rule) {
            self::try(fn () => $rule($fields, $seen, $name));
        }
        return array_values($seen->refers);
    }

    private static function try(callable $check): void
    {
        try {
            $check();
        } catch (ItemFault) {
            // somebody wrote nonsense by hand: it refers to nothing
        }
    }

    private static function trusting(FakeBox $box): Lookup
    {
        return new class ($box) implements Lookup {
            public function __construct(private readonly FakeBox $box)
            {
            }

            public function rootDepartment(): string
            {
                return $this->box->rootDepartment();
            }

            public function has(string $stream, string $id): bool
            {
                return true;
            }

            public function read(string $stream, string $id): ?array
            {
                return $this->box->records($stream)->read([$id])[$id] ?? null;
            }

            public function find(string $stream, array $values): ?string
            {
                return $stream === 'users' ? null : $this->box->records($stream)->find($values);
            }

            public function allowedActivities(): array
            {
                return $this->box->allowedActivities();
            }
        };
    }
}
