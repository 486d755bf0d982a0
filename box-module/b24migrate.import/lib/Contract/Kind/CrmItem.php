<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract\Kind;

use B24migrate\Import\Contract\Inspection;

/**
 * A reference to a record of the CRM whose type is told beside its id: by the field's own name (`parentId<n>`), or in
 * the value (`D_12`, `C_12`, `CO_12`, and `T9c_12` for an item of the smart process 0x9c).
 */
final class CrmItem implements Kind
{
    public const STATIC_TYPES = ['1', '2', '3', '4', '5', '6', '7', '31'];
    private const STREAMS = ['2' => 'crm_deals', '3' => 'crm_contacts', '4' => 'crm_companies'];
    private const LETTERS = ['D' => '2', 'C' => '3', 'CO' => '4', 'L' => '1', 'Q' => '7', 'SI' => '31'];

    /** @param \Closure(mixed, Inspection): array{string, string} $typeAndId */
    private function __construct(private readonly \Closure $typeAndId)
    {
    }

    public static function parent(): self
    {
        return new self(static function (mixed $value, Inspection $seen): array {
            if (!is_string($value)) {
                throw $seen->refuse('an id must be a string');
            }
            return [substr($seen->field, strlen('parentId')), $value];
        });
    }

    public static function binding(): self
    {
        return new self(static function (mixed $value, Inspection $seen): array {
            $pattern = '/^(?:(D|CO?|L|Q|SI)|T([0-9a-f]{1,15}))_(\d+)$/D';
            if (!is_string($value) || preg_match($pattern, $value, $parts) !== 1) {
                throw $seen->refuse('must be a link to the CRM such as D_12');
            }
            return [$parts[1] !== '' ? self::LETTERS[$parts[1]] : (string)hexdec($parts[2]), $parts[3]];
        });
    }

    /** A type of the CRM: a smart process, or one that every box has. */
    public static function type(): Ref
    {
        return new Ref('crm_types', 'TYPE_NOT_FOUND', self::STATIC_TYPES);
    }

    public function check(mixed $value, Inspection $seen): void
    {
        [$type, $id] = ($this->typeAndId)($value, $seen);
        self::type()->check($type, $seen);
        if (isset(self::STREAMS[$type])) {
            $seen->refer(self::STREAMS[$type], $id, 'PARENT_NOT_FOUND');
        } elseif (($seen->referAndRead('crm_spitems', $id, 'PARENT_NOT_FOUND')['entityTypeId'] ?? null) !== $type) {
            throw $seen->missing('PARENT_NOT_FOUND', "type $type has no item $id");
        }
    }
}
