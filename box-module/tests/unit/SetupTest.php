<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Cli\Setup;
use PHPUnit\Framework\TestCase;

final class SetupTest extends TestCase
{
    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/../../b24migrate.import/cli/Setup.php';
    }

    public function testWhereTheSiteLiesIsTrueInEveryFolder(): void
    {
        $site = sys_get_temp_dir() . '/b24site' . getmypid();
        mkdir("$site/bitrix/modules/main/include", 0700, true);
        touch("$site/bitrix/modules/main/include/prolog_before.php");
        $here = (string)getcwd();
        chdir("$site/bitrix");
        try {
            $this->assertSame(realpath($site), (new Setup(['--document-root', '../']))->documentRoot);
        } finally {
            chdir($here);
            unlink("$site/bitrix/modules/main/include/prolog_before.php");
            foreach (['bitrix/modules/main/include', 'bitrix/modules/main', 'bitrix/modules', 'bitrix', ''] as $one) {
                rmdir("$site/$one");
            }
        }
    }
}
