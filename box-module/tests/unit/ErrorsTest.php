<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Rest\Service;
use PHPUnit\Framework\TestCase;

final class ErrorsTest extends TestCase
{
    /** @dataProvider levels */
    public function testWhatANewerPhpOnlyAdvisesAgainstStopsNoImport(int $level, bool $stops): void
    {
        set_error_handler(static fn (): bool => true);
        $thrown = false;
        try {
            Service::withStrictErrors(static function () use ($level): void {
                $handler = set_error_handler(null);
                restore_error_handler();
                $handler($level, 'said', dirname(__DIR__, 2) . '/b24migrate.import/lib/Api/Router.php', 1);
            });
        } catch (\ErrorException) {
            $thrown = true;
        } finally {
            restore_error_handler();
        }
        $this->assertSame($stops, $thrown);
    }

    public function levels(): array
    {
        return [[E_WARNING, true], [E_NOTICE, true], [E_DEPRECATED, false], [E_USER_DEPRECATED, false]];
    }
}
