<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Json;
use B24migrate\Import\Port\Records;

/** Tells whether a record still looks as it did after its import. */
final class Fingerprint
{
    /**
     * Of everything that the box says about a record, but for what it changes by itself and for what is empty: a
     * custom field that somebody adds to the box later is empty everywhere, and nobody's change.
     */
    public static function of(array $fields, Records $records): string
    {
        $steady = array_diff_key($fields, array_flip($records->restless()));
        $filled = array_filter($steady, static fn ($value) => !in_array($value, [null, '', []], true));
        return hash('sha256', Json::canonical($filled));
    }
}
