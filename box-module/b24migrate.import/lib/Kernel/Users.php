<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Main\Loader;
use Bitrix\Main\UserTable;

/**
 * People. CUser::Add invites nobody as long as CONFIRM_CODE stays empty; who has left comes as inactive, so that what
 * they wrote keeps its author. Everybody gets a random password, and asks for a new one.
 */
final class Users extends Gateway
{
    /**
     * Kinds of users that are told by the way they sign in; all others are employees, or guests without department.
     * To be checked on a real box.
     */
    private const STRANGERS = ['email', 'bot', 'imconnector', 'shop'];

    private const FIELDS = [
        'NAME' => ['NAME', 'text'],
        'LAST_NAME' => ['LAST_NAME', 'text'],
        'SECOND_NAME' => ['SECOND_NAME', 'text'],
        'EMAIL' => ['EMAIL', 'text'],
        'XML_ID' => ['XML_ID', 'text'],
        'ACTIVE' => ['ACTIVE', 'flag'],
        'UF_DEPARTMENT' => ['UF_DEPARTMENT', 'ids'],
        'DATE_REGISTER' => ['DATE_REGISTER', 'midnight'],
        'PERSONAL_BIRTHDAY' => ['PERSONAL_BIRTHDAY', 'day'],
        'TIME_ZONE' => ['TIME_ZONE', 'text'],
    ];

    /** What would lose its author or owner. The kernel itself guards only some of it. */
    private const WORKS = [
        ['socialnetwork', 'Bitrix\Socialnetwork\WorkgroupTable', 'OWNER_ID', 'the user owns a group'],
        ['im', 'Bitrix\Im\Model\ChatTable', 'AUTHOR_ID', 'the user owns a chat'],
        ['im', 'Bitrix\Im\Model\MessageTable', 'AUTHOR_ID', 'the user has written messages'],
        ['blog', 'Bitrix\Blog\PostTable', 'AUTHOR_ID', 'the user has written posts'],
        ['blog', 'Bitrix\Blog\CommentTable', 'AUTHOR_ID', 'the user has written comments'],
        ['tasks', 'Bitrix\Tasks\Internals\TaskTable', 'CREATED_BY', 'the user has made tasks'],
        ['tasks', 'Bitrix\Tasks\Internals\TaskTable', 'RESPONSIBLE_ID', 'the user has tasks'],
        ['crm', 'Bitrix\Crm\DealTable', 'ASSIGNED_BY_ID', 'the user has deals'],
        ['crm', 'Bitrix\Crm\ContactTable', 'ASSIGNED_BY_ID', 'the user has contacts'],
        ['crm', 'Bitrix\Crm\CompanyTable', 'ASSIGNED_BY_ID', 'the user has companies'],
    ];

    public function losses(): array
    {
        return ['WORK_LOGO' => 'The logo of a company is a picture that no method of the source gives away.'];
    }

    public function has(string $id): bool
    {
        return self::exists(UserTable::class, $id);
    }

    public function find(array $values): ?string
    {
        // MySQL ignores case by itself; that "=%" does so on PostgreSQL too is to be checked on a real box.
        $email = strtolower((string)($values['EMAIL'] ?? ''));
        $alike = ['=%EMAIL' => addcslashes($email, '%_\\')];
        foreach (self::all(UserTable::class, ['ID', 'EMAIL'], $alike) as $user) {
            if (strtolower($user['EMAIL']) === $email && $email !== '') {
                return (string)$user['ID'];
            }
        }
        return null;
    }

    public function read(array $ids): array
    {
        $users = [];
        foreach (self::all(UserTable::class, ['*', 'UF_*'], ['@ID' => array_map('intval', $ids)]) as $row) {
            $users[(string)$row['ID']] = $this->fields($row);
        }
        return $users;
    }

