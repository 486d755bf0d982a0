<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Guard;

/** Locks are those of files beside the database, which a dead process does not hold. */
final class FakeGuard implements Guard
{
    private const SLOTS = 256;
    private const PATIENCE_S = 10.0;

    /** @var array<int, true> */
    private array $held = [];

    public function __construct(private readonly Db $db)
    {
    }

    public function withLock(string $name, callable $work): mixed
    {
        $slot = crc32($name) % self::SLOTS;
        if ($this->db->path === ':memory:' || isset($this->held[$slot])) {
            return $work();
        }
        $lock = $this->locked($name, $slot);
        $this->held[$slot] = true;
        try {
            return $work();
        } finally {
            unset($this->held[$slot]);
            fclose($lock);
        }
    }

    public function inTransaction(callable $work): mixed
    {
        return $this->db->inTransaction($work);
    }

    /** @return resource */
    private function locked(string $name, int $slot): mixed
    {
        $folder = $this->db->path . '.locks';
        if (!is_dir($folder)) {
            @mkdir($folder);
        }
        $lock = fopen("$folder/$slot", 'c');
        for ($until = microtime(true) + self::PATIENCE_S; microtime(true) < $until; usleep(2000)) {
            if (flock($lock, LOCK_EX | LOCK_NB)) {
                return $lock;
            }
        }
        throw new ItemFault('LOCKED', null, "somebody else is working on $name", true);
    }
}
