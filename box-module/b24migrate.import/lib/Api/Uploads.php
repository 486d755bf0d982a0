<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, ItemFault};
use B24migrate\Import\Port\{Box, Entry};

defined('B_PROLOG_INCLUDED') || exit;

/** `import.files.put`: takes files in chunks. */
final class Uploads
{
    private const STREAM = 'files';
    private const HOW_FAR = -1;

    private function __construct(private readonly Box $box, private readonly string $key)
    {
    }

    public static function answer(Box $box, Arguments $body): array
    {
        $upload = new self($box, $body->text('key'));
        $offset = $body->whole('offset');
        $done = $upload->completed();
        if ($done !== null) {
            // a call that died as soon as the file was there had no time for that
            $box->uploads()->discard($upload->key);
            return $done;
        }
        $work = $offset === self::HOW_FAR ? $upload->progress(...) : $upload->prepareChunk($body, $offset);
        try {
            return $box->guard()->withLock("item:$upload->key", fn () => $upload->completed() ?? $work());
        } catch (ItemFault $fault) {
            throw new CallFault('INTERNAL_SERVER_ERROR', 500, "$fault->fault: {$fault->getMessage()}");
        }
    }

    /** @return \Closure(): array{received: int, id: ?string} judged already, and not begun yet */
    private function prepareChunk(Arguments $body, int $offset): \Closure
    {
        $announced = $this->parseFile($body);
        $chunk = $this->parseChunk($body);
        return function () use ($announced, $chunk, $offset): array {
            $upload = $this->box->uploads()->upload($this->key);
            if ($upload === null || array_diff_assoc($announced, $upload) !== []) {
                $this->box->uploads()->begin($this->key, $announced['name'], $announced['size'], $announced['sha256']);
                $upload = $announced + ['received' => 0];
            }
            if ($offset !== $upload['received'] && $upload['received'] === 0) {
                return ['received' => 0, 'id' => null];
            }
            if ($offset === $upload['received'] && $chunk !== '') {
                if ($offset + strlen($chunk) > $announced['size']) {
                    throw CallFault::malformed("$this->key: more bytes than its size of {$announced['size']}");
                }
                $this->box->uploads()->append($this->key, $offset, $chunk);
            }
            return $this->progress();
        };
    }

    /** @return ?array{received: int, id: string} of a file that is complete */
    private function completed(): ?array
    {
        $entry = $this->box->map()->entries([$this->key])[$this->key] ?? null;
        if ($entry !== null && $entry->stream !== self::STREAM) {
            throw CallFault::malformed("$this->key stands for a record of $entry->stream");
        }
        if ($entry?->id === null) {
            return null;
        }
        $file = $this->box->records(self::STREAM)->read([$entry->id])[$entry->id] ?? [];
        return ['received' => (int)($file['size'] ?? 0), 'id' => $entry->id];
    }

    /** @return array{received: int, id: ?string} with the id as soon as all of it is there */
    private function progress(): array
    {
        $upload = $this->box->uploads()->upload($this->key);
        if ($upload === null || $upload['received'] < $upload['size']) {
            return ['received' => $upload['received'] ?? 0, 'id' => null];
        }
        if ($this->box->uploads()->sha256($this->key) !== $upload['sha256']) {
            $this->box->uploads()->discard($this->key);
            throw CallFault::malformed("$this->key: the SHA-256 does not match, the upload is discarded");
        }
        return ['received' => $upload['size'], 'id' => $this->finish($upload['sha256'])];
    }

    /** The file is made once: one that an attempt made before it died is found again. */
    private function finish(string $sha256): string
    {
        $map = $this->box->map();
        $left = $this->findLeftover($sha256);
        $map->put(new Entry($this->key, self::STREAM, null, $sha256));
        $id = $left ?? $this->box->uploads()->keep($this->key);
        $map->put(new Entry($this->key, self::STREAM, $id, $sha256));
        $this->box->uploads()->discard($this->key);
        return $id;
    }

    /** What an attempt that died has made; if the file was another one then, it goes. */
    private function findLeftover(string $sha256): ?string
    {
        $intent = $this->box->map()->entries([$this->key])[$this->key] ?? null;
        $left = $intent === null ? null : $this->box->records(self::STREAM)->findLeftover($this->key, []);
        if ($left === null || $intent->digest === $sha256) {
            return $left;
        }
        $this->box->records(self::STREAM)->delete($left);
        return null;
    }

    /** @return array{name: string, size: int, sha256: string} the client's data about the whole file */
    private function parseFile(Arguments $body): array
    {
        [$name, $size, $sha256] = [$body->text('name'), $body->whole('size'), $body->text('sha256')];
        $most = $this->box->limits()['file_bytes'];
        if ($size < 0 || $size > $most) {
            throw CallFault::malformed("size must be between 0 and $most");
        }
        if (preg_match('/^[0-9a-f]{64}$/D', $sha256) !== 1) {
            throw CallFault::malformed('sha256 must be 64 lower-case hex digits');
        }
        return ['name' => $name, 'size' => $size, 'sha256' => $sha256];
    }

    private function parseChunk(Arguments $body): string
    {
        $content = $body->raw('content');
        $chunk = is_string($content) && strlen($content) % 4 === 0 ? base64_decode($content, true) : false;
        if ($chunk === false) {
            throw CallFault::malformed('content must be base64');
        }
        $most = $this->box->limits()['chunk_bytes'];
        return strlen($chunk) <= $most ? $chunk : throw CallFault::malformed("a chunk may hold at most $most bytes");
    }
}
