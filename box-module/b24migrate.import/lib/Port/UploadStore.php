<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** Where uploads grow chunk by chunk, and where complete files go. */
interface UploadStore
{
    /** @return ?array{name: string, size: int, sha256: string, received: int} an unfinished upload */
    public function upload(string $key): ?array;

    /** Begins an upload anew: what was there of it is forgotten. */
    public function begin(string $key, string $name, int $size, string $sha256): void;

    /** Appends at this offset, durably; bytes behind the offset, left by a call that died, are overwritten. */
    public function append(string $key, int $offset, string $bytes): void;

    public function sha256(string $key): string;

    /** Makes a file of the box from a complete upload, which may be asked for again until `discard`. */
    public function keep(string $key): string;

    public function discard(string $key): void;
}
