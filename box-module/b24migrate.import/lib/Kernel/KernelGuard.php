<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\Guard;
use Bitrix\Main\Application;
use Bitrix\Main\DB\Connection;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Locks and transactions of the box's database. Both end with its connection, hence with a process that dies; with
 * persistent connections that is to be checked on a real box.
 */
final class KernelGuard implements Guard
{
    /** Short, as an item is written in a blink; long enough for calls that come at once to take turns. */
    private const PATIENCE_S = 10;
    private const DEEPEST = 10;

    public function withLock(string $name, callable $work): mixed
    {
        $connection = Application::getConnection();
        // MySQL allows 64 characters for a name.
        $lock = 'b24migrate_' . md5($name);
        if (!$connection->lock($lock, self::PATIENCE_S)) {
            throw new ItemFault('LOCKED', null, 'Another call is writing this record right now.', true);
        }
        try {
            // What the kernel complained of before must not be taken for its answer to this.
            $GLOBALS['APPLICATION']->ResetException();
            return $work();
        } finally {
            $connection->unlock($lock);
        }
    }

    public function inTransaction(callable $work): mixed
    {
        $connection = Application::getConnection();
        $connection->startTransaction();
        try {
            $result = $work();
        } catch (\Throwable $fault) {
            self::rollBack($connection);
            throw $fault;
        }
        $connection->commitTransaction();
        return $result;
    }

    /**
     * To roll back an inner transaction throws, and the outer one stays open: what the kernel has left open inside goes
     * first. Otherwise nothing that is answered later in this hit would ever be committed.
     */
    private static function rollBack(Connection $connection): void
    {
        for ($level = self::DEEPEST; $level > 0; $level--) {
            try {
                $connection->rollbackTransaction();
                return;
            } catch (\Throwable) {
                // an inner one
            }
        }
    }
}
