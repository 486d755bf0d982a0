<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

/** Where the process may be made to die. */
interface Accidents
{
    /** Does not return when it was arranged that the process dies at this point. */
    public function at(string $point): void;
}
