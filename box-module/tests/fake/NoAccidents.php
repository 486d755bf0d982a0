<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

final class NoAccidents implements Accidents
{
    public function at(string $point): void
    {
    }
}
