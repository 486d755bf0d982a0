<?php

declare(strict_types=1);

namespace B24migrate\Import\Rest;

use B24migrate\Import\Api\{Router, Selftest};
use B24migrate\Import\Contract\{CallFault, ItemFault};
use B24migrate\Import\Kernel\KernelBox;
use Bitrix\Rest\{AccessException, RestException};

defined('B_PROLOG_INCLUDED') || exit;

/** The scope `import` of the box's REST: who may call, what a body is, and what a refusal looks like. */
final class Service
{
    public const SCOPE = 'import';

    private const STATUSES = [
        400 => '400 Bad Request', 401 => '401 Unauthorized', 403 => '403 Forbidden', 404 => '404 Not Found',
        429 => '429 Too Many Requests', 500 => '500 Internal Server Error', 503 => '503 Service Unavailable',
    ];

    /** What a newer PHP only advises against still works. */
    private const SERIOUS = E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED;

    /** For the event OnRestServiceBuildDescription. */
    public static function describe(): array
    {
        $answer = ['callback' => [self::class, 'answer'], 'options' => []];
        return [self::SCOPE => array_fill_keys(Router::methods(), $answer)];
    }

    /** The query is not looked at: keys are missing there, and an empty object is an empty list. */
    public static function answer(mixed $query, mixed $start, \CRestServer $server): array
    {
        $GLOBALS['APPLICATION']->ResetException();
        if (!\CRestUtil::isAdmin()) {
            throw new AccessException('Only an administrator of the box may import.');
        }
        // Legacy classes shift every time by the offset of the calling user, unless this is turned off.
        \CTimeZone::Disable();
        // What old code prints would stand before the answer; some of it throws buffers away.
        $level = ob_get_level();
        ob_start();
        try {
            return self::withStrictErrors(static fn () => self::serve(strtolower($server->getMethod())));
        } catch (CallFault $fault) {
            throw self::restException($fault);
        } catch (\Throwable $bug) {
            $fault = new CallFault('INTERNAL_SERVER_ERROR', 500, ItemFault::of($bug)->getMessage());
            throw self::restException($fault, $bug);
        } finally {
            \CTimeZone::Enable();
            while (ob_get_level() > $level) {
                ob_end_clean();
            }
            // The server would tell what some kernel class has left there instead of what we say.
            $GLOBALS['APPLICATION']->ResetException();
        }
    }

    /** Before the module goes: @return list<string> what of a self-test that died is still there, and why */
    public static function cleanUp(): array
    {
        try {
            $box = new KernelBox();
            return (new Selftest($box, $box->entities()))->cleanUp();
        } catch (\Throwable $fault) {
            return [ItemFault::of($fault)->getMessage()];
        }
    }

    /** A warning of the module's own code is an exception: the fault of one item. The kernel often warns. */
    public static function withStrictErrors(callable $work): mixed
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

    private static function serve(string $method): array
    {
        $box = new KernelBox();
        return (new Router($box, $box->entities()))->answer($method, self::body());
    }

    private static function body(): string
    {
        $type = strtolower(trim(explode(';', (string)($_SERVER['CONTENT_TYPE'] ?? ''))[0]));
        if ($type !== 'application/json') {
            throw CallFault::malformed('The body must be application/json: the box changes what comes as a form.');
        }
        return (string)file_get_contents('php://input');
    }

    private static function restException(CallFault $fault, ?\Throwable $cause = null): RestException
    {
        $status = self::STATUSES[$fault->status] ?? self::STATUSES[400];
        $previous = $cause instanceof \Exception ? $cause : null;
        return new RestException($fault->getMessage(), $fault->fault, $status, $previous);
    }
}
