<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Main\Config\Option;
use Bitrix\Main\Loader;
use Bitrix\Socialnetwork\WorkgroupTable;
use Bitrix\Tasks\Internals\TaskTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Workgroups and projects. The kernel opens a transaction of its own to make one, so the key is noted first; what an
 * attempt left behind is known by owner, name and the date of its creation, and by no key standing for it.
 */
final class Groups extends Gateway
{
    protected const TABLE = WorkgroupTable::class;
    protected const ATOMIC = false;
    protected const VOLATILE = ['DATE_UPDATE', 'DATE_ACTIVITY'];
    protected const FIELDS = [
        'text' => 'NAME DESCRIPTION KEYWORDS',
        'id' => 'OWNER_ID SCRUM_MASTER_ID',
        'flag' => 'ACTIVE VISIBLE OPENED CLOSED PROJECT',
        'time' => 'DATE_CREATE DATE_UPDATE DATE_ACTIVITY PROJECT_DATE_START PROJECT_DATE_FINISH',
    ];
    /** That the dates of a project are cleared by false is to be checked on a real box. */
    protected const FILLED = ['DATE_CREATE', 'DATE_UPDATE', 'DATE_ACTIVITY'];
    protected const APPROXIMATIONS = [
        'TYPE' => 'A collab becomes a group or a project: the box creates collabs only with all of their data.',
    ];
    /** Of the module socialnetwork; under the same name the module notes what it was. */
    private const NAMES_CHECKED = 'check_group_name_enable';
    private const FEATURES = ['files', 'tasks', 'blog', 'calendar'];

    /**
     * Members and posts move the dates of their groups to now; afterwards they are what they were. Only one at a time:
     * the next would take that "now" for the date it has to put back.
     *
     * @param list<int|string> $groups
     */
    public static function keepingDates(array $groups, callable $work): mixed
    {
        // In one order for all, so that no two wait for one another.
        rsort($groups, SORT_NUMERIC);
        foreach (array_unique($groups) as $group) {
            $inner = $work;
            $work = fn() => (new KernelGuard())->withLock("group:$group", fn() => self::keepDates((int)$group, $inner));
        }
        return $work();
    }

    private static function keepDates(int $group, callable $work): mixed
    {
        $dates = fn() => array_filter(array_map(
            Dates::utc(...),
            self::findRow(WorkgroupTable::class, ['DATE_UPDATE', 'DATE_ACTIVITY'], $group)
        ));
        $before = $dates();
        $done = $work();
        // Only when one was moved: an update costs the kernel a new search index and more.
        $back = self::columns()->toKernel($before);
        $dates() === $before || \CSocNetGroup::Update($group, $back, false, false, false);
        return $done;
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
        $create = static fn() => \CSocNetGroup::createGroup($owner, $row, false);
        $id = self::allowingSameName($row, 0, $create)
            ?: throw self::refusal('the box does not take this group');
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
        $now = self::mustExist(self::findRow(WorkgroupTable::class, ['IMAGE_ID'], $id));
        if (isset($fields['OWNER_ID'])) {
            // Looked up rather than compared with the old owner: an attempt may have died between the two writes.
            GroupMembers::setOwner((int)$id, (int)$fields['OWNER_ID']);
        }
        $this->save((int)$id, $this->row($fields, (int)$now['IMAGE_ID']));
    }

    /** Members arrive without being counted each time; they are counted here. */
    public function settle(int $id): void
    {
        $count = static fn() => \CSocNetGroup::SetStat($id);
        self::rowExists(WorkgroupTable::class, ['=ID' => $id]) && self::keepingDates([$id], $count);
    }

    public function delete(string $id): void
    {
        \CSocNetGroup::Delete((int)$id) ?: throw self::refusal('the box does not let this group go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return match (true) {
            GroupMembers::hasOthers((int)$id) => 'it has members',
            Loader::includeModule('tasks') && self::rowExists(TaskTable::class, ['=GROUP_ID' => (int)$id])
                => 'it has tasks',
            default => null,
        };
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        // Without a date it could be a user's group of the same name.
        $same = !isset($fields['DATE_CREATE']) ? [] : self::findRows(WorkgroupTable::class, ['ID'], [
            '=OWNER_ID' => (int)$fields['OWNER_ID'],
            '=NAME' => $fields['NAME'],
            '=DATE_CREATE' => Dates::moment($fields['DATE_CREATE']),
        ]);
        return $this->firstWithoutKey($same);
    }

