<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Socialnetwork\UserToGroupTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Who is in a group. A pair of group and person is there once; the owner, and members by department, are there
 * before their own record arrives, which then only sets the role.
 */
final class GroupMembers extends Gateway
{
    protected const TABLE = UserToGroupTable::class;
    protected const ATOMIC = false;
    protected const FIELDS = ['id' => 'GROUP_ID USER_ID', 'text' => 'ROLE'];

    /** Exactly one owner. */
    public static function setOwner(int $group, int $owner): void
    {
        $crowned = ['=GROUP_ID' => $group, '=ROLE' => SONET_ROLES_OWNER];
        $users = array_map('intval', array_column(self::findRows(self::TABLE, ['ID', 'USER_ID'], $crowned), 'USER_ID'));
        $users === [$owner] || Groups::keepingDates([$group], function () use ($group, $owner, $users): void {
            foreach (array_diff($users, [$owner]) as $user) {
                self::setRole($group, $user, SONET_ROLES_USER);
            }
            self::setRole($group, $owner, SONET_ROLES_OWNER);
        });
    }

    /** Whether anybody but the owner is in the group, applicants included. */
    public static function hasOthers(int $group): bool
    {
        return self::rowExists(self::TABLE, ['=GROUP_ID' => $group, '!=ROLE' => SONET_ROLES_OWNER]);
    }

    public function find(array $values): ?string
    {
        $there = self::findRelation((int)($values['GROUP_ID'] ?? 0), (int)($values['USER_ID'] ?? 0));
        return $there === null ? null : (string)$there['ID'];
    }

    public function create(string $key, array $fields): string
    {
        $group = (int)$fields['GROUP_ID'];
        $enrol = fn() => self::setRole($group, (int)$fields['USER_ID'], $fields['ROLE']);
        $id = Groups::keepingDates([$group], $enrol) ?: throw self::refusal('the box does not take this member');
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $group = self::mustExist(self::findRow(self::TABLE, ['GROUP_ID'], $id))['GROUP_ID'];
        $row = array_intersect_key($fields, ['ROLE' => 1]);
        Groups::keepingDates([$group], fn() => $row === [] || \CSocNetUserToGroup::Update((int)$id, $row))
            ?: throw self::refusal('the box does not take this role');
    }

    public function delete(string $id): void
    {
        $member = self::findRow(self::TABLE, ['GROUP_ID', 'ROLE'], $id);
        // The owner goes when the group goes.
        if ($member !== [] && $member['ROLE'] !== SONET_ROLES_OWNER) {
            Groups::keepingDates([$member['GROUP_ID']], fn() => \CSocNetUserToGroup::Delete((int)$id));
        }
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        return $this->find($fields);
    }

    /** @return int the id of the relation, 0 when the box refuses */
    private static function setRole(int $group, int $user, string $role): int
    {
        $there = self::findRelation($group, $user);
        if ($there !== null) {
            $there['ROLE'] === $role || \CSocNetUserToGroup::Update((int)$there['ID'], ['ROLE' => $role]);
            return (int)$there['ID'];
        }
        // The kernel dates the relation to now; the contract has no date for it.
        return (int)\CSocNetUserToGroup::Add([
            'USER_ID' => $user,
            'GROUP_ID' => $group,
            'ROLE' => $role,
            'INITIATED_BY_TYPE' => SONET_INITIATED_BY_USER,
            'INITIATED_BY_USER_ID' => $user,
            'MESSAGE' => false,
            'SEND_MAIL' => 'N',
            // Not counted here: it costs an update and a search index of the whole group for each of its members.
        ], false, true);
    }

    private static function findRelation(int $group, int $user): ?array
    {
        $pair = ['=GROUP_ID' => $group, '=USER_ID' => $user];
        return self::findRows(self::TABLE, ['ID', 'ROLE'], $pair)[0] ?? null;
    }
}