    public function create(string $key, array $fields): string
    {
        $row = $this->row($fields) + [
            'LOGIN' => $fields['EMAIL'],
            'PASSWORD' => bin2hex(random_bytes(12)) . 'Aa1!',
            'ACTIVE' => 'Y',
            'LID' => \CSite::GetDefSite(),
            'UF_DEPARTMENT' => [],
        ];
        if (class_exists('CIntranetInviteDialog')) {
            $row['GROUP_ID'] = \CIntranetInviteDialog::getUserGroups($row['LID'], $row['UF_DEPARTMENT'] === []);
        }
        $row['CONFIRM_CODE'] = '';
        $user = new \CUser();
        $id = Dates::inServerTime(fn() => $user->Add($row));
        if (!$id) {
            throw $this->refused($user);
        }
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::present(self::one(UserTable::class, ['*', 'UF_*'], $id));
        $row = $this->row($fields, $now);
        // Whoever signs in by something else than the address keeps it.
        if (isset($row['EMAIL']) && ($now['LOGIN'] ?? '') === ($now['EMAIL'] ?? '')) {
            $row['LOGIN'] = $row['EMAIL'];
        }
        $user = new \CUser();
        if (!Dates::inServerTime(fn() => $user->Update((int)$id, $row))) {
            throw $this->refused($user);
        }
    }

    public function delete(string $id): void
    {
        // The kernel itself refuses where a module says that somebody must stay (owners of groups, for instance).
        if (!\CUser::Delete((int)$id)) {
            throw $this->refusal('the box does not let this user go');
        }
    }

    public function needed(string $id, array $gone = []): ?string
    {
        if ((int)$id === 1 || (int)$id === self::actor()) {
            return 'it is the administrator';
        }
        if (!empty(self::one(UserTable::class, ['LAST_LOGIN'], $id)['LAST_LOGIN'])) {
            return 'the user has signed in';
        }
        foreach (self::WORKS as [$module, $table, $column, $words]) {
            $there = Loader::includeModule($module) && class_exists($table);
            if ($there && self::any($table, ["=$column" => (int)$id])) {
                return $words;
            }
        }
        return null;
    }

    /** @param array<string, mixed> $fields @param array<string, mixed> $now @return array<string, mixed> */
    private function row(array $fields, array $now = []): array
    {
        $columns = new Columns(self::FIELDS + self::texts(array_keys($fields)));
        $custom = array_diff_key($fields, ['UF_DEPARTMENT' => 1]);
        $values = new CustomValues($this->box->customFields());
        $row = Dates::inServerTime(
            fn() => $columns->toKernel($fields) + $values->toKernel('users', null, $custom, $now)
        );
        // Everybody has registered some day.
        $row = ($row['DATE_REGISTER'] ?? '') === false ? array_diff_key($row, ['DATE_REGISTER' => 1]) : $row;
        if (in_array($fields['USER_TYPE'] ?? '', self::STRANGERS, true)) {
            $row['EXTERNAL_AUTH_ID'] = $fields['USER_TYPE'];
        }
        if (array_key_exists('PERSONAL_PHOTO', $fields)) {
            $photo = $fields['PERSONAL_PHOTO'];
            $row['PERSONAL_PHOTO'] = $photo === null ? ['del' => 'Y'] : Files::copy($photo);
            $row['PERSONAL_PHOTO']['old_file'] = $now['PERSONAL_PHOTO'] ?? false;
        }
        return $row;
    }

    /** @param array<string, mixed> $row @return array<string, mixed> */
    private function fields(array $row): array
    {
        $own = (new Columns(self::FIELDS + self::texts(array_keys($row))))->fromKernel($row);
        $custom = (new CustomValues($this->box->customFields()))->fromKernel('users', null, $row);
        $kind = (string)($row['EXTERNAL_AUTH_ID'] ?? '');
        $own['USER_TYPE'] = match (true) {
            in_array($kind, self::STRANGERS, true) => $kind,
            default => $own['UF_DEPARTMENT'] === [] ? 'extranet' : 'employee',
        };
        $own['PERSONAL_PHOTO'] = Files::origin((int)($row['PERSONAL_PHOTO'] ?? 0));
        return $own + $custom;
    }

    /**
     * Every further PERSONAL_* and WORK_* is text, and a column of the same name where the box has one.
     *
     * @param list<int|string> $names
     * @return array<string, array{string, string}>
     */
    private static function texts(array $names): array
    {
        $texts = preg_grep('/^(PERSONAL|WORK)_/', array_map('strval', $names));
        $found = array_diff($texts, ['PERSONAL_PHOTO', 'WORK_LOGO']);
        return array_combine($found, array_map(fn(string $name) => [$name, 'text'], $found));
    }

    private function refused(\CUser $user): ItemFault
    {
        $said = self::plain((string)$user->LAST_ERROR);
        return $said === ''
            ? $this->refusal('the box does not take this user')
            : new ItemFault('VALIDATION', null, $said);
    }
}
