<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;
use B24migrate\Import\Contract\ItemFault;

/** What a field may hold. */
interface Kind
{
    /** @throws ItemFault */
    public function check(mixed $value, Inspection $seen): void;
}
