<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Socialnetwork\UserToGroupTable;

/**
 * Who is in a group. A pair of group and person is there once; the owner, and whoever a department brings in, are there
 * before their own record arrives, which then only sets the role.
 */
final class Members extends Gateway
{
    /** @return string the id of the relation */
    public static function enrol(int $group, int $user, string $role): string
    {
        $there = self::relation($group, $user);
        if ($there !== null) {
            $there['ROLE'] === $role || \CSocNetUserToGroup::Update((int)$there['ID'], ['ROLE' => $role]);
            return (string)$there['ID'];
        }
        // It dates the relation to now, whatever it is told; the contract knows no date of it either.
        return (string)\CSocNetUserToGroup::Add([
            'USER_ID' => $user,
            'GROUP_ID' => $group,
            'ROLE' => $role,
            'INITIATED_BY_TYPE' => SONET_INITIATED_BY_USER,
            'INITIATED_BY_USER_ID' => $user,
            'MESSAGE' => false,
            'SEND_MAIL' => 'N',
        ]);
    }

    /** Whether anybody but the owner is in the group, applicants included. */
    public static function othersIn(int $group): bool
    {
        return self::any(UserToGroupTable::class, ['=GROUP_ID' => $group, '!=ROLE' => SONET_ROLES_OWNER]);
    }

    public function find(array $values): ?string
    {
        $there = self::relation((int)($values['GROUP_ID'] ?? 0), (int)($values['USER_ID'] ?? 0));
        return $there === null ? null : (string)$there['ID'];
    }

    public function read(array $ids): array
    {
        $filter = ['@ID' => array_map('intval', $ids)];
        $rows = self::all(UserToGroupTable::class, ['ID', 'GROUP_ID', 'USER_ID', 'ROLE'], $filter);
        $fields = fn(array $row) => array_diff_key(array_map('strval', $row), ['ID' => 1]);
        return array_combine(array_map('strval', array_column($rows, 'ID')), array_map($fields, $rows));
    }

    public function create(string $key, array $fields): string
    {
        $group = (int)$fields['GROUP_ID'];
        $enrol = fn() => self::enrol($group, (int)$fields['USER_ID'], $fields['ROLE']);
        $id = Groups::undisturbed($group, $enrol);
        if ((int)$id === 0) {
            throw $this->refusal('the box does not take this member');
        }
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        $group = (int)self::present($this->read([$id])[$id] ?? null)['GROUP_ID'];
        $row = array_intersect_key($fields, ['ROLE' => 1]);
        if (!Groups::undisturbed($group, fn() => $row === [] || \CSocNetUserToGroup::Update((int)$id, $row))) {
            throw $this->refusal('the box does not take this role');
        }
    }

    public function delete(string $id): void
    {
        $member = $this->read([$id])[$id] ?? null;
        // The owner goes when the group goes.
        if ($member !== null && $member['ROLE'] !== SONET_ROLES_OWNER) {
            Groups::undisturbed((int)$member['GROUP_ID'], fn() => \CSocNetUserToGroup::Delete((int)$id));
        }
    }

    public function atomic(): bool
    {
        return false;
    }

    public function trace(string $key, array $fields): ?string
    {
        return $this->find($fields);
    }

    /** @return ?array<string, mixed> */
    private static function relation(int $group, int $user): ?array
    {
        $pair = ['=GROUP_ID' => $group, '=USER_ID' => $user];
        return self::all(UserToGroupTable::class, ['ID', 'ROLE'], $pair)[0] ?? null;
    }
}
