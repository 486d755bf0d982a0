<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;

/** `UA` for everybody, `U12` for a user, `SG12` for a group, `DR12` for a department. */
final class Recipient implements Kind
{
    public function check(mixed $value, Inspection $seen): void
    {
        if ($value === 'UA') {
            return;
        }
        if (!is_string($value) || preg_match('/^(U|SG|DR)(\d+)$/D', $value, $parts) !== 1) {
            throw $seen->refuse('a recipient must be UA, U<id>, SG<id> or DR<id>');
        }
        $kind = match ($parts[1]) {
            'U' => Ref::user(),
            'SG' => new Ref('groups'),
            'DR' => new Ref('departments'),
        };
        $kind->check($parts[2], $seen);
    }
}
