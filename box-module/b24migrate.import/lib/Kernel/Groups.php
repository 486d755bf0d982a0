<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Main\Loader;
use Bitrix\Socialnetwork\WorkgroupTable;
use Bitrix\Tasks\Internals\TaskTable;

/**
 * Workgroups and projects. The kernel opens a transaction of its own to make one, so the key is noted first; what an
 * attempt left behind is known by owner, name and the date of its creation, and by no key standing for it.
 */
final class Groups extends Gateway
{
    private const FIELDS = [
        'NAME' => ['NAME', 'text'],
        'DESCRIPTION' => ['DESCRIPTION', 'text'],
        'OWNER_ID' => ['OWNER_ID', 'id'],
        'ACTIVE' => ['ACTIVE', 'flag'],
        'VISIBLE' => ['VISIBLE', 'flag'],
        'OPENED' => ['OPENED', 'flag'],
        'CLOSED' => ['CLOSED', 'flag'],
        'PROJECT' => ['PROJECT', 'flag'],
        'KEYWORDS' => ['KEYWORDS', 'text'],
        'DATE_CREATE' => ['DATE_CREATE', 'time'],
        'DATE_UPDATE' => ['DATE_UPDATE', 'time'],
        'DATE_ACTIVITY' => ['DATE_ACTIVITY', 'time'],
        'PROJECT_DATE_START' => ['PROJECT_DATE_START', 'time'],
        'PROJECT_DATE_FINISH' => ['PROJECT_DATE_FINISH', 'time'],
        'SCRUM_MASTER_ID' => ['SCRUM_MASTER_ID', 'id'],
    ];
    private const SELECT = [
        ...['ID', 'NAME', 'DESCRIPTION', 'OWNER_ID', 'ACTIVE', 'VISIBLE', 'OPENED', 'CLOSED', 'PROJECT', 'KEYWORDS'],
        ...['DATE_CREATE', 'DATE_UPDATE', 'DATE_ACTIVITY', 'PROJECT_DATE_START', 'PROJECT_DATE_FINISH'],
        ...['SCRUM_MASTER_ID', 'SUBJECT_ID', 'IMAGE_ID'],
    ];
    private const FEATURES = ['files', 'tasks', 'blog', 'calendar'];

    /**
     * Members, tasks and posts move the dates of their group to now; afterwards they are what they were.
     *
     * @template T
     * @param callable(): T $work
     * @return T
     */
    public static function undisturbed(int $group, callable $work): mixed
    {
        $before = self::one(WorkgroupTable::class, ['DATE_UPDATE', 'DATE_ACTIVITY'], $group);
        $done = $work();
        $back = (new Columns(self::FIELDS))->toKernel(array_filter(array_map(Dates::utc(...), $before)));
        $back === [] || Dates::inServerTime(fn() => \CSocNetGroup::Update($group, $back, false, false, false));
        return $done;
    }

    public function has(string $id): bool
    {
        return self::exists(WorkgroupTable::class, $id);
    }

