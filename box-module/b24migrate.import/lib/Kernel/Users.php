<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\{Loader, UserTable};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * People. CUser::Add invites nobody as long as CONFIRM_CODE stays empty; who has left comes as inactive, so that what
 * they wrote keeps its author. Everybody gets a random password, and asks for a new one.
 */
final class Users extends Gateway
{
    protected const TABLE = UserTable::class;
    protected const LOSSES = [
        'WORK_LOGO' => 'Company logos are not migrated: no method of the source returns them.',
    ];

    /**
     * Kinds of users by EXTERNAL_AUTH_ID, the way they sign in; all others are employees, or guests without department.
     * To be checked on a real box.
     */
    private const STRANGERS = ['email', 'bot', 'imconnector', 'shop'];

    protected const FIELDS = [
        'text' => 'NAME LAST_NAME SECOND_NAME EMAIL XML_ID TIME_ZONE',
        'flag' => 'ACTIVE',
        'ids' => 'UF_DEPARTMENT',
        'midnight' => 'DATE_REGISTER',
        'day' => 'PERSONAL_BIRTHDAY',
    ];
    protected const FILLED = ['DATE_REGISTER'];
    private const LONGEST_LOGIN = 50;

    /** What would lose its author or owner. The kernel itself guards only some of it. */
    private const WORKS = [
        ['socialnetwork', 'Bitrix\Socialnetwork\WorkgroupTable', 'OWNER_ID', 'the user owns a group'],
        ['im', 'Bitrix\Im\Model\ChatTable', 'AUTHOR_ID', 'the user owns a chat'],
        ['im', 'Bitrix\Im\Model\MessageTable', 'AUTHOR_ID', 'the user has written messages'],
        ['blog', 'Bitrix\Blog\PostTable', 'AUTHOR_ID', 'the user has written posts'],
        ['blog', 'Bitrix\Blog\CommentTable', 'AUTHOR_ID', 'the user has written comments'],
        ['forum', 'Bitrix\Forum\MessageTable', 'AUTHOR_ID', 'the user has written comments'],
        ['tasks', 'Bitrix\Tasks\Internals\TaskTable', 'CREATED_BY RESPONSIBLE_ID', 'the user has tasks'],
        ['crm', 'Bitrix\Crm\DealTable', 'ASSIGNED_BY_ID CREATED_BY_ID', 'the user has deals'],
        ['crm', 'Bitrix\Crm\ContactTable', 'ASSIGNED_BY_ID CREATED_BY_ID', 'the user has contacts'],
        ['crm', 'Bitrix\Crm\CompanyTable', 'ASSIGNED_BY_ID CREATED_BY_ID', 'the user has companies'],
    ];

    public function approximations(): array
    {
        return Loader::includeModule('extranet') ? [] : [
            'USER_TYPE' => 'The box has no extranet module: guests become users without groups.',
        ];
    }

    public function find(array $values): ?string
    {
        // MySQL ignores case by default; whether "=%" does so on PostgreSQL is to be checked on a real box.
        $email = mb_strtolower(trim((string)($values['EMAIL'] ?? '')));
        $alike = ['=%EMAIL' => addcslashes($email, '%_\\')];
        foreach ($email === '' ? [] : self::findRows(UserTable::class, ['ID', 'EMAIL'], $alike) as $user) {
            if (mb_strtolower($user['EMAIL']) === $email) {
                return (string)$user['ID'];
            }
        }
        return null;
    }