    protected function loadRows(array $ids): array
    {
        $rows = Files::withOrigins(parent::loadRows($ids), 'IMAGE_ID');
        $subjects = $this->subjects(['ID' => array_unique(array_column($rows, 'SUBJECT_ID'))]);
        return array_map(fn($row) => $row + ['SUBJECT_NAME' => $subjects[(int)$row['SUBJECT_ID']] ?? null], $rows);
    }

    protected function toFields(array $row): array
    {
        $fields = parent::toFields($row);
        $type = $fields['PROJECT'] ? 'project' : 'group';
        return $fields + [
            'TYPE' => $fields['SCRUM_MASTER_ID'] !== null ? 'scrum' : $type,
            'SUBJECT_NAME' => $row['SUBJECT_NAME'],
            'IMAGE' => $row['IMAGE_ID'],
        ];
    }

    /**
     * The box refuses a second group of a name unless an option allows it; the source has them. It is allowed only
     * while such a group is written. Its value is saved first, so that a later call restores it when this one dies.
     */
    private static function allowingSameName(array $row, int $id, callable $write): mixed
    {
        $same = ['=NAME' => (string)($row['NAME'] ?? ''), '!=ID' => $id];
        if (!isset($row['NAME']) || !self::rowExists(WorkgroupTable::class, $same)) {
            return $write();
        }
        return (new KernelGuard())->withLock('group names', static function () use ($write): mixed {
            self::restoreOption();
            $was = Option::get('socialnetwork', self::NAMES_CHECKED, 'Y');
            Option::set(KernelBox::MODULE, self::NAMES_CHECKED, $was);
            Option::set('socialnetwork', self::NAMES_CHECKED, 'N');
            try {
                return $write();
            } finally {
                self::restoreOption();
            }
        });
    }

    /** What a call that died has left; one that lives still needs it. */
    public static function restoreNameCheck(): void
    {
        $isNoted = Option::get(KernelBox::MODULE, self::NAMES_CHECKED, '') !== '';
        $isNoted && (new KernelGuard())->withLock('group names', self::restoreOption(...));
    }

    private static function restoreOption(): void
    {
        $was = Option::get(KernelBox::MODULE, self::NAMES_CHECKED, '');
        if ($was !== '') {
            Option::set('socialnetwork', self::NAMES_CHECKED, $was);
            Option::delete(KernelBox::MODULE, ['name' => self::NAMES_CHECKED]);
        }
    }

    private function finish(int $id, array $row): void
    {
        foreach (self::FEATURES as $feature) {
            \CSocNetFeatures::SetFeature(SONET_ENTITY_GROUP, $id, $feature, true);
        }
        // A new group is always active, and what was done since has moved its dates.
        $last = array_intersect_key($row, array_flip(['ACTIVE', 'DATE_UPDATE', 'DATE_ACTIVITY']));
        $last === [] || $this->save($id, $last);
    }

    private function save(int $id, array $row): void
    {
        $update = static fn() => \CSocNetGroup::Update($id, $row, false, false, false);
        self::allowingSameName($row, $id, $update)
            ?: throw self::refusal('the box does not take this group');
    }

    private function row(array $fields, int $image = 0): array
    {
        $row = self::columns()->toKernel($fields) + $this->picture('IMAGE', $fields, 'IMAGE_ID', $image);
        if (!in_array($fields['TYPE'] ?? null, [null, 'group', 'project', 'scrum'], true)) {
            $this->leftOut[] = 'TYPE';
        }
        if (array_key_exists('SUBJECT_NAME', $fields)) {
            $row['SUBJECT_ID'] = $this->subject($fields['SUBJECT_NAME']);
        }
        return $row;
    }

    /** The subject of this name, made when there is none; without a name the first one, as a group must have one. */
    private function subject(?string $name): int
    {
        $site = ['SITE_ID' => \CSite::GetDefSite()];
        $find = fn() => array_key_first($this->subjects($site + ($name === null ? [] : ['NAME' => $name])));
        $make = fn() => $find() ?? \CSocNetGroupSubject::Add($site + ['NAME' => $name ?? 'General']);
        return (int)($find() ?? (new KernelGuard())->withLock('subjects', $make));
    }

    private function subjects(array $filter): array
    {
        $rows = self::legacyRows(\CSocNetGroupSubject::GetList(['SORT' => 'ASC', 'ID' => 'ASC'], $filter));
        return array_column($rows, 'NAME', 'ID');
    }
}
