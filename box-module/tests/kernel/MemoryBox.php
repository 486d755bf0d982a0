<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use B24migrate\Import\Kernel;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\CustomFields;
use B24migrate\Import\Port\Guard;
use B24migrate\Import\Port\Map;
use B24migrate\Import\Port\Records;
use B24migrate\Import\Port\Shelf;

/** The real gateways on the fakes of the kernel. */
final class MemoryBox implements Box, Guard
{
    private const GATEWAYS = [
        'users' => Kernel\Users::class,
        'departments' => Kernel\Departments::class,
        'files' => Kernel\Files::class,
        'groups' => Kernel\Groups::class,
        'group_members' => Kernel\Members::class,
        'chats' => Kernel\Chats::class,
        'chat_messages' => Kernel\Messages::class,
        'feed_posts' => Kernel\Posts::class,
        'feed_comments' => Kernel\PostComments::class,
    ];

    public readonly MemoryMap $map;

    public function __construct(private readonly string $folder = '')
    {
        $this->map = new MemoryMap();
    }

    public function records(string $stream): Records
    {
        return new (self::GATEWAYS[$stream])($this, $stream);
    }

    public function map(): Map
    {
        return $this->map;
    }

    public function guard(): Guard
    {
        return $this;
    }

    public function customFields(): CustomFields
    {
        return new Kernel\UserFields();
    }

    public function shelf(): Shelf
    {
        return new Kernel\KernelShelf($this->folder);
    }

    public function quiet(): void
    {
        Kernel\Quiet::keep();
    }

    public function rootDepartment(): string
    {
        return Kernel\Departments::root();
    }

    public function timezone(): string
    {
        return date_default_timezone_get();
    }

    public function allowedActivities(): array
    {
        return [];
    }

    public function limits(): array
    {
        return ['items' => 100, 'body_bytes' => 8000000, 'file_bytes' => 1000000, 'chunk_bytes' => 100000];
    }

    public function versions(): array
    {
        return [];
    }

    public function listen(): \Closure
    {
        return (new Kernel\Noise())->since(...);
    }

    public function findings(): array
    {
        return [];
    }

    public function keepFindings(array $rules): void
    {
    }

    public function finalize(string $after): array
    {
        return ['done' => 0, 'cursor' => null];
    }

    public function alone(string $name, callable $work): mixed
    {
        return $work();
    }

    /** All or nothing, as the database would have it. */
    public function together(callable $work): mixed
    {
        $before = [World::$tables, $this->map->entries];
        World::$inTransaction = true;
        try {
            return $work();
        } catch (\Throwable $fault) {
            [World::$tables, $this->map->entries] = $before;
            throw $fault;
        } finally {
            World::$inTransaction = false;
        }
    }
}
