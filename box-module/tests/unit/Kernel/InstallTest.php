<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Cli\Setup;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Tests\Kernel\Called;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class InstallTest extends KernelCase
{
    private const FOLDER = __DIR__ . '/../../../b24migrate.import';

    public static function setUpBeforeClass(): void
    {
        require_once self::FOLDER . '/cli/Setup.php';
    }

    public function testTheHandlerIsRegisteredBeforeTheModuleAndTheScopesAreForgottenLast(): void
    {
        $this->assertSame('The module is installed.', (new Setup([]))->perform());
        $this->assertSame(
            ['createIndex', 'registerEventHandler', 'registerModule', 'ScopeManager::cleanCache'],
            array_column(World::$calls, 0)
        );
        [, , $module, $class, $method] = World::calls('registerEventHandler')[0];
        $this->assertSame('b24migrate.import', $module);
        $this->assertIsCallable([$class, $method]);
        $this->assertArrayHasKey(MapTable::getTableName(), World::$tables);
    }

    /**
     * @dataProvider obstacles
     * @param array<string, string> $versions
     */
    public function testABoxThatCannotHaveItSaysWhyAndStaysAsItWas(array $versions, string $folder, string $why): void
    {
        World::$versions = $versions;
        World::$options['main'] = ['upload_dir' => $folder];
        [$tables, $options] = [World::$tables, World::$options];
        try {
            (new Setup([]))->perform();
            self::fail('it was installed');
        } catch (\RuntimeException $refused) {
            self::assertSame($why, $refused->getMessage());
        }
        self::assertSame([$tables, $options, []], [World::$tables, World::$options, World::$calls]);
    }

    /** @return array<string, array{array<string, string>, string, string}> */
    public function obstacles(): array
    {
        return [
            'no rest' => [
                ['rest' => 'missing'], 'upload', 'The module requires the module rest. Install it.',
            ],
            'an old CRM' => [
                ['crm' => '21.500.0'], 'upload',
                'The module requires crm 24.0.0 or newer. This box has crm 21.500.0: update it.',
            ],
            'no folder for uploads' => [
                [], 'nowhere', 'The web server cannot write to ' . sys_get_temp_dir()
                    . '/b24migrate-fake-root/nowhere. Give it write permission.',
            ],
        ];
    }

    public function testAModuleThatIsNotThereIsNoObstacle(): void
    {
        World::$versions = ['crm' => 'missing', 'tasks' => 'missing', 'bizproc' => 'missing'];
        self::assertSame('The module is installed.', (new Setup([]))->perform());
    }

    public function testAKernelWhoseMethodsAreOtherwiseIsFound(): void
    {
        $fits = new \ReflectionMethod('b24migrate_import_preflight', 'fits');
        $fits->setAccessible(true);
        $kernel = new class {
            public function plain($a, $b = null)
            {
            }

            final protected function closed()
            {
            }

            protected function open($a)
            {
            }
        };
        $asked = [
            ['plain', 0, false, false], ['plain', 1, false, true], ['plain', 2, false, true],
            ['plain', 3, false, false], ['none', 0, false, false], ['open', 1, false, false],
            ['open', 1, true, true], ['open', 0, true, false],
            ['closed', 0, true, false], ['plain', 2, true, true],
        ];
        foreach ($asked as [$name, $count, $anew, $answer]) {
            self::assertSame($answer, $fits->invoke(null, $kernel::class, $name, $count, $anew), "$name $count");
        }
        self::assertFalse($fits->invoke(null, 'Bitrix\Nowhere', 'any', 0, false));
    }

    public function testThePreflightKnowsEveryMethodThatTheModuleCalls(): void
    {
        $file = self::FOLDER . '/install/kernel.php';
        self::assertSame(Called::asPhp(), file_get_contents($file), 'it is what Called::asPhp() writes');
        self::assertSame(Called::byModule(), require $file);
    }

    public function testWhatStopsHalfwayTakesItselfAway(): void
    {
        World::$options['main'] = ['refuses modules' => 'Y'];
        try {
            (new Setup([]))->perform();
            self::fail('it was installed');
        } catch (\RuntimeException $refused) {
            self::assertSame('The box has no more room for modules', $refused->getMessage());
        }
        self::assertArrayNotHasKey(MapTable::getTableName(), World::$tables);
        self::assertSame([], World::$tables['event_handlers']);
    }

    public function testAnAdministratorReadsTheReasonOnThePage(): void
    {
        $script = '<?php ' . strtr("require 'AUTOLOAD'; require 'LOAD'; WORLD::reset(); define('ADMIN_SECTION', true);"
            . "WORLD::\$versions = ['rest' => 'missing']; \$module = CModule::CreateModuleObject('b24migrate.import');"
            . 'echo json_encode([$module->DoInstall(), WORLD::calls("IncludeAdminFile")]);', [
            'AUTOLOAD' => dirname(__DIR__, 2) . '/autoload.php',
            'LOAD' => dirname(__DIR__, 2) . '/kernel/load.php',
            'WORLD' => World::class,
        ]);
        mkdir($this->folder);
        file_put_contents("$this->folder/page.php", $script);
        $said = shell_exec('php ' . escapeshellarg("$this->folder/page.php"));
        $page = ['The module cannot be installed', 'refused.php'];
        self::assertSame([false, [$page]], json_decode((string)$said, true));
    }

    public function testNothingIsLeftWhenTheMapGoesToo(): void
    {
        [$tables, $options] = [World::$tables, World::$options];
        (new Setup([]))->perform();
        World::$options['b24migrate.import'] = ['shelf' => 'secret', 'check_group_name_enable' => 'Y'];
        World::$options['socialnetwork']['check_group_name_enable'] = 'N';
        (new Setup(['--uninstall', '--drop-map']))->perform();
        self::assertSame($tables, array_filter(World::$tables), 'no table, no handler, no module');
        $options['socialnetwork']['check_group_name_enable'] = 'Y';
        self::assertSame($options, World::$options);
        self::assertSame([['/upload/b24migrate.import']], World::calls('DeleteDirFilesEx'));
        self::assertCount(2, World::calls('ScopeManager::cleanCache'));
    }

    public function testAWebhookIsPrintedReadyForUse(): void
    {
        $url = (new Setup(['--create-webhook']))->perform();
        $this->assertSame('https://box.example/rest/1/secret/', $url);
        $this->assertContains('import', World::calls('createPassword')[0][1]);
    }

    public function testActivitiesAreAllowedByNameAndForbiddenAgain(): void
    {
        $told = (new Setup(['--allow-activities', 'CodeActivity,AcmeSync']))->perform();
        $this->assertSame('Allowed activities: CodeActivity,AcmeSync.', $told);
        $this->assertSame(['codeactivity', 'acmesync'], (new KernelBox())->allowedActivities());
        $told = (new Setup(['--allow-activities', '']))->perform();
        $this->assertSame('Only standard activities are allowed.', $told);
        $this->assertSame([], (new KernelBox())->allowedActivities());
    }

    public function testAWebhookOfSomebodyElseThanAnAdministratorIsRefused(): void
    {
        $this->expectExceptionMessage('User 7 is no administrator');
        (new Setup(['--create-webhook', '--user', '7']))->perform();
    }

    public function testTheMapStaysUnlessItsEndIsAskedFor(): void
    {
        (new Setup([]))->perform();
        World::$options['b24migrate.import'] = ['shelf' => 'secret'];
        (new Setup(['--uninstall']))->perform();
        $this->assertArrayNotHasKey('b24migrate.import', World::$options);
        $this->assertSame([['/upload/b24migrate.import']], World::calls('DeleteDirFilesEx'));
        $this->assertArrayHasKey(MapTable::getTableName(), World::$tables);
        $this->assertSame(World::calls('registerEventHandler'), World::calls('unRegisterEventHandler'));
        $this->assertSame('The module is not installed.', (new Setup(['--uninstall', '--drop-map']))->perform());
        (new Setup([]))->perform();
        (new Setup(['--uninstall', '--drop-map']))->perform();
        $this->assertArrayNotHasKey(MapTable::getTableName(), World::$tables);
    }

    public function testTheCommandPrintsTheAddressOnlyAndARefusalIsOneSentence(): void
    {
        $prolog = "$this->folder/bitrix/modules/main/include/prolog_before.php";
        mkdir(dirname($prolog), 0700, true);
        $tests = dirname(__DIR__, 2);
        $kernel = "require '$tests/autoload.php'; require '$tests/kernel/load.php';";
        file_put_contents($prolog, "<?php $kernel B24migrate\\Import\\Tests\\Kernel\\World::reset();");
        $root = '--document-root ' . escapeshellarg($this->folder);
        $this->assertSame([0, ['https://box.example/rest/1/secret/']], self::command("--create-webhook $root"));
        $this->assertSame(
            [1, ['User 7 is no administrator: tell one with --user.']],
            self::command("--create-webhook --user 7 $root")
        );
        unlink($prolog);
        for ($folder = dirname($prolog); $folder !== $this->folder; $folder = dirname($folder)) {
            rmdir($folder);
        }
    }

    /** @dataProvider badArguments */
    public function testBadArgumentsAreOneSentenceAndTheExitCodeTwo(string $arguments, string $sentence): void
    {
        [$code, $told] = self::command($arguments);
        $this->assertSame(2, $code);
        $this->assertCount(1, $told);
        $this->assertStringContainsString($sentence, $told[0]);
    }

    /** @return array{int, list<string>} exit code and lines */
    private static function command(string $arguments): array
    {
        exec('php ' . escapeshellarg(self::FOLDER . '/install.php') . " $arguments 2>&1", $told, $code);
        return [$code, $told];
    }

    /** @return list<array{string, string}> */
    public function badArguments(): array
    {
        return [
            ['--nonsense', 'There is no argument --nonsense'],
            ['--user', '--user wants the number of a user'],
            ['--user 0', '--user wants the number of a user'],
            ['--user one', '--user wants the number of a user'],
            ['--document-root /nowhere', '--document-root wants the folder of the site'],
            ['--document-root', '--document-root wants the folder of the site'],
            ['--drop-map', '--drop-map goes with --uninstall'],
            ['--allow-activities', '--allow-activities wants names'],
            ["--allow-activities 'A B'", '--allow-activities wants names'],
            ['--uninstall --allow-activities A', '--allow-activities does not go with --uninstall'],
            ['--uninstall --create-webhook', 'A webhook cannot be made'],
            ['', 'There is no Bitrix in'],
        ];
    }

    public function testBothLanguagesSayTheSameThings(): void
    {
        $said = [];
        foreach (['en', 'ru'] as $language) {
            $MESS = [];
            include self::FOLDER . "/lang/$language/install/index.php";
            $said[$language] = array_keys($MESS);
        }
        $this->assertSame($said['en'], $said['ru']);
    }
}
