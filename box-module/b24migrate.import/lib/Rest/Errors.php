<?php

declare(strict_types=1);

namespace B24migrate\Import\Rest;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * While a call is served, a warning of this module's own code is an exception, hence the fault of one item. Warnings of
 * the kernel are its custom, and go where they always go.
 */
final class Errors
{
    /** What a newer PHP only advises against still works. */
    private const SERIOUS = E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED;

    public static function heeded(callable $work): mixed
    {
        $home = dirname(__DIR__, 2) . DIRECTORY_SEPARATOR;
        $before = null;
        $before = set_error_handler(
            static function (int $level, string $message, string $file, int $line) use ($home, &$before): bool {
                if (str_starts_with($file, $home) && (error_reporting() & $level & self::SERIOUS) !== 0) {
                    throw new \ErrorException($message, 0, $level, $file, $line);
                }
                return $before !== null && (bool)$before($level, $message, $file, $line);
            }
        );
        try {
            return $work();
        } finally {
            restore_error_handler();
        }
    }
}
