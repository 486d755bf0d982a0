<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

/** A point where something breaks as often as told: what a unit test can have of a death. */
final class Mishap implements Accidents
{
    public ?string $point = null;
    public int $times = 0;

    public function at(string $point): void
    {
        if ($point === $this->point && $this->times-- > 0) {
            throw new \TypeError("broken $point");
        }
    }
}
