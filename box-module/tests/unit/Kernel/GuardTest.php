<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\KernelGuard;
use B24migrate\Import\Kernel\Limits;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;
use Bitrix\Main\Application;

final class GuardTest extends KernelCase
{
    public function testTwoDoNotWorkUnderOneNameAtATime(): void
    {
        $guard = new KernelGuard();
        $name = str_repeat('a very long name ', 10);
        try {
            $guard->withLock($name, static fn() => $guard->withLock($name, static fn() => 'never'));
            $this->fail('both worked');
        } catch (ItemFault $fault) {
            $this->assertSame(['LOCKED', true], [$fault->fault, $fault->retry]);
        }
        $this->assertSame('free again', $guard->withLock($name, static fn() => 'free again'));
    }

    public function testWorkThatThrowsLeavesNothing(): void
    {
        $guard = new KernelGuard();
        try {
            $guard->inTransaction(static function (): void {
                World::put('tasks', ['TITLE' => 'half']);
                throw new \RuntimeException('died');
            });
        } catch (\RuntimeException) {
            $this->assertArrayNotHasKey('tasks', World::$tables);
        }
        $this->assertFalse(World::$inTransaction);
        $guard->inTransaction(static fn() => World::put('tasks', ['TITLE' => 'whole']));
        $this->assertCount(1, World::$tables['tasks']);
    }

    public function testATransactionThatTheKernelLeftOpenIsRolledBackToo(): void
    {
        $guard = new KernelGuard();
        try {
            $guard->inTransaction(static function (): void {
                World::put('tasks', ['TITLE' => 'half']);
                Application::getConnection()->startTransaction();
                throw new \RuntimeException('of the kernel');
            });
        } catch (\RuntimeException $fault) {
            $this->assertSame('of the kernel', $fault->getMessage());
        }
        $this->assertFalse(World::$inTransaction, 'or nothing of this hit would ever be committed');
        $this->assertArrayNotHasKey('tasks', World::$tables);
    }

    public function testEveryStreamOfTheContractHasAGateway(): void
    {
        $box = new KernelBox();
        $isServed = static fn($one) => !Catalog::isOfLaterVersion($one) || in_array($one, $box->streams(), true);
        foreach (['files', ...array_filter(array_keys(Catalog::streams()), $isServed)] as $stream) {
            $this->assertIsArray($box->records($stream)->losses(), $stream);
        }
        $this->expectExceptionMessage('no stream nonsense');
        $box->records('nonsense');
    }

    public function testAModuleThatIsMissingCostsOnlyItsOwnEntity(): void
    {
        World::$versions['bizproc'] = 'missing';
        $this->assertSame(array_values(array_diff(Catalog::ENTITIES, ['workflows'])), (new KernelBox())->entities());
        $this->expectExceptionMessage('The module bizproc is not installed');
        (new KernelBox())->records('workflow_templates');
    }

    public function testVersionsNameTheModuleItself(): void
    {
        World::$versions['b24migrate.import'] = '1.2.3';
        $this->assertSame('1.2.3', (new KernelBox())->versions()['b24migrate.import']);
    }

    /** @dataProvider settings */
    public function testLimitsFollowTheSettingsOfPhp(array $ini, int $free, array $expected): void
    {
        $told = (new Limits(static fn(string $name): string => $ini[$name], $free))->toArray();
        $this->assertSame($expected, array_intersect_key($told, $expected));
        $this->assertLessThan($told['body_bytes'], intdiv($told['chunk_bytes'] * 4, 3));
    }

    /** @return array<string, array{array<string, string>, int, array<string, int>}> */
    public function settings(): array
    {
        $ini = ['post_max_size' => '64M', 'memory_limit' => '512M', 'max_execution_time' => '0'];
        return [
            'roomy' => [$ini, PHP_INT_MAX, [
                'items' => 100, 'body_bytes' => 8000000, 'file_bytes' => 1073741824, 'chunk_bytes' => 4194304,
            ]],
            'a small body' => [['post_max_size' => '2M'] + $ini, PHP_INT_MAX, [
                'body_bytes' => 2097152, 'chunk_bytes' => 1565364,
            ]],
            'little memory' => [['memory_limit' => '128M'] + $ini, PHP_INT_MAX, ['body_bytes' => 4793490]],
            'no limit at all' => [['memory_limit' => '-1', 'post_max_size' => '0'] + $ini, PHP_INT_MAX, [
                'body_bytes' => 8000000,
            ]],
            'little time' => [['max_execution_time' => '30'] + $ini, PHP_INT_MAX, ['items' => 30]],
            'a full disk' => [$ini, 3000, ['file_bytes' => 1000]],
        ];
    }
}
