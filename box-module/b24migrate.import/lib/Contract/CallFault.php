<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** The whole call is refused, and nothing happened. */
final class CallFault extends \RuntimeException
{
    public function __construct(public readonly string $fault, public readonly int $status, string $message)
    {
        parent::__construct($message);
    }

    public static function malformed(string $message): self
    {
        return new self('ERROR_ARGUMENT', 400, $message);
    }
}
