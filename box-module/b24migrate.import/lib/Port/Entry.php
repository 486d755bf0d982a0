<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** A row of the map: what a key stands for. Without an id it is an intent: somebody began, and may have died. */
final class Entry
{
    /** @param string $print fingerprint of the record as it was read back after its import; empty when it was not */
    public function __construct(
        public readonly string $key,
        public readonly string $stream,
        public readonly ?string $id,
        public readonly string $digest,
        public readonly bool $linked = false,
        public readonly string $fingerprint = ''
    ) {
    }

    public function withId(string $id): self
    {
        return new self($this->key, $this->stream, $id, $this->digest);
    }

    public function withFingerprint(string $fingerprint): self
    {
        return new self($this->key, $this->stream, $this->id, $this->digest, $this->linked, $fingerprint);
    }
}