    public function read(array $ids): array
    {
        $rows = self::all(WorkgroupTable::class, self::SELECT, ['@ID' => array_map('intval', $ids)]);
        $subjects = $this->subjects(['ID' => array_unique(array_column($rows, 'SUBJECT_ID'))]);
        $found = [];
        foreach ($rows as $row) {
            $fields = (new Columns(self::FIELDS))->fromKernel($row);
            $fields['TYPE'] = match (true) {
                $fields['SCRUM_MASTER_ID'] !== null => 'scrum',
                default => $fields['PROJECT'] ? 'project' : 'group',
            };
            $fields['SUBJECT_NAME'] = $subjects[(int)$row['SUBJECT_ID']] ?? null;
            $fields['IMAGE'] = Files::origin((int)($row['IMAGE_ID'] ?? 0));
            $found[(string)$row['ID']] = $fields;
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $row = $this->row($fields) + [
            'SITE_ID' => [\CSite::GetDefSite()],
            'SUBJECT_ID' => $this->subject(null),
            'VISIBLE' => 'Y',
            'OPENED' => 'N',
            'CLOSED' => 'N',
            'INITIATE_PERMS' => SONET_ROLES_USER,
            'SPAM_PERMS' => SONET_ROLES_USER,
        ];
        $row = array_filter($row, fn(mixed $value) => $value !== false);
        $owner = (int)$fields['OWNER_ID'];
        $id = Dates::inServerTime(fn() => \CSocNetGroup::createGroup($owner, $row, false));
        if (!$id) {
            throw $this->refusal('the box does not take this group');
        }
        try {
            $this->finish((int)$id, $row);
        } catch (ItemFault $fault) {
            \CSocNetGroup::Delete((int)$id);
            throw $fault;
        }
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::present(self::one(WorkgroupTable::class, ['OWNER_ID', 'IMAGE_ID'], $id));
        $this->set((int)$id, $this->row($fields, (int)$now['IMAGE_ID']));
        $owner = (int)($fields['OWNER_ID'] ?? $now['OWNER_ID']);
        if ($owner !== (int)$now['OWNER_ID']) {
            self::undisturbed((int)$id, function () use ($id, $owner, $now): void {
                Members::enrol((int)$id, (int)$now['OWNER_ID'], SONET_ROLES_USER);
                Members::enrol((int)$id, $owner, SONET_ROLES_OWNER);
            });
        }
    }

    public function delete(string $id): void
    {
        if (!\CSocNetGroup::Delete((int)$id)) {
            throw $this->refusal('the box does not let this group go');
        }
    }

    public function needed(string $id, array $gone = []): ?string
    {
        return match (true) {
            Members::othersIn((int)$id) => 'it has members',
            Loader::includeModule('tasks') && self::any(TaskTable::class, ['=GROUP_ID' => (int)$id]) => 'it has tasks',
            default => null,
        };
    }

    public function atomic(): bool
    {
        return false;
    }

    public function trace(string $key, array $fields): ?string
    {
        $filter = ['=OWNER_ID' => (int)$fields['OWNER_ID'], '=NAME' => $fields['NAME']];
        if (isset($fields['DATE_CREATE'])) {
            $filter['=DATE_CREATE'] = Dates::moment($fields['DATE_CREATE']);
        }
        return $this->keyless('groups', self::all(WorkgroupTable::class, ['ID'], $filter));
    }

    public function restless(): array
    {
        return ['DATE_UPDATE', 'DATE_ACTIVITY'];
    }

    /** @param array<string, mixed> $row */
    private function finish(int $id, array $row): void
    {
        foreach (self::FEATURES as $feature) {
            \CSocNetFeatures::SetFeature(SONET_ENTITY_GROUP, $id, $feature, true);
        }
        // A new group is always active, and what was done since has moved its dates.
        $last = array_intersect_key($row, array_flip(['ACTIVE', 'DATE_UPDATE', 'DATE_ACTIVITY']));
        $last === [] || $this->set($id, $last);
    }

    /** @param array<string, mixed> $row */
    private function set(int $id, array $row): void
    {
        if (!Dates::inServerTime(fn() => \CSocNetGroup::Update($id, $row, false, false, false))) {
            throw $this->refusal('the box does not take this group');
        }
    }

    /** @param array<string, mixed> $fields @return array<string, mixed> */
    private function row(array $fields, int $image = 0): array
    {
        $row = Dates::inServerTime(fn() => (new Columns(self::FIELDS))->toKernel($fields));
        if (array_key_exists('SUBJECT_NAME', $fields)) {
            $row['SUBJECT_ID'] = $this->subject($fields['SUBJECT_NAME']);
        }
        if (array_key_exists('IMAGE', $fields)) {
            $row['IMAGE_ID'] = $fields['IMAGE'] === null ? ['del' => 'Y'] : Files::copy($fields['IMAGE']);
            $row['IMAGE_ID']['old_file'] = $image;
        }
        // It must have these dates; that others are cleared by false is to be checked on a real box.
        return array_filter($row, fn($value, $name) => $value !== false || !str_starts_with($name, 'DATE_'), 1);
    }

    /** The subject of this name, made when there is none; without a name the first one, as a group must have one. */
    private function subject(?string $name): int
    {
        $site = ['SITE_ID' => \CSite::GetDefSite()];
        $found = $this->subjects($site + ($name === null ? [] : ['NAME' => $name]));
        return (int)(array_key_first($found) ?? \CSocNetGroupSubject::Add($site + ['NAME' => $name ?? 'General']));
    }

    /** @param array<string, mixed> $filter @return array<int, string> names by id */
    private function subjects(array $filter): array
    {
        $rows = self::rows(\CSocNetGroupSubject::GetList(['SORT' => 'ASC', 'ID' => 'ASC'], $filter));
        return array_column($rows, 'NAME', 'ID');
    }
}
