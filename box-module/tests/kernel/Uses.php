<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel;

/** What a file of the module names: classes, methods, constants, functions and globals, read from its tokens. */
final class Uses
{
    private const IGNORED = [T_WHITESPACE, T_COMMENT, T_DOC_COMMENT, T_OPEN_TAG, T_INLINE_HTML, T_CLOSE_TAG];
    private const DECLARES = [T_FUNCTION, T_CONST, T_CLASS, T_INTERFACE, T_NAMESPACE];
    private const NAMES = [T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED];
    private const ARROWS = [T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR];

    /** @var list<array{int, string}> line and class */
    public array $classes = [];
    /** @var list<array{int, string, string, ?int, list<string>}> line, class, method, arguments (null: not told), names */
    public array $static = [];
    /** @var list<array{int, string, ?int}> line, method, arguments: of what class is not known */
    public array $instance = [];
    /** @var list<array{int, string, string}> line, class, constant */
    public array $constants = [];
    /** @var list<array{int, string}> */
    public array $globalConstants = [];
    /** @var list<array{int, string}> */
    public array $functions = [];
    /** @var list<array{int, string, ?string, ?int}> line, name, method, arguments */
    public array $globals = [];
    /** @var array<string, string> short names of classes */
    private array $imports = [];
    private string $namespace = '';
    private bool $inClass = false;
    /** @var list<\PhpToken> */
    private array $tokens;

    public function __construct(string $source)
    {
        $all = \PhpToken::tokenize($source, TOKEN_PARSE);
        $this->tokens = array_values(array_filter($all, static fn($token) => !$token->is(self::IGNORED)));
        for ($at = 0; $at < count($this->tokens); $at++) {
            $token = $this->tokens[$at];
            match (true) {
                $token->is(T_NAMESPACE) => $this->namespace = $this->tokens[$at + 1]->text,
                $token->is([T_CLASS, T_TRAIT]) => $this->inClass = true,
                $token->is(T_USE) && $this->is($at + 1, self::NAMES) && !$this->inClass => $at = $this->import($at + 1),
                $token->is(self::NAMES) => $this->name($at, $token),
                $token->is(T_CONSTANT_ENCAPSED_STRING) => $this->quoted($token),
                $token->text === '$GLOBALS' => $this->superglobal($at, $token),
                default => null,
            };
        }
    }

    private function is(int $at, array|int|string $kind): bool
    {
        return isset($this->tokens[$at]) && $this->tokens[$at]->is($kind);
    }

    /** @return int where the statement ends */
    private function import(int $at): int
    {
        $prefix = $this->is($at + 1, T_NS_SEPARATOR) ? $this->tokens[$at]->text . '\\' : '';
        for (; !$this->is($at, ';'); $at++) {
            if ($this->is($at, self::NAMES) && $this->is($at + 1, [',', '}', ';', T_AS])) {
                $full = $prefix . $this->tokens[$at]->text;
                $alias = $this->is($at + 1, T_AS) ? $this->tokens[$at += 2]->text : $full;
                $this->imports[substr((string)strrchr("\\$alias", '\\'), 1)] = $full;
                $this->classes[] = [$this->tokens[$at]->line, $full];
            }
        }
        return $at;
    }

    private function resolved(\PhpToken $token): string
    {
        return match (true) {
            $token->is(T_NAME_FULLY_QUALIFIED) => ltrim($token->text, '\\'),
            isset($this->imports[$token->text]) => $this->imports[$token->text],
            default => trim("$this->namespace\\$token->text", '\\'),
        };
    }

    private function name(int $at, \PhpToken $token): void
    {
        $line = $token->line;
        if ($this->is($at - 1, self::ARROWS)) {
            if ($this->is($at + 1, '(')) {
                $this->instance[] = [$line, $token->text, $this->arguments($at + 1)[0]];
            }
        } elseif ($this->is($at - 1, [T_DOUBLE_COLON, ...self::DECLARES])) {
            return;
        } elseif ($this->is($at + 1, T_DOUBLE_COLON)) {
            $this->member($at, $this->resolved($token));
        } elseif ($this->is($at - 1, T_NEW)) {
            [$count, $names] = $this->is($at + 1, '(') ? $this->arguments($at + 1) : [0, []];
            $this->static[] = [$line, $this->resolved($token), '__construct', $count, $names];
        } elseif ($this->is($at + 1, '(')) {
            $this->functions[] = [$line, ltrim($token->text, '\\')];
        } elseif ($token->is(T_NAME_FULLY_QUALIFIED) || isset($this->imports[$token->text])) {
            $this->classes[] = [$line, $this->resolved($token)];
        } elseif (preg_match('/^[A-Z][A-Z0-9_]+$/', $token->text) === 1 && !$this->is($at + 1, ['=', ':'])) {
            $this->globalConstants[] = [$line, $token->text];
        }
    }

    private function member(int $at, string $class): void
    {
        $member = $this->tokens[$at + 2];
        if ($this->is($at + 3, '(')) {
            $this->static[] = [$member->line, $class, $member->text, ...$this->arguments($at + 3)];
        } elseif ($member->text === 'class' || $member->is(T_VARIABLE)) {
            $this->classes[] = [$member->line, $class];
        } else {
            $this->constants[] = [$member->line, $class, $member->text];
        }
    }

    private function quoted(\PhpToken $token): void
    {
        $text = stripslashes(trim($token->text, '\'"'));
        if (preg_match('/^\\\\?Bitrix(\\\\\w+)+$/', $text) === 1) {
            $this->classes[] = [$token->line, ltrim($text, '\\')];
        }
    }

    private function superglobal(int $at, \PhpToken $token): void
    {
        $calls = $this->is($at + 4, self::ARROWS) && $this->is($at + 6, '(');
        $method = $calls ? $this->tokens[$at + 5]->text : null;
        $count = $calls ? $this->arguments($at + 6)[0] : null;
        $this->globals[] = [$token->line, trim($this->tokens[$at + 2]->text, '\''), $method, $count];
    }

    /** @return array{?int, list<string>} how many from the bracket on, null where it cannot be seen; and their names */
    private function arguments(int $at): array
    {
        [$depth, $count, $names, $any] = [0, 0, [], false];
        for (;; $at++) {
            $depth += $this->is($at, ['(', '[', '{', T_CURLY_OPEN]) ? 1 : ($this->is($at, [')', ']', '}']) ? -1 : 0);
            if ($depth === 0) {
                return [$any ? $count + 1 : 0, $names];
            }
            if ($depth === 1 && $this->is($at, T_ELLIPSIS)) {
                return [null, []];
            }
            if ($depth === 1 && $this->is($at, ',') && !$this->is($at + 1, ')')) {
                $count++;
            }
            if ($depth === 1 && $this->is($at, ['(', ',']) && $this->is($at + 1, T_STRING) && $this->is($at + 2, ':')) {
                $names[] = $this->tokens[$at + 1]->text;
            }
            $any = $any || !$this->is($at, ['(', ')']) || $depth > 1;
        }
    }
}
