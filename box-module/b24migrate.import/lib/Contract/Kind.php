<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What a field may hold, by a word: each becomes a check of a value, which throws an ItemFault. `[word]` is a list.
 */
final class Kind
{
    public const CRM_TYPES_OF_EVERY_BOX = ['1', '2', '3', '4', '5', '6', '7', '31'];
    public const CRM_STREAMS = [
        '1' => 'crm_leads', '2' => 'crm_deals', '3' => 'crm_contacts', '4' => 'crm_companies', '7' => 'crm_quotes',
        '31' => 'crm_invoices',
    ];
    private const REQUISITES = '8';

    /** Ids: of which stream, the error code when there is none, and which need no record behind them. */
    private const REFERENCES = [
        'user' => ['users', 'USER_NOT_FOUND'],
        'author' => ['users', 'USER_NOT_FOUND', ['0']],
        'owner' => ['users', 'OWNER_NOT_FOUND'],
        'file' => ['files', 'FILE_NOT_FOUND'],
        'department' => ['departments', 'PARENT_NOT_FOUND'],
        'group' => ['groups', 'PARENT_NOT_FOUND'],
        'chat' => ['chats', 'CHAT_NOT_FOUND'],
        'post' => ['feed_posts', 'PARENT_NOT_FOUND'],
        'task' => ['tasks', 'PARENT_NOT_FOUND'],
        'checklist' => ['task_checklists', 'PARENT_NOT_FOUND'],
        'smart process' => ['crm_types', 'TYPE_NOT_FOUND'],
        'type' => ['crm_types', 'TYPE_NOT_FOUND', self::CRM_TYPES_OF_EVERY_BOX],
        'category' => ['crm_categories', 'PARENT_NOT_FOUND', [CrmRules::DEFAULT_PIPELINE]],
        'company' => ['crm_companies', 'PARENT_NOT_FOUND'],
        'contact' => ['crm_contacts', 'PARENT_NOT_FOUND'],
        'lead' => ['crm_leads', 'PARENT_NOT_FOUND'],
        'deal' => ['crm_deals', 'PARENT_NOT_FOUND'],
        'quote' => ['crm_quotes', 'PARENT_NOT_FOUND'],
        'measure' => ['crm_measures', 'PARENT_NOT_FOUND'],
        'vat' => ['crm_vats', 'PARENT_NOT_FOUND'],
        'price type' => ['crm_price_types', 'PARENT_NOT_FOUND'],
        'section' => ['crm_catalog_sections', 'PARENT_NOT_FOUND'],
        'product' => ['crm_products', 'PARENT_NOT_FOUND'],
        'preset' => ['crm_requisite_presets', 'PARENT_NOT_FOUND'],
        'requisite' => ['crm_requisites', 'PARENT_NOT_FOUND'],
        'bank detail' => ['crm_bank_details', 'PARENT_NOT_FOUND'],
        'activity' => ['crm_activities', 'PARENT_NOT_FOUND'],
        'timeline comment' => ['crm_comments', 'PARENT_NOT_FOUND'],
    ];
    /** Objects: what of them is known; further members are carried as they are. */
    private const OBJECTS = [
        'member' => ['user' => 'ID!', 'text' => 'TYPE'],
        'multifield' => ['text' => 'typeId! value! valueType'],
        'product row' => [
            'text' => 'productName measureCode',
            'number' => 'price quantity discountRate discountSum taxRate',
            'flag' => 'taxIncluded',
            'int' => 'sort discountTypeId',
            'product' => 'productId',
        ],
        'communication' => ['text' => 'TYPE! VALUE', 'crm owner' => 'owner'],
        'preset field' => ['text' => 'FIELD_NAME! FIELD_TITLE', 'int' => 'SORT', 'flag' => 'IN_SHORT_LIST'],
        'list value' => ['text' => 'id! value! xmlId', 'int' => 'sort', 'flag' => 'default'],
    ];
    private const RECIPIENTS = ['U' => 'user', 'SG' => 'group', 'DR' => 'department'];
    private const CRM_LETTERS = ['D' => '2', 'C' => '3', 'CO' => '4', 'L' => '1', 'Q' => '7', 'SI' => '31'];
    private const DAY = '(\d{4})-(\d\d)-(\d\d)';
    private const CLOCK = 'T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z';

