<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

/**
 * What the classes and tables of the kernel look like: `signatures.json`, whose `about` says how to read it. Facts
 * about a kernel that was looked at, so that neither the module nor the fakes can name what is not there. Classes that
 * only streams of later versions of the contract need are in `signatures-later.json`, of a newer kernel.
 */
final class Signatures
{
    private static ?array $table = null;

    /** @return array<string, mixed> */
    public static function table(): array
    {
        return self::$table ??= self::withReported(array_replace_recursive(
            self::file('signatures-later.json'),
            self::file('signatures.json')
        ));
    }

    /** A box without it can have the module: it does not announce the streams that need the class. */
    public static function isOfLaterStreams(string $class): bool
    {
        return isset(self::file('signatures-later.json')['classes'][$class]);
    }

    private static function file(string $name): array
    {
        static $files = [];
        return $files[$name] ??= json_decode(
            (string)file_get_contents(__DIR__ . "/$name"),
            true,
            flags: JSON_THROW_ON_ERROR
        );
    }

    /** Classes that were not looked at themselves: what `reported` says of them, which a box need not have. */
    private static function withReported(array $table): array
    {
        foreach (glob(__DIR__ . '/reported/*.php') as $file) {
            $said = require $file;
            $table['tables'] += $said['tables'] ?? [];
            foreach (array_diff_key($said, ['tables' => 1]) as $class => $facts) {
                $methods = array_merge([], ...array_map(self::reportedMethod(...), $facts['methods'] ?? []));
                $known = $table['classes'][$class] ?? [
                    'file' => $facts['file'],
                    'extends' => $facts['extends'] ?? null,
                    'table' => $facts['table'] ?? null,
                    'constants' => $facts['constants'] ?? [],
                    'fields' => array_fill_keys(explode(' ', $facts['fields'] ?? ''), 'reported'),
                    'methods' => [],
                ];
                $table['classes'][$class] = ['methods' => $known['methods'] + $methods] + $known;
            }
        }
        return $table;
    }

    /** `static name(array $a, &$b = true): void` @return array<string, array<string, mixed>> by its name in lower case */
    private static function reportedMethod(string $said): array
    {
        preg_match('/^(static )?(\w+)\((.*)\)(?:: (\S+))?$/', $said, $found);
        $params = [];
        foreach ($found[3] === '' ? [] : preg_split('/, (?=[\w\\\\?|]* ?&?\$)/', $found[3]) as $one) {
            preg_match('/^(?:([\w\\\\?|]+) )?(&)?(\$\w+)(?: = (.*))?$/', $one, $part);
            $params[] = [
                'name' => $part[3], 'type' => $part[1] ?: null, 'optional' => isset($part[4]),
                'default' => $part[4] ?? null, 'by_ref' => $part[2] === '&', 'variadic' => false,
            ];
        }
        return [strtolower($found[2]) => [
            'name' => $found[2], 'static' => $found[1] !== '', 'visibility' => 'public', 'params' => $params,
            'returns' => $found[4] ?? null, 'reported' => true,
        ]];
    }

    /** @return ?array<string, mixed> */
    public static function ofClass(string $class): ?array
    {
        $table = self::table();
        return $table['classes'][$table['aliases'][$class] ?? $class] ?? null;
    }

    /** @return list<string> the class and those above it, interfaces included */
    public static function lineage(string $class): array
    {
        $known = self::ofClass($class);
        if ($known === null) {
            return [];
        }
        $above = [...array_filter([$known['extends']]), ...($known['implements'] ?? [])];
        return array_merge([$class], ...array_map(self::lineage(...), $above));
    }

    /** A method of a class or of one above it; `params` is null where only its name is known. Names ignore case. */
    public static function method(string $class, string $name): ?array
    {
        $name = strtolower($name);
        foreach (self::lineage($class) as $one) {
            $known = self::ofClass($one);
            if (isset($known['methods'][$name])) {
                return ['of' => $one] + $known['methods'][$name];
            }
            foreach ($known['more'] ?? [] as $how => $names) {
                if (in_array($name, array_map('strtolower', $names), true)) {
                    $static = str_contains($how, 'static');
                    return ['of' => $one, 'params' => null, 'static' => $static, 'visibility' => 'public'];
                }
            }
        }
        return null;
    }

    /** A class of which nothing is known but that the kernel takes or gives it. */
    public static function isNamed(string $class): bool
    {
        static $named = [];
        if ($named === []) {
            $table = self::table();
            array_walk_recursive($table, static function (mixed $value, mixed $key) use (&$named): void {
                $types = in_array($key, ['type', 'returns', 'returns_doc'], true) ? explode('|', (string)$value) : [];
                $named += array_fill_keys(array_map(static fn(string $one) => trim($one, '?[]'), $types), true);
            });
        }
        return isset($named[$class]);
    }

    /** What is too long for its column, which one database cuts and the other refuses: here it is refused. */
    public static function refuseTooLong(?string $table, array $row): void
    {
        foreach (array_intersect_key(self::table()['tables'][$table] ?? [], $row) as $column => $kind) {
            $most = preg_match('/^(?:var)?char\((\d+)\)/', $kind, $found) === 1 ? (int)$found[1] : PHP_INT_MAX;
            if (is_string($row[$column]) && mb_strlen($row[$column]) > $most) {
                throw new \RuntimeException("$column takes $most characters");
            }
        }
    }

    public static function hasConstant(string $class, string $name): bool
    {
        $has = static fn(string $one) => in_array($name, self::ofClass($one)['constants'], true);
        return array_filter(self::lineage($class), $has) !== [];
    }

    /** @return list<array<string, mixed>> every method of this name, whose ever it is */
    public static function methodsNamed(string $name): array
    {
        static $found = [];
        $of = static fn(string $class) => self::method($class, $name);
        return $found[$name] ??= array_values(array_filter(array_map($of, array_keys(self::table()['classes']))));
    }

    /** @return ?array{int, int} how many arguments a method takes; null where nobody knows */
    public static function arity(array $method): ?array
    {
        if ($method['params'] === null) {
            return null;
        }
        $must = count(array_filter($method['params'], static fn(array $one) => !$one['optional'] && !$one['variadic']));
        $variadic = array_filter(array_column($method['params'], 'variadic')) !== [];
        return [$must, $variadic ? PHP_INT_MAX : count($method['params'])];
    }

    /** How a type is spelled, whoever spells it: without slashes, its parts in order, `self` by its name. */
    public static function type(?string $type, string $class, bool $nullByDefault = false): string
    {
        $type = strtolower(str_replace('?', 'null|', (string)$type));
        $parts = $type === '' ? [] : explode('|', $type . ($nullByDefault ? '|null' : ''));
        $own = array_fill_keys(['self', 'static', '$this'], strtolower($class));
        $spell = static fn(string $part) => $own[$part] ?? ltrim($part, '\\');
        $parts = array_unique(array_map($spell, $parts));
        sort($parts);
        return implode('|', $parts);
    }
}
