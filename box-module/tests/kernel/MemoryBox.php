<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

use B24migrate\Import\Kernel;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\CustomFields;
use B24migrate\Import\Port\Guard;
use B24migrate\Import\Port\Map;
use B24migrate\Import\Port\Records;
use B24migrate\Import\Port\UploadStore;

/** The real gateways on the fakes of the kernel. */
final class MemoryBox implements Box, Guard
{
    private const GATEWAYS = [
        'users' => Kernel\Users::class,
        'departments' => Kernel\Departments::class,
        'files' => Kernel\Files::class,
        'groups' => Kernel\Groups::class,
        'group_members' => Kernel\GroupMembers::class,
        'chats' => Kernel\Chats::class,
        'chat_messages' => Kernel\ChatMessages::class,
        'feed_posts' => Kernel\FeedPosts::class,
        'feed_comments' => Kernel\FeedComments::class,
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

    public function streams(): array
    {
        return [];
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

    public function uploads(): UploadStore
    {
        return new Kernel\UploadFolder($this->folder);
    }

    public function quiet(): void
    {
        Kernel\QuietMode::enable();
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
        return (new Kernel\SideEffects())->list(...);
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

    public function withLock(string $name, callable $work): mixed
    {
        return $work();
    }

    /** All or nothing, as the database would have it. */
    public function inTransaction(callable $work): mixed
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