    /** @return \Closure(mixed, Inspection): void */
    public static function of(string $word): \Closure
    {
        return match (true) {
            $word[0] === '[' => self::many(self::of(trim($word, '[]'))),
            isset(self::REFERENCES[$word]) => self::reference(...self::REFERENCES[$word]),
            isset(self::OBJECTS[$word]) => self::shape(...self::named(self::OBJECTS[$word])),
            $word === 'recipient' => self::recipient(...),
            $word === 'crm parent' => self::crmParent(...),
            $word === 'crm link' => self::crmLink(...),
            $word === 'crm owner' => self::crmOwner(...),
            $word === 'property values' => self::propertyValues(...),
            default => self::plain(...self::condition($word)),
        };
    }

    /**
     * @param array<string, string> $fields names by kind; those with a `!` must be there
     * @return array{array<string, \Closure>, list<string>} kinds by name, and what must be there
     */
    public static function named(array $fields): array
    {
        $kinds = $required = [];
        foreach ($fields as $word => $names) {
            foreach (explode(' ', $names) as $name) {
                $kinds[rtrim($name, '!')] = self::of($word);
                $required = [...$required, ...(str_ends_with($name, '!') ? [rtrim($name, '!')] : [])];
            }
        }
        return [$kinds, $required];
    }

    public static function many(\Closure $one): \Closure
    {
        return static function (mixed $value, Inspection $seen) use ($one): void {
            foreach (Json::isList($value) ? $value : throw $seen->refuse('must be a list') as $element) {
                $one($element, $seen);
            }
        };
    }

    /** A value that can be judged by itself. */
    public static function plain(string $wanted, \Closure $accepts): \Closure
    {
        return static function (mixed $value, Inspection $seen) use ($wanted, $accepts): void {
            $accepts($value) ?: throw $seen->refuse("must be $wanted");
        };
    }

    /** @return array{string, \Closure(mixed): bool} */
    private static function condition(string $word): array
    {
        $number = static fn ($value) => is_int($value) || is_float($value);
        return match ($word) {
            'any' => ['anything', static fn () => true],
            'text' => ['text', is_string(...)],
            'id' => ['an id as a string', is_string(...)],
            'flag' => ['true or false', is_bool(...)],
            'int' => ['a whole number', is_int(...)],
            'number' => ['a number', $number],
            'numeral' => ['a number, or one in a string', static fn ($value) => $number($value) || is_string($value)],
            'date' => ['a date such as 2024-03-01', static fn ($value) => self::isDay($value, '')],
            'time' => ['a time in UTC such as 2024-03-01T09:00:00Z', static fn ($v) => self::isDay($v, self::CLOCK)],
            'object' => ['an object', Json::isObject(...)],
            'tree' => ['a list or an object', static fn ($value) => is_array($value) || $value instanceof \stdClass],
            'tally' => ['an object of whole numbers', static fn ($value) => Json::isObject($value)
                && array_filter((array)$value, is_int(...)) === (array)$value],
            'product kind' => ['one of product, service, parent, offer', static fn ($value)
                => in_array($value, ['product', 'service', 'parent', 'offer'], true)],
            'role' => ['one of A, E, K', static fn ($value) => in_array($value, ['A', 'E', 'K'], true)],
        };
    }

    private static function isDay(mixed $value, string $rest): bool
    {
        return is_string($value) && preg_match('/^' . self::DAY . $rest . '$/D', $value, $parts) === 1
            && checkdate((int)$parts[2], (int)$parts[3], (int)$parts[1]);
    }

    private static function reference(string $stream, string $fault, array $also = []): \Closure
    {
        return static function (mixed $value, Inspection $seen) use ($stream, $fault, $also): void {
            if (!is_string($value)) {
                throw $seen->refuse('an id must be a string');
            }
            in_array($value, $also, true) || $seen->refer($stream, $value, $fault);
        };
    }

