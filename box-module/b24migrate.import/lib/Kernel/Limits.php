<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Application;
use Bitrix\Main\Config\Option;

defined('B_PROLOG_INCLUDED') || exit;

/** How much a call may carry here, from the settings of PHP and the room that is left for uploads. */
final class Limits
{
    private const ITEMS = 100;
    private const BODY = 8_000_000;
    private const CHUNK = 4 * 1024 * 1024;
    private const FILE = 1024 * 1024 * 1024;
    /** A dense body is there as text twice, and tenfold as what the kernel and as what we read of it. */
    private const COPIES_IN_MEMORY = 28;
    /** What is around the content in a call of import.files.put. */
    private const ENVELOPE = 10_000;

    /** @param callable(string): string $ini how a setting is asked for */
    public function __construct(private $ini, private readonly int $freeBytes)
    {
    }

    public static function forThisBox(): self
    {
        $folder = Application::getDocumentRoot() . '/' . Option::get('main', 'upload_dir', 'upload');
        $free = is_dir($folder) ? disk_free_space($folder) : false;
        return new self(static fn(string $name): string => (string)ini_get($name), (int)($free ?: PHP_INT_MAX));
    }

    public function toArray(): array
    {
        $memory = intdiv($this->bytes('memory_limit'), self::COPIES_IN_MEMORY);
        $body = max(100_000, min(self::BODY, $this->bytes('post_max_size'), $memory));
        $seconds = (int)($this->ini)('max_execution_time') ?: self::ITEMS;
        return [
            'items' => max(10, min(self::ITEMS, $seconds)),
            'body_bytes' => $body,
            // A file lies there twice for a moment: as the upload, and as the file that it becomes.
            'file_bytes' => min(self::FILE, intdiv($this->freeBytes, 3)),
            'chunk_bytes' => min(self::CHUNK, intdiv(($body - self::ENVELOPE) * 3, 4)),
        ];
    }

    /** `8M`, `1G`, `512K`, a plain number; 0 and -1 mean no limit. */
    private function bytes(string $setting): int
    {
        $value = trim(($this->ini)($setting));
        $unit = ['k' => 1024, 'm' => 1024 ** 2, 'g' => 1024 ** 3][strtolower(substr($value, -1))] ?? 1;
        return (int)$value > 0 ? (int)$value * $unit : PHP_INT_MAX;
    }
}