    public function create(string $key, array $fields): string
    {
        $row = $this->row($fields) + [
            'LOGIN' => self::login($fields['EMAIL']),
            'PASSWORD' => bin2hex(random_bytes(12)) . 'Aa1!',
            'ACTIVE' => 'Y',
            'LID' => \CSite::GetDefSite(),
            'UF_DEPARTMENT' => [],
        ];
        if (class_exists('CIntranetInviteDialog')) {
            $isGuest = $row['UF_DEPARTMENT'] === [];
            // On a box without guests it would tell the groups of employees for them too.
            $row['GROUP_ID'] = $isGuest && !Loader::includeModule('extranet')
                ? []
                : \CIntranetInviteDialog::getUserGroups($row['LID'], $isGuest);
        }
        $row['CONFIRM_CODE'] = '';
        $user = new \CUser();
        $id = $user->Add($row)
            ?: throw self::refusal('the box does not take this user', said: $user->LAST_ERROR);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(UserTable::class, ['*', 'UF_*'], $id));
        $row = $this->row($fields, $now);
        // A login that is not the address stays.
        if (isset($row['EMAIL']) && ($now['LOGIN'] ?? '') === self::login((string)($now['EMAIL'] ?? ''))) {
            $row['LOGIN'] = self::login($row['EMAIL']);
        }
        $user = new \CUser();
        $user->Update((int)$id, $row)
            ?: throw self::refusal('the box does not take this user', said: $user->LAST_ERROR);
    }

    public function delete(string $id): void
    {
        // The kernel refuses if a module requires the user (owners of groups, for instance).
        \CUser::Delete((int)$id) ?: throw self::refusal('the box does not let this user go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        if ((int)$id === 1 || (int)$id === self::actor()) {
            return 'it is the administrator';
        }
        if (!empty(self::findRow(UserTable::class, ['LAST_LOGIN'], $id)['LAST_LOGIN'])) {
            return 'the user has signed in';
        }
        foreach (self::WORKS as [$module, $table, $columns, $words]) {
            $there = Loader::includeModule($module) && class_exists($table);
            foreach ($there ? explode(' ', $columns) : [] as $column) {
                if (self::rowExists($table, ["=$column" => (int)$id])) {
                    return $words;
                }
            }
        }
        return null;
    }

    private function row(array $fields, array $now = []): array
    {
        $columns = self::with(array_keys($fields));
        $custom = array_diff_key($fields, ['UF_DEPARTMENT' => 1]);
        $row = $columns->toKernel($fields) + $this->customValues()->toKernel($custom, $now);
        if (in_array($fields['USER_TYPE'] ?? '', self::STRANGERS, true)) {
            $row['EXTERNAL_AUTH_ID'] = $fields['USER_TYPE'];
        }
        return $row + $this->picture('PERSONAL_PHOTO', $fields, 'PERSONAL_PHOTO', (int)($now['PERSONAL_PHOTO'] ?? 0));
    }

    /** The address. b_user.LOGIN has 50 characters: of a longer one its beginning and a part of its hash. */
    private static function login(string $email): string
    {
        $rest = '~' . substr(hash('sha256', $email), 0, 8);
        return mb_strlen($email) <= self::LONGEST_LOGIN
            ? $email
            : mb_substr($email, 0, self::LONGEST_LOGIN - strlen($rest)) . $rest;
    }

    protected function loadRows(array $ids): array
    {
        $rows = self::findRows(UserTable::class, ['*', 'UF_*'], ['@ID' => $ids]);
        return Files::withOrigins($rows, 'PERSONAL_PHOTO');
    }

    protected function toFields(array $row): array
    {
        $own = self::with(array_keys($row))->fromKernel($row);
        $kind = (string)($row['EXTERNAL_AUTH_ID'] ?? '');
        $own['USER_TYPE'] = match (true) {
            in_array($kind, self::STRANGERS, true) => $kind,
            default => $own['UF_DEPARTMENT'] === [] ? 'extranet' : 'employee',
        };
        return $own + ['PERSONAL_PHOTO' => $row['PERSONAL_PHOTO']] + $this->customValues()->fromKernel($row);
    }

    /** Every further PERSONAL_* and WORK_* is text, and a column of the same name where the box has one. */
    private static function with(array $names): Columns
    {
        $texts = preg_grep('/^(PERSONAL|WORK)_(?!PHOTO$|BIRTHDAY$|LOGO$)/', array_map('strval', $names));
        return new Columns(['text' => implode(' ', [self::FIELDS['text'], ...$texts])] + self::FIELDS, self::FILLED);
    }
}
