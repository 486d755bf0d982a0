<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use B24migrate\Import\Port\Records;
use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/load.php';

/** A new box for every test; at its end nobody may have noticed anything, and the caller's zone is as it was. */
abstract class KernelCase extends TestCase
{
    protected MemoryBox $box;
    protected string $folder;

    protected function setUp(): void
    {
        // A zone with summer time, unlike UTC and unlike the zone of the caller.
        date_default_timezone_set('Europe/Helsinki');
        World::reset();
        // As the service does for every call.
        \CTimeZone::Disable();
        $this->folder = sys_get_temp_dir() . '/b24migrate-shelf-' . bin2hex(random_bytes(6));
        $this->box = new MemoryBox($this->folder);
        $this->box->quiet();
    }

    protected function assertPostConditions(): void
    {
        self::assertSame([], World::$noise);
        self::assertSame(1, \CTimeZone::$disabled);
    }

    protected function tearDown(): void
    {
        date_default_timezone_set('UTC');
        array_map('unlink', glob($this->folder . '/*') ?: []);
        is_dir($this->folder) && rmdir($this->folder);
    }

    protected function records(string $stream): Records
    {
        return $this->box->records($stream);
    }

    /** @param array<string, mixed> $fields */
    protected function made(string $stream, array $fields, string $key = 'source:x:1'): string
    {
        return $this->records($stream)->create($key, $fields);
    }

    /** @return array<string, mixed> */
    protected function now(string $stream, string $id): array
    {
        return $this->records($stream)->read([$id])[$id] ?? [];
    }

    /** @param array<string, mixed> $expected @param array<string, mixed> $actual */
    protected static function assertHolds(array $expected, array $actual): void
    {
        $there = array_intersect_key($actual, $expected);
        ksort($there);
        ksort($expected);
        self::assertSame($expected, $there);
    }

    protected function person(string $name = 'ann'): string
    {
        return $this->made('users', ['NAME' => $name, 'EMAIL' => "$name@example.org"], "source:users:$name");
    }

    protected function file(string $name = 'plan.pdf', string $content = 'bytes'): string
    {
        $shelf = $this->box->uploads();
        $key = "source:file:$name:" . md5($content . count(World::$tables['objects'] ?? []));
        $shelf->begin($key, $name, strlen($content), hash('sha256', $content));
        $shelf->append($key, 0, $content);
        $id = $shelf->keep($key);
        $shelf->discard($key);
        return $id;
    }
}