    private static function shape(array $members, array $required): \Closure
    {
        return static function (mixed $value, Inspection $seen) use ($members, $required): void {
            $given = Json::isObject($value) ? (array)$value : throw $seen->refuse('must be an object');
            foreach ($required as $name) {
                isset($given[$name]) || throw $seen->refuse("$name is missing");
            }
            foreach (array_intersect_key($members, $given) as $name => $check) {
                $given[$name] === null || $check($given[$name], $seen);
            }
        };
    }

    /** `UA` for everybody, `U12` for a user, `SG12` for a group, `DR12` for a department. */
    private static function recipient(mixed $value, Inspection $seen): void
    {
        if ($value === 'UA') {
            return;
        }
        if (!is_string($value) || preg_match('/^(U|SG|DR)(\d+)$/D', $value, $parts) !== 1) {
            throw $seen->refuse('a recipient must be UA, U<id>, SG<id> or DR<id>');
        }
        self::of(self::RECIPIENTS[$parts[1]])($parts[2], $seen);
    }

    /** A record of the type that the field's own name tells: `parentId<n>`. */
    private static function crmParent(mixed $value, Inspection $seen): void
    {
        $id = is_string($value) ? $value : throw $seen->refuse('an id must be a string');
        self::crmItem(substr($seen->field, strlen('parentId')), $id, $seen);
    }

    /** `D_12`, `C_12`, `CO_12`, and `T9c_12` for an item of the smart process 0x9c. */
    private static function crmLink(mixed $value, Inspection $seen): void
    {
        $pattern = '/^(?:(D|CO?|L|Q|SI)|T([0-9a-f]{1,15}))_(\d+)$/D';
        if (!is_string($value) || preg_match($pattern, $value, $parts) !== 1) {
            throw $seen->refuse('must be a link to the CRM such as D_12');
        }
        self::crmItem(self::CRM_LETTERS[$parts[1]] ?? (string)hexdec($parts[2]), $parts[3], $seen);
    }

    /** `{"ownerTypeId": 2, "ownerId": "12"}` */
    private static function crmOwner(mixed $value, Inspection $seen): void
    {
        $owner = Json::isObject($value) ? (array)$value : throw $seen->refuse('must be an object');
        if (!is_int($owner['ownerTypeId'] ?? null) || !is_string($owner['ownerId'] ?? null)) {
            throw $seen->refuse('an owner has a number ownerTypeId and a string ownerId');
        }
        self::crmItem((string)$owner['ownerTypeId'], $owner['ownerId'], $seen);
    }

    /** Lists by the ids of properties; those of a list are ids of its values. */
    private static function propertyValues(mixed $value, Inspection $seen): void
    {
        foreach (Json::isObject($value) ? (array)$value : throw $seen->refuse('must be an object') as $id => $values) {
            $property = $seen->referAndRead('crm_product_props', (string)$id, 'PARENT_NOT_FOUND');
            Json::isList($values) || throw $seen->refuse("values of $id must be a list");
            $known = array_map(static fn (mixed $one) => ((array)$one)['id'], $property['options'] ?? []);
            foreach (($property['propertyType'] ?? null) === 'L' ? $values : [] as $one) {
                in_array($one, $known, true) || throw $seen->refuse("$id has no such value");
            }
        }
    }

    /** A record of the CRM by the number of its type: whoever may have activities, comments and requisites. */
    public static function crmItem(string $type, string $id, Inspection $seen): void
    {
        if ($type === self::REQUISITES) {
            $seen->refer('crm_requisites', $id, 'PARENT_NOT_FOUND');
            return;
        }
        self::of('type')($type, $seen);
        if (isset(self::CRM_STREAMS[$type])) {
            $seen->refer(self::CRM_STREAMS[$type], $id, 'PARENT_NOT_FOUND');
        } elseif (($seen->referAndRead('crm_spitems', $id, 'PARENT_NOT_FOUND')['entityTypeId'] ?? null) !== $type) {
            throw $seen->missing('PARENT_NOT_FOUND', "type $type has no item $id");
        }
    }
}
