<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** What keeps two calls, or a call and its own death, from spoiling one another. */
interface Guard
{
    /**
     * Runs the work while nobody else works under this name, in any process; a dead process holds nothing.
     *
     * @throws \B24migrate\Import\Contract\ItemFault LOCKED when somebody else does
     */
    public function withLock(string $name, callable $work): mixed;

    /** Runs the work in one transaction: all of it is durable afterwards, or nothing of it when it throws. */
    public function inTransaction(callable $work): mixed;
}
