<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Port\Box;

defined('B_PROLOG_INCLUDED') || exit;

/** What a client asks before it sends anything. */
final class Info
{
    public const CONTRACT = 1;
    public const MODULE = 'b24migrate.import';

    public static function answer(Box $box, array $entities): array
    {
        return [
            'contract' => self::CONTRACT,
            'server' => self::MODULE . '/' . ($box->versions()[self::MODULE] ?? '0'),
            'timezone' => $box->timezone(),
            'entities' => $entities,
            'streams' => array_values(array_filter(self::streams($box, $entities), Catalog::isOfLaterVersion(...))),
            'limits' => $box->limits(),
        ];
    }

    /**
     * `import.fidelity`: fields that this box does not keep as they are, each with the reason in a sentence; its
     * last self-test has found some of them.
     */
    public static function fidelity(Box $box, array $entities): array
    {
        $rules = [];
        foreach (self::streams($box, $entities) as $stream) {
            $records = $box->records($stream);
            foreach (['lost' => $records->losses(), 'approximated' => $records->approximations()] as $keeping => $of) {
                foreach ($of as $field => $reason) {
                    $rules[] = ['stream' => $stream, 'field' => $field, 'keeping' => $keeping, 'reason' => $reason];
                }
            }
        }
        // the gateways' own reason is better than that of the self-test
        $said = array_map(static fn (array $rule) => "{$rule['stream']}.{$rule['field']}", $rules);
        $new = static fn (array $rule) => !in_array("{$rule['stream']}.{$rule['field']}", $said, true);
        return ['rules' => [...$rules, ...array_values(array_filter($box->findings(), $new))]];
    }

    /** @return list<string> of these entities, without those of later versions that this box does not serve */
    private static function streams(Box $box, array $entities): array
    {
        $served = $box->streams();
        $isServed = static fn (string $name) => !Catalog::isOfLaterVersion($name) || in_array($name, $served, true);
        return array_values(array_filter(array_keys(Catalog::streams($entities)), $isServed));
    }

    /** `import.users.match`: users the box already has, imported or not. */
    public static function match(Box $box, Arguments $body): array
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
