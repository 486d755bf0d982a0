<?php

// Finds classes as the box does: by namespace, below lib/; and the fakes beside the tests, in rooms of small letters.

declare(strict_types=1);

define('B_PROLOG_INCLUDED', true);

spl_autoload_register(static function (string $class): void {
    $rooms = [
        'B24migrate\\Import\\Tests\\Fake\\' => __DIR__ . '/fake/',
        'B24migrate\\Import\\Tests\\Kernel\\' => __DIR__ . '/kernel/',
        'B24migrate\\Import\\Tests\\Unit\\' => __DIR__ . '/unit/',
        'B24migrate\\Import\\' => __DIR__ . '/../b24migrate.import/lib/',
    ];
    foreach ($rooms as $namespace => $folder) {
        if (str_starts_with($class, $namespace)) {
            $file = $folder . strtr(substr($class, strlen($namespace)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
            }
            return;
        }
    }
});
