<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use PHPUnit\Framework\TestCase;

/** Doors open one way: Rest knows all, Kernel and Api know Port and Contract, and only Rest and Kernel know the box. */
final class RoomsTest extends TestCase
{
    private const LIB = __DIR__ . '/../../b24migrate.import/lib';
    private const STRANGERS = [
        'Contract' => ['Api', 'Kernel', 'Port', 'Rest'],
        'Port' => ['Api', 'Kernel', 'Rest'],
        'Api' => ['Kernel', 'Rest'],
        'Kernel' => ['Api', 'Rest'],
    ];

    public function testRoomsDoNotNameTheirStrangers(): void
    {
        foreach (self::STRANGERS as $room => $strangers) {
            foreach ($this->sources($room) as $file => $code) {
                foreach ($strangers as $stranger) {
                    $this->assertStringNotContainsString("B24migrate\\Import\\$stranger\\", $code, $file);
                }
            }
        }
    }

    public function testOnlyTheKernelAndTheServiceNameClassesOfTheBox(): void
    {
        foreach (['Contract', 'Port', 'Api'] as $room) {
            foreach ($this->sources($room) as $file => $code) {
                $box = '/\bBitrix\\\\|\\\\C[A-Z][A-Za-z]+::|\$GLOBALS/';
                $this->assertDoesNotMatchRegularExpression($box, $code, $file);
            }
        }
    }

    /** @return array<string, string> by file, without comments */
    private function sources(string $room): array
    {
        $sources = [];
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(self::LIB . "/$room"));
        foreach ($files as $file) {
            if ($file->getExtension() === 'php') {
                $sources[$file->getFilename()] = php_strip_whitespace($file->getPathname());
            }
        }
        $this->assertNotSame([], $sources);
        return $sources;
    }
}
