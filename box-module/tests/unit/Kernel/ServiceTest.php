<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Rest\Service;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Rest\AccessException;
use Bitrix\Rest\RestException;

final class ServiceTest extends KernelCase
{
    protected function setUp(): void
    {
        parent::setUp();
        $_SERVER['CONTENT_TYPE'] = 'application/json; charset=utf-8';
        \CRestUtil::$admin = true;
    }

    public function testEveryMethodIsInTheScopeImport(): void
    {
        $told = Service::describe();
        $this->assertSame(['import'], array_keys($told));
        $this->assertSame(Router::methods(), array_keys($told['import']));
        foreach ($told['import'] as $method => $how) {
            $this->assertIsCallable($how['callback'], $method);
        }
        $this->assertArrayHasKey('import.crm.batch', $told['import']);
    }

    public function testAnAdministratorIsAnswered(): void
    {
        $this->assertSame(1, $this->call('import.info')['contract']);
    }

    public function testAMethodIsTheSameInCapitals(): void
    {
        $this->assertSame(1, $this->call('Import.INFO')['contract']);
    }

    public function testNobodyElseIs(): void
    {
        \CRestUtil::$admin = false;
        $this->expectException(AccessException::class);
        $this->call('import.info');
    }

    public function testAFormIsRefused(): void
    {
        $_SERVER['CONTENT_TYPE'] = 'application/x-www-form-urlencoded';
        $this->assertSame(['ERROR_ARGUMENT', '400 Bad Request'], $this->refusal('import.info'));
    }

    public function testARefusalHasItsStatus(): void
    {
        $this->assertSame(['ERROR_METHOD_NOT_FOUND', '404 Not Found'], $this->refusal('import.nothing.batch'));
        $this->assertSame(['ERROR_ARGUMENT', '400 Bad Request'], $this->refusal('import.groups.batch'));
    }

    public function testWhatTheKernelLeftIsNotToldInsteadOfTheAnswer(): void
    {
        $GLOBALS['APPLICATION']->say('something old');
        $this->call('import.info');
        $this->assertNull($GLOBALS['APPLICATION']->GetException());
    }

    public function testAWarningOfTheModuleIsAnExceptionAndOneOfTheKernelIsNot(): void
    {
        $elsewhere = [];
        set_error_handler(static function (int $level, string $message) use (&$elsewhere): bool {
            $elsewhere[] = $message;
            return true;
        });
        $inside = dirname(__DIR__, 3) . '/b24migrate.import/lib/Rest/Service.php';
        try {
            Service::withStrictErrors(static function () use ($inside): void {
                trigger_error('of the kernel', E_USER_WARNING);
                self::handler()(E_WARNING, 'of the module', $inside, 1);
            });
            $this->fail('it passed');
        } catch (\ErrorException $warning) {
            $this->assertSame('of the module', $warning->getMessage());
        } finally {
            restore_error_handler();
        }
        $this->assertSame(['of the kernel'], $elsewhere);
    }

    public function testTimesAreThoseOfTheServerDuringACallAndTheZoneOfTheCallerComesBackAfterAFault(): void
    {
        \CTimeZone::Enable();
        $server = new class ('import.nothing') extends \CRestServer {
            public ?int $offset = null;

            public function getMethod(): string
            {
                $this->offset = \CTimeZone::GetOffset();
                return parent::getMethod();
            }
        };
        try {
            Service::answer([], 0, $server);
            self::fail('it was answered');
        } catch (RestException) {
            self::assertSame([0, World::OFFSET_OF_CALLER], [$server->offset, \CTimeZone::GetOffset()]);
        }
        \CTimeZone::Disable();
    }

    private static function handler(): callable
    {
        $handler = set_error_handler(null);
        restore_error_handler();
        return $handler;
    }

    /** @return array<string, mixed> */
    private function call(string $method): array
    {
        return Service::answer([], 0, new \CRestServer($method));
    }

    /** @return array{string, string} */
    private function refusal(string $method): array
    {
        try {
            $this->call($method);
        } catch (RestException $refused) {
            return [$refused->fault, $refused->status];
        }
        return ['', 'answered'];
    }
}
