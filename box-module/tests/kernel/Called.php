<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

/**
 * Which methods of the kernel the module calls by name, and which it has anew in classes of its own (`~`): what
 * `install/kernel.php` must say, but for what only streams of later versions of the contract need.
 * `php -r 'require "tests/autoload.php"; …; echo Called::asPhp();'` writes it.
 */
final class Called
{
    private const LIB = __DIR__ . '/../../b24migrate.import/lib';

    /** @return array<string, array<string, string>> methods by module and class */
    public static function byModule(): array
    {
        require_once __DIR__ . '/load.php';
        $found = [];
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(self::LIB)) as $file) {
            // comments on tasks are written in one of two ways, and a box has the methods of one of them
            $isOfEveryBox = !in_array($file->getBasename('.php'), ['TaskForumComments', 'TaskChatComments'], true);
            if ($file->getExtension() === 'php' && $isOfEveryBox) {
                $found = array_merge_recursive($found, self::inFile((string)$file));
            }
        }
        $lines = [];
        foreach ($found as $class => $methods) {
            $methods = array_map(static fn(mixed $counts) => max((array)$counts), $methods);
            ksort($methods);
            $said = array_map(static fn(string $name, int $count) => "$name:$count", array_keys($methods), $methods);
            $module = explode('/', Signatures::ofClass($class)['file'])[1];
            $lines[$module][$class] = implode(' ', $said);
        }
        ksort($lines);
        return array_map(static function (array $classes): array {
            ksort($classes);
            return $classes;
        }, $lines);
    }

    public static function asPhp(): string
    {
        $said = "<?php\n\n// Methods of the kernel that the module calls, with how many arguments, and those that it "
            . "has anew (~), by module:\n// what has to be there before it may be installed. A test writes this list "
            . "and compares it.\n\ndefined('B_PROLOG_INCLUDED') || exit;\n\nreturn [\n";
        foreach (self::byModule() as $module => $classes) {
            $said .= "    '$module' => [\n";
            foreach ($classes as $class => $methods) {
                $line = "        '$class' => '$methods',\n";
                $folded = wordwrap($methods, 100, " '\n            . '");
                $folded = "        '$class'\n            => '$folded',\n";
                $said .= strlen($line) <= 121 ? $line : $folded;
            }
            $said .= "    ],\n";
        }
        return "$said];\n";
    }

    /** @return iterable<array{string, string, int}> those by name, and those of objects that the file itself makes */
    private static function calls(Uses $uses): iterable
    {
        foreach ($uses->static as [, $class, $method, $count]) {
            if ($method !== '__construct' || $count > 0) {
                yield from $count === null ? [] : [[$class, $method, $count]];
            }
            foreach ($method === '__construct' ? $uses->instance : [] as [, $name, $given]) {
                $arity = Signatures::arity(Signatures::method($class, $name) ?? ['params' => null]);
                // a fake has what the module asks of its class
                $asked = method_exists($class, $name) && $arity !== null && $given !== null;
                if ($asked && $given >= $arity[0] && $given <= $arity[1]) {
                    yield [$class, $name, $given];
                }
            }
        }
    }

    /** @return array<string, array<string, int>> */
    private static function inFile(string $file): array
    {
        $found = [];
        foreach (self::calls(new Uses((string)file_get_contents($file))) as [$class, $method, $count]) {
            $known = Signatures::method($class, $method);
            // every table of the ORM has the methods of all of them
            $ofAll = $known === null || $known['of'] === 'Bitrix\Main\ORM\Data\DataManager';
            $isOptional = isset($known['reported']) || Signatures::isOfLaterStreams($class);
            if (!$ofAll && $known['visibility'] === 'public' && !$isOptional) {
                $found[$class][$method] = max($count, $found[$class][$method] ?? 0);
            }
        }
        $class = 'B24migrate\\Import\\' . strtr(substr($file, strlen(self::LIB) + 1, -4), '/', '\\');
        $parent = class_exists($class) ? get_parent_class($class) : false;
        foreach ($parent ? (new \ReflectionClass($class))->getMethods() : [] as $method) {
            $known = Signatures::method($parent, $method->name);
            if ($method->class === $class && $known !== null && $known['visibility'] !== 'private') {
                $found[$parent]["~$method->name"] = count($known['params'] ?? []);
            }
        }
        return $found;
    }
}
