<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\UploadStore;
use Bitrix\Main\Application;
use Bitrix\Main\Config\Option;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Unfinished uploads, each a file of bytes and a file that tells how many of them are sure. What counts as received was
 * flushed to the disk before it was counted. The folder has a secret name, since the web server may serve its parent;
 * warnings of PHP would tell it to the caller, so they are suppressed.
 */
final class UploadFolder implements UploadStore
{
    private readonly string $folder;

    public function __construct(string $folder = '')
    {
        $this->folder = $folder ?: self::defaultFolder();
    }

    public function upload(string $key): ?array
    {
        $told = is_file($this->path($key, 'json')) ? file_get_contents($this->path($key, 'json')) : false;
        $upload = $told === false ? null : json_decode($told, true);
        return is_array($upload) ? $upload : null;
    }

    public function begin(string $key, string $name, int $size, string $sha256): void
    {
        // A call that dies from here on must not leave a note of bytes that are gone.
        $this->discard($key);
        is_dir($this->folder) || @mkdir($this->folder, 0700, true);
        self::write($this->path($key, 'part'), 0, '');
        $this->saveState($key, ['name' => $name, 'size' => $size, 'sha256' => $sha256, 'received' => 0]);
    }

    public function append(string $key, int $offset, string $bytes): void
    {
        $upload = $this->upload($key) ?? throw new \RuntimeException('there is no such upload');
        self::write($this->path($key, 'part'), $offset, $bytes);
        $this->saveState($key, ['received' => $offset + strlen($bytes)] + $upload);
    }

    public function sha256(string $key): string
    {
        return (string)@hash_file('sha256', $this->path($key, 'part'));
    }

    public function keep(string $key): string
    {
        return Files::put($key, $this->path($key, 'part'), (string)$this->upload($key)['name']);
    }

    public function discard(string $key): void
    {
        // The file with the number goes first: bytes without it are not an upload.
        foreach (['json', 'part'] as $kind) {
            is_file($this->path($key, $kind)) && @unlink($this->path($key, $kind));
        }
    }

    private static function defaultFolder(): string
    {
        $secret = Option::get(KernelBox::MODULE, 'shelf', '');
        if ($secret === '') {
            $secret = bin2hex(random_bytes(16));
            Option::set(KernelBox::MODULE, 'shelf', $secret);
        }
        $uploads = Application::getDocumentRoot() . '/' . Option::get('main', 'upload_dir', 'upload');
        return $uploads . '/' . KernelBox::MODULE . '/' . $secret;
    }

    private function path(string $key, string $kind): string
    {
        return $this->folder . '/' . hash('sha256', $key) . ".$kind";
    }

    private function saveState(string $key, array $upload): void
    {
        $path = $this->path($key, 'json');
        self::write("$path.new", 0, json_encode($upload, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
        if (!@rename("$path.new", $path)) {
            throw new \RuntimeException('the upload cannot be noted; is the disk full?');
        }
    }

    private static function write(string $path, int $offset, string $bytes): void
    {
        $file = @fopen($path, 'c+b');
        $done = $file !== false
            && ftruncate($file, $offset)
            && fseek($file, $offset) === 0
            && @fwrite($file, $bytes) === strlen($bytes)
            && fsync($file);
        $file !== false && fclose($file);
        if (!$done) {
            throw new \RuntimeException('the upload cannot be written; is the disk full?');
        }
    }
}
