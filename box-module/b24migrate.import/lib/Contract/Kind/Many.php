<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\Json;

/** A list, each element of one kind. */
final class Many implements Kind
{
    public function __construct(private readonly Kind $of)
    {
    }

    public function check(mixed $value, Inspection $seen): void
    {
        if (!Json::isList($value)) {
            throw $seen->refuse('must be a list');
        }
        foreach ($value as $element) {
            $this->of->check($element, $seen);
        }
    }
}
