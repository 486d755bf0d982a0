<?php

// Prints every function longer than so many lines, counted from its first word to its last brace:
//     php box-module/tests/lengths.php 40 <files>

declare(strict_types=1);

/** @return iterable<array{string, int, int}> name, first line and last line */
function functionsOf(string $source): iterable
{
    $tokens = \PhpToken::tokenize($source, TOKEN_PARSE);
    foreach ($tokens as $place => $token) {
        if ($token->is(T_FUNCTION)) {
            $last = lastLine($tokens, $place);
            yield [nameAfter($tokens, $place), $token->line, $last ?? $token->line];
        }
    }
}

/** @param list<\PhpToken> $tokens */
function nameAfter(array $tokens, int $place): string
{
    while (!$tokens[$place]->is([T_STRING, '('])) {
        $place++;
    }
    return $tokens[$place]->is(T_STRING) ? $tokens[$place]->text : 'a closure';
}

/**
 * @param list<\PhpToken> $tokens
 * @return ?int null where it has no body
 */
function lastLine(array $tokens, int $place): ?int
{
    $depth = 0;
    for (; isset($tokens[$place]); $place++) {
        if ($tokens[$place]->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES])) {
            $depth++;
        } elseif ($tokens[$place]->is('}') && --$depth === 0) {
            return $tokens[$place]->line;
        } elseif ($tokens[$place]->is(';') && $depth === 0) {
            return null;
        }
    }
    return null;
}

[, $most, ] = $argv;
foreach (array_slice($argv, 2) as $file) {
    foreach (functionsOf((string)file_get_contents($file)) as [$name, $first, $last]) {
        if ($last - $first + 1 > (int)$most) {
            echo "$file:$first: $name has ", $last - $first + 1, " lines, more than $most\n";
        }
    }
}
