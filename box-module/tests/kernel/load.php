<?php

// The kernel that the gateways see in the tests: every fake of a class of the box.

declare(strict_types=1);

foreach (glob(__DIR__ . '/classes/*.php') as $file) {
    require_once $file;
}
