<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** Which value of a list on the box is which of those that are sent. */
final class ListValues
{
    /**
     * XML_IDs are compared first, because two values may have the same spelling.
     *
     * @param list<mixed> $sent objects with id, value and xmlId
     * @param list<array<string, mixed>> $there
     * @return array<string, string> ids of the box by those of the source
     */
    public static function match(array $sent, array $there): array
    {
        $matched = [];
        foreach (['xmlId', 'value'] as $name) {
            foreach (array_map(static fn (mixed $one): array => (array)$one, $sent) as $option) {
                $wish = $option[$name] ?? '';
                $same = $wish === '' ? [] : array_filter($there, static fn ($mine) => ($mine[$name] ?? '') === $wish);
                if (!isset($matched[$option['id']]) && $same !== []) {
                    $matched[$option['id']] = reset($same)['id'];
                    unset($there[key($same)]);
                }
            }
        }
        return $matched;
    }
}
