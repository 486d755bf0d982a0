<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\Json;

/** An object whose named members have kinds of their own; further members are carried as they are. */
final class Shape implements Kind
{
    public function __construct(private readonly array $members, private readonly array $required = [])
    {
    }

    public function check(mixed $value, Inspection $seen): void
    {
        if (!Json::isObject($value)) {
            throw $seen->refuse('must be an object');
        }
        $given = (array)$value;
        foreach ($this->required as $name) {
            if (!isset($given[$name])) {
                throw $seen->refuse("$name is missing");
            }
        }
        foreach ($this->members as $name => $kind) {
            if (isset($given[$name])) {
                $kind->check($given[$name], $seen);
            }
        }
    }
}
