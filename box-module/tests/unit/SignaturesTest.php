<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Tests\Kernel;
use B24migrate\Import\Tests\Kernel\Signatures;
use B24migrate\Import\Tests\Kernel\Uses;
use Bitrix\Im\Model\ChatTable;
use PHPUnit\Framework\TestCase;

/** The module and the fakes against what the kernel has: names, parameters, what a parent forbids. */
final class SignaturesTest extends TestCase
{
    private const MODULE = __DIR__ . '/../../b24migrate.import';
    /** Of newer kernels than the one that was looked at; the module asks whether they are there. */
    private const NEWER = [
        'Bitrix\Im\V2\Chat::IM_TYPE_EXTERNAL', 'Bitrix\Im\V2\Chat\ChatFactory::addUniqueChat',
    ];
    /** Fakes under names of their own, and what they play. */
    private const PLAY = [
        Kernel\FakeConnection::class => ['Bitrix\Main\DB\Connection'],
        Kernel\FakeDatabase::class => ['CDatabase'],
        Kernel\FakeApplication::class => ['CMain'],
        Kernel\FakeFieldManager::class => ['CUserTypeManager'],
        Kernel\Rows::class => ['Bitrix\Main\ORM\Query\Result', 'CDBResult'],
    ];

    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/../kernel/load.php';
    }

    /** @return array<string, array{string}> */
    public static function files(): array
    {
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(self::MODULE));
        $found = [];
        foreach ($files as $file) {
            $name = substr((string)$file, strlen(self::MODULE) + 1);
            $found += $file->getExtension() === 'php' ? [$name => [$name]] : [];
        }
        return $found;
    }

    /** @dataProvider files */
    public function testAFileNamesOnlyWhatTheKernelHas(string $file): void
    {
        $uses = new Uses((string)file_get_contents(self::MODULE . "/$file"));
        self::assertSame([], self::wrong($uses));
    }

    public function testAClassDeclaresNothingThatItsParentInTheKernelForbids(): void
    {
        $wrong = [];
        $seen = 0;
        require_once self::MODULE . '/install/index.php';
        foreach (array_keys(self::files()) as $file) {
            foreach (self::classesIn(self::MODULE . "/$file") as $class) {
                $wrong = [...$wrong, ...self::forbidden($class)];
                $seen++;
            }
        }
        self::assertGreaterThan(60, $seen);
        self::assertSame([], $wrong);
    }

    public function testAFakeHasTheSignaturesOfTheKernel(): void
    {
        $wrong = [];
        $seen = 0;
        foreach (self::fakes() as $fake => $played) {
            foreach ((new \ReflectionClass($fake))->getMethods() as $method) {
                if ($method->getDeclaringClass()->getName() === $fake && !$method->isPrivate()) {
                    $seen++;
                    $wrong = [...$wrong, ...self::differences($method, $played)];
                }
            }
        }
        self::assertGreaterThan(150, $seen);
        self::assertSame([], $wrong);
    }

    public function testEveryFakeIsAClassOfTheKernel(): void
    {
        $unknown = [];
        foreach (self::fakes() as $fake => $played) {
            $unknown = [...$unknown, ...array_filter($played, static fn($one) => Signatures::ofClass($one) === null
                && !Signatures::isNamed($one))];
        }
        // What an item answers for PRODUCT_ROWS is told by no signature.
        self::assertSame(['Bitrix\Crm\ProductRowCollection'], $unknown);
    }

    public function testWhatIsNotThereIsFound(): void
    {
        $uses = new Uses(<<<'PHP'
            <?php
            use Bitrix\Main\{Loader, Nowhere};
            Loader::includeModule('x', 'y');
            Loader::invent();
            (new \CUser(1))->GetUserGroup();
            $a->invented();
            echo SONET_INVENTED . \CCrmOwnerType::Invented, invented($GLOBALS['INVENTED']);
            $GLOBALS['DB']->Invent();
            \CUser::GetUserGroup(id: 1);
            PHP);
        self::assertSame([
            '2: no class Bitrix\Main\Nowhere',
            '3: Bitrix\Main\Loader::includeModule takes 1 to 1 arguments, not 2',
            '4: no method Bitrix\Main\Loader::invent',
            '5: CUser::__construct takes 0 to 0 arguments, not 1',
            '9: CUser::GetUserGroup has no parameter $id',
            '5: nobody has a method GetUserGroup with 0 arguments',
            '6: nobody has a method invented with 0 arguments',
            '8: nobody has a method Invent with 0 arguments',
            '7: no constant CCrmOwnerType::Invented',
            '7: no constant SONET_INVENTED',
            '7: no function invented',
            '7: no global INVENTED',
            '8: no method CDatabase::Invent',
        ], self::wrong($uses));
    }

    public function testTheFakesRefuseColumnsThatATableDoesNotHaveAndValuesThatDoNotFit(): void
    {
        $wrong = [
            'has no field NOWHERE' => static fn() => ChatTable::getList(['filter' => ['=NOWHERE' => 1]]),
            'has no field NEVER' => static fn() => ChatTable::add(['NEVER' => 1]),
            'TYPE takes 1 characters' => static fn() => ChatTable::add(['TYPE' => 'chat']),
        ];
        foreach ($wrong as $fault => $call) {
            try {
                $call();
                self::fail($fault);
            } catch (\LogicException | \RuntimeException $refused) {
                self::assertStringContainsString($fault, $refused->getMessage());
            }
        }
    }

    public function testAMethodThatItsParentHasOtherwiseIsFound(): void
    {
        // PHP itself would refuse to load it on a box; here its parent is a fake.
        $class = new class extends \CModule {
            public function getModuleTasks($more)
            {
            }

            public static function installTasks()
            {
            }

            protected function unInstallTasks($all = false)
            {
            }
        };
        self::assertCount(3, self::forbidden($class::class));
    }

    /** @return list<string> */
    private static function wrong(Uses $uses): array
    {
        $wrong = [];
        foreach ($uses->classes as [$line, $class]) {
            self::isKnown($class) || $wrong[] = "$line: no class $class";
        }
        foreach ($uses->static as [$line, $class, $method, $count, $names]) {
            $wrong = [...$wrong, ...self::wrongCall($line, $class, $method, $count, $names)];
        }
        foreach ($uses->instance as [$line, $method, $count]) {
            self::anybodyHas($method, $count) || $wrong[] = "$line: nobody has a method $method with $count arguments";
        }
        foreach ($uses->constants as [$line, $class, $name]) {
            $known = !self::isOfKernel($class) || Signatures::hasConstant($class, $name)
                || in_array("$class::$name", self::NEWER, true);
            $known || $wrong[] = "$line: no constant $class::$name";
        }
        foreach ($uses->globalConstants as [$line, $name]) {
            $own = isset(get_defined_constants(true)['user'][$name]) || !defined($name);
            $own && !isset(Signatures::table()['constants'][$name]) && $wrong[] = "$line: no constant $name";
        }
        foreach ($uses->functions as [$line, $name]) {
            $builtin = function_exists($name) && (new \ReflectionFunction($name))->isInternal();
            $known = $builtin || isset(Signatures::table()['functions'][strtolower($name)]);
            $known || $wrong[] = "$line: no function $name";
        }
        foreach ($uses->globals as [$line, $name, $method, $count]) {
            $class = Signatures::table()['globals'][$name] ?? null;
            $wrong = [...$wrong, ...match (true) {
                $class === null => ["$line: no global $name"],
                $method === null => [],
                default => self::wrongCall($line, $class, $method, $count, []),
            }];
        }
        return $wrong;
    }

    /** @return list<string> */
    private static function wrongCall(int $line, string $class, string $name, ?int $count, array $names): array
    {
        if (!self::isOfKernel($class) || in_array("$class::$name", self::NEWER, true)) {
            return self::isKnown($class) ? [] : ["$line: no class $class"];
        }
        $method = Signatures::method($class, $name);
        if ($method === null) {
            if (Signatures::ofClass($class) === null && Signatures::isNamed($class)) {
                return [];
            }
            return Signatures::ofClass($class) !== null && $name === '__construct' && (int)$count === 0
                ? []
                : ["$line: no method $class::$name"];
        }
        $arity = Signatures::arity($method);
        if ($arity !== null && $count !== null && ($count < $arity[0] || $count > $arity[1])) {
            return ["$line: $class::$name takes $arity[0] to $arity[1] arguments, not $count"];
        }
        $parameters = array_column($method['params'] ?? [], 'name');
        $strange = array_filter($names, static fn(string $one) => !in_array('$' . $one, $parameters, true));
        return array_values(array_map(static fn($one) => "$line: $class::$name has no parameter \$$one", $strange));
    }

    private static function isOfKernel(string $class): bool
    {
        $own = preg_match('/^(self|static|parent)$|^b24migrate/i', $class) === 1;
        $there = class_exists($class) || interface_exists($class);
        return !$own && !($there && (new \ReflectionClass($class))->isInternal());
    }

    private static function isKnown(string $class): bool
    {
        return !self::isOfKernel($class) || Signatures::ofClass($class) !== null
            || in_array($class, self::NEWER, true) || Signatures::isNamed($class)
            // a namespace that is imported for what lies in it
            || preg_grep('/^' . preg_quote($class, '/') . '\\\\/', array_keys(Signatures::table()['classes'])) !== [];
    }

    /** Whether a class of the kernel, of the module or of PHP itself has a method of this name that takes so many. */
    private static function anybodyHas(string $name, ?int $count): bool
    {
        foreach (Signatures::methodsNamed($name) as $method) {
            $arity = Signatures::arity($method);
            if ($arity === null || $count === null || ($count >= $arity[0] && $count <= $arity[1])) {
                return true;
            }
        }
        if (in_array($name, array_map(static fn($one) => substr((string)strrchr($one, ':'), 1), self::NEWER), true)) {
            return true;
        }
        // the fields of an item that the kernel answers by __call
        return in_array($name, ['getFm', 'getEntityTypeId'], true) || in_array($name, self::ownMethods(), true);
    }

    /** @return list<string> methods of the module and of PHP's own classes */
    private static function ownMethods(): array
    {
        static $names = null;
        $said = static fn(string $file) => (string)file_get_contents(self::MODULE . "/$file");
        preg_match_all('/function (\w+)\(/', implode(array_map($said, array_keys(self::files()))), $found);
        $builtin = static fn(string $class) => (new \ReflectionClass($class))->isInternal();
        $classes = array_filter([...get_declared_classes(), ...get_declared_interfaces()], $builtin);
        return $names ??= array_merge($found[1], ...array_map('get_class_methods', array_values($classes)));
    }

    /** @return list<class-string> */
    private static function classesIn(string $file): array
    {
        $source = (string)file_get_contents($file);
        preg_match('/^namespace (\S+);/m', $source, $namespace);
        preg_match_all('/^(?:final |abstract )*(?:class|interface) (\w+)/m', $source, $names);
        if (str_contains($file, '/cli/')) {
            require_once $file;
        }
        return array_map(static fn($name) => ltrim(($namespace[1] ?? '') . "\\$name", '\\'), $names[1]);
    }

    /** @return list<string> what a class declares although its parent in the kernel does not allow it */
    private static function forbidden(string $class): array
    {
        $child = new \ReflectionClass($class);
        $parent = $child->getParentClass();
        while ($parent && Signatures::ofClass($parent->getName()) === null) {
            $parent = $parent->getParentClass();
        }
        $wrong = [];
        foreach ($parent ? $child->getMethods() : [] as $method) {
            $above = Signatures::method($parent->getName(), $method->name);
            $own = $method->getDeclaringClass()->getName() === $class && !$method->isConstructor();
            if ($own && $above !== null && $above['visibility'] !== 'private') {
                $faults = self::incompatible($method, $above);
                $wrong = [...$wrong, ...array_map(static fn($fault) => "$class::$method->name: $fault", $faults)];
            }
        }
        return $wrong;
    }

    /** @return list<string> */
    private static function incompatible(\ReflectionMethod $method, array $above): array
    {
        $ranks = ['private' => 0, 'protected' => 1, 'public' => 2];
        $own = $method->isPublic() ? 'public' : ($method->isProtected() ? 'protected' : 'private');
        $mine = $method->getParameters();
        $faults = [];
        ($above['final'] ?? false) && $faults[] = 'the kernel has it final';
        $ranks[$own] < $ranks[$above['visibility']] && $faults[] = "it is {$above['visibility']} in the kernel";
        $method->isStatic() === $above['static'] || $faults[] = 'static in one of the two only';
        if ($above['params'] === null) {
            return [...$faults, 'the table does not tell its parameters'];
        }
        $must = $method->getNumberOfRequiredParameters();
        [$theirs, $most] = Signatures::arity($above);
        $fits = $must <= $theirs && ($method->isVariadic() || count($mine) >= $most);
        $fits || $faults[] = 'parameters that the kernel does not pass, or too few';
        foreach ($fits ? $above['params'] : [] as $at => $one) {
            $type = Signatures::type((string)($mine[$at] ?? end($mine))->getType(), $method->class);
            $wanted = Signatures::type($one['type'], $above['of'], strtolower((string)$one['default']) === 'null');
            in_array($type, ['', 'mixed', $wanted], true) || $faults[] = "{$one['name']} is $wanted, not $type";
        }
        $returns = Signatures::type((string)$method->getReturnType(), $above['of']);
        $promised = Signatures::type($above['returns'] ?? '', $above['of']);
        $promised === '' || $returns === $promised || $faults[] = "the kernel promises $promised, not $returns";
        return $faults;
    }

    /** @return array<class-string, list<string>> what each fake plays */
    private static function fakes(): array
    {
        $fakes = self::PLAY;
        foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $class) {
            $file = (new \ReflectionClass($class))->getFileName();
            if ($file !== false && str_contains($file, '/tests/kernel/classes/') && !str_contains($class, '@')) {
                $fakes += str_starts_with($class, 'B24migrate\\') ? [] : [$class => [$class]];
            }
        }
        return $fakes;
    }

    /** @return list<string> */
    private static function differences(\ReflectionMethod $method, array $played): array
    {
        $found = array_filter(array_map(static fn($class) => Signatures::method($class, $method->name), $played));
        $real = array_values($found)[0] ?? null;
        $name = "$method->class::$method->name";
        // helpers of the tests; constructors where the kernel itself makes the objects
        if ($real === null || $method->isConstructor() && !self::isMadeByTheModule($method->class)) {
            return [];
        }
        if ($real['params'] === null) {
            // the table knows it by name only: it must ask for nothing
            return $method->getNumberOfParameters() === 0 ? [] : ["$name: the table does not tell its parameters"];
        }
        return array_map(static fn($fault) => "$name: $fault", self::unlike($method, $real));
    }

    private static function isMadeByTheModule(string $class): bool
    {
        static $made = null;
        $sources = static fn() => array_map(
            static fn($file) => new Uses((string)file_get_contents(self::MODULE . "/$file")),
            array_keys(self::files())
        );
        $made ??= array_merge(...array_map(static fn(Uses $uses) => array_column(array_filter(
            $uses->static,
            static fn(array $call) => $call[2] === '__construct'
        ), 1), $sources()));
        return in_array($class, $made, true);
    }

    /** @return list<string> */
    private static function unlike(\ReflectionMethod $method, array $real): array
    {
        $faults = [];
        $mine = $method->getParameters();
        $method->isStatic() === $real['static'] || $faults[] = 'static in one of the two only';
        $visibility = $method->isPublic() ? 'public' : 'protected';
        $visibility === $real['visibility'] || $faults[] = "the kernel has it {$real['visibility']}";
        $most = count($real['params']);
        count($mine) === $most || $faults[] = "the kernel takes $most parameters";
        foreach (count($mine) === $most ? $real['params'] : [] as $at => $one) {
            $faults = [...$faults, ...self::unlikeParameter($mine[$at], $one, $real['of'])];
        }
        $promised = Signatures::type($real['returns'], $real['of']);
        $told = Signatures::type((string)$method->getReturnType(), $real['of']);
        $told = str_replace(strtolower($method->class), strtolower($real['of']), $told);
        $promised === '' || $promised === $told || $faults[] = "the kernel answers $promised, not $told";
        return $faults;
    }

    /** @return list<string> */
    private static function unlikeParameter(\ReflectionParameter $mine, array $real, string $class): array
    {
        $faults = [];
        $nullable = strtolower((string)$real['default']) === 'null';
        $wanted = $real['type'] === null ? '' : Signatures::type($real['type'], $class, $nullable);
        $type = Signatures::type((string)$mine->getType(), $class);
        $wanted === '' || $wanted === $type || $faults[] = "{$real['name']} is $wanted in the kernel, not $type";
        $same = $mine->isPassedByReference() === $real['by_ref'] && $mine->isVariadic() === $real['variadic'];
        $same || $faults[] = "{$real['name']} by reference or variadic in one of the two only";
        if ($mine->isOptional() !== ($real['optional'] || $real['variadic'])) {
            return [...$faults, "{$real['name']} optional in one of the two only"];
        }
        $literal = '/^(true|false|null|-?\d+|\'[^\']*\'|"[^"$]*"|\[\]|array\(\))$/i';
        if ($mine->isDefaultValueAvailable() && preg_match($literal, (string)$real['default']) === 1) {
            // a literal of the table of ours, and nothing else
            $default = eval("return {$real['default']};");
            $mine->getDefaultValue() === $default || $faults[] = "{$real['name']} = {$real['default']} in the kernel";
        }
        return $faults;
    }
}
