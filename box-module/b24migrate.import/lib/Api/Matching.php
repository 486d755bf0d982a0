<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Port\Box;

/** `import.users.match`: users the box already has, imported or not. */
final class Matching
{
    /** @return array{items: list<array{email: string, id: string}>} */
    public static function answer(Box $box, Arguments $body): array
    {
        $items = [];
        foreach ($body->texts('emails', Arguments::MOST_KEYS) as $email) {
            $id = trim($email) === '' ? null : $box->records('users')->find(['EMAIL' => $email]);
            if ($id !== null) {
                $items[] = ['email' => $email, 'id' => $id];
            }
        }
        return ['items' => $items];
    }
}
