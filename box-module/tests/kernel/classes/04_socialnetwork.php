<?php

// Module socialnetwork: groups, members, the log of the feed.

declare(strict_types=1);

namespace Bitrix\Socialnetwork {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;

    class WorkgroupTable extends DataManager
    {
        protected const TABLE = 'groups';

        public static function add(array $row): void
        {
            throw new \BadMethodCallException('not implemented');
        }

        public static function update(string|int $id, array $row): void
        {
            throw new \BadMethodCallException('not implemented');
        }
    }

    /** Written by legacy classes as expressions; here as moments. */
    class LogTable extends DataManager
    {
        protected const TABLE = 'log';
    }

    class LogRightTable extends DataManager
    {
        protected const TABLE = 'log_rights';
    }

    class UserToGroupTable extends WorkgroupTable
    {
        protected const TABLE = 'members';
    }

    class ComponentHelper
    {
        public static function getBlogPostSocNetPerms(array $of = []): array
        {
            return World::row('posts', $of['postId'])['SOCNET_RIGHTS'];
        }

        public static function notifyBlogPostCreated($params = []): void
        {
            World::$noise[] = 'a notification about a post';
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\Signatures;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Config\Option;

    const SONET_ROLES_OWNER = 'A';
    const SONET_ROLES_MODERATOR = 'E';
    const SONET_ROLES_USER = 'K';
    const SONET_ENTITY_GROUP = 'G';
    const SONET_ENTITY_USER = 'U';
    const SONET_INITIATED_BY_USER = 'U';

    class CSocNetGroup
    {
        private const TIMES = [
            'DATE_CREATE', 'DATE_UPDATE', 'DATE_ACTIVITY', 'PROJECT_DATE_START', 'PROJECT_DATE_FINISH',
        ];

        public static function createGroup(int $owner, array $row, bool $subscribe = true): int|false
        {
            foreach (['NAME', 'SITE_ID', 'SUBJECT_ID', 'INITIATE_PERMS', 'SPAM_PERMS'] as $name) {
                if (empty($row[$name])) {
                    $GLOBALS['APPLICATION']->say("$name is empty");
                    return false;
                }
            }
            if ($subscribe) {
                World::$noise[] = 'a subscription';
            }
            if (!self::accepted($row, 0)) {
                return false;
            }
            $row = ['OWNER_ID' => $owner, 'ACTIVE' => 'Y'] + self::columns($row, []);
            $row += ['DATE_CREATE' => World::now(), 'DATE_UPDATE' => World::now(), 'DATE_ACTIVITY' => World::now()];
            $all = ['DESCRIPTION', 'PROJECT', 'KEYWORDS', 'PROJECT_DATE_START', 'PROJECT_DATE_FINISH'];
            $row += array_fill_keys([...$all, 'SCRUM_MASTER_ID', 'IMAGE_ID'], null);
            $id = World::put('groups', $row);
            World::put('members', ['GROUP_ID' => $id, 'USER_ID' => $owner, 'ROLE' => 'A']);
            return $id;
        }

        public static function Update(
            int $id,
            array $row,
            bool $subscribe = true,
            bool $clear = true,
            bool $departments = true
        ): int|false {
            World::call('CSocNetGroup::Update', [$id, $row]);
            $old = World::row('groups', $id);
            $refused = World::$options['socialnetwork']['refuses'] ?? '';
            if (array_key_exists($refused, $row)) {
                $GLOBALS['APPLICATION']->say("$refused is refused");
                return false;
            }
            if (!self::accepted($row, $id)) {
                return false;
            }
            World::set('groups', $id, self::columns($row, $old) + ['DATE_UPDATE' => World::now()] + $old);
            return $old === [] ? false : $id;
        }

        public static function Delete(int $id): bool
        {
            unset(World::$tables['groups'][$id]);
            return true;
        }

        public static function SetStat(int $id, int $currentUserId = 0): void
        {
            World::call('CSocNetGroup::SetStat', [$id]);
            CSocNetUserToGroup::stir($id);
            $members = count(Rows::matching('members', ['GROUP_ID' => $id]));
            World::$tables['groups'][$id]['NUMBER_OF_MEMBERS'] = $members;
        }

        /** Two groups of one name are two only where an option allows it; and a picture is one. */
        private static function accepted(array $row, int $id): bool
        {
            $others = isset($row['NAME']) ? Rows::matching('groups', ['NAME' => $row['NAME'], '!ID' => $id]) : [];
            $checked = Option::get('socialnetwork', 'check_group_name_enable', 'Y') === 'Y';
            $fault = $others !== [] && $checked ? 'There is a group of this name' : null;
            $fault ??= CFile::CheckImageFile(is_array($row['IMAGE_ID'] ?? null) ? $row['IMAGE_ID'] : []);
            $fault === null || $GLOBALS['APPLICATION']->say($fault);
            return $fault === null;
        }

        private static function columns(array $row, array $old): array
        {
            Signatures::refuseTooLong('b_sonet_group', $row);
            foreach (array_intersect(self::TIMES, array_keys($row)) as $name) {
                $row[$name] = World::heard($row[$name]);
            }
            if (array_key_exists('IMAGE_ID', $row)) {
                $row['IMAGE_ID'] = CFile::owned($row['IMAGE_ID'], $old['IMAGE_ID'] ?? null);
            }
            return $row;
        }
    }

    class CSocNetGroupSubject
    {
        public static function GetList(
            array $order = ['SORT' => 'ASC', 'ID' => 'DESC'],
            array $filter = [],
            $arGroupBy = false,
            $arNavStartParams = false,
            $arSelectFields = []
        ): Rows {
            return new Rows(Rows::matching('subjects', $filter));
        }

        public static function Add(array $row): int
        {
            return World::put('subjects', $row);
        }
    }

    class CSocNetFeatures
    {
        public static function SetFeature(
            string $type,
            int $id,
            string $feature,
            bool $active,
            $featureName = false,
            array $parameters = []
        ): void {
            World::$tables['groups'][$id]['FEATURES'][] = $feature;
            World::$tables['groups'][$id]['DATE_UPDATE'] = World::now();
        }
    }

    class CSocNetUserToGroup
    {
        /** Whatever dates it is given, they are now; so are those of the group. */
        public static function Add(
            array $row,
            bool $skipCheckFields = false,
            bool $skipStatistics = false,
            bool $delayEvents = false
        ): int {
            if (($row['SEND_MAIL'] ?? 'Y') !== 'N') {
                World::$noise[] = 'a mail to a new member';
            }
            $skipStatistics || CSocNetGroup::SetStat((int)$row['GROUP_ID']);
            return World::put('members', ['DATE_CREATE' => World::now(), 'DATE_UPDATE' => World::now()] + $row);
        }

        public static function Update(int $id, array $row): int
        {
            self::stir((int)World::row('members', $id)['GROUP_ID']);
            World::set('members', $id, $row + World::row('members', $id));
            return $id;
        }

        public static function Delete(
            int $id,
            bool $tell = false,
            bool $skipChatMessage = false,
            bool $skipStatistics = false,
            bool $delayEvents = false
        ): bool {
            unset(World::$tables['members'][$id]);
            return true;
        }

        public static function stir(int $group): void
        {
            $dates = ['DATE_UPDATE' => World::now(), 'DATE_ACTIVITY' => World::now()];
            World::set('groups', $group, $dates + World::row('groups', $group));
        }
    }

    class CSocNetLog
    {
        public static function GetList(
            array $order = ['ID' => 'DESC'],
            array $filter = [],
            $group = false,
            $nav = false,
            $select = [],
            $arParams = []
        ): Rows {
            return Rows::of(Rows::matching('log', $filter), $select);
        }

        public static function Add(array $row, bool $send = true): int
        {
            if ($send) {
                World::$noise[] = 'an event of the feed';
            }
            // A plain LOG_UPDATE is dropped, only an expression is honoured.
            unset($row['LOG_UPDATE']);
            Signatures::refuseTooLong('b_sonet_log', $row);
            \Bitrix\Main\Text\Emoji::refuse($row);
            return World::put('log', $row + ['=LOG_DATE' => 'now', '=LOG_UPDATE' => 'now']);
        }

        public static function Update(int $id, array $row): int
        {
            unset($row['LOG_UPDATE']);
            Signatures::refuseTooLong('b_sonet_log', $row);
            \Bitrix\Main\Text\Emoji::refuse($row);
            World::set('log', $id, $row + World::row('log', $id));
            return $id;
        }
    }

    class CSocNetLogRights
    {
        /** What a group is told about moves its dates. */
        public static function Add(int $log, array $codes, $bShare = false, $followSet = true): void
        {
            foreach (preg_filter('/^SG/', '', $codes) as $group) {
                CSocNetUserToGroup::stir((int)$group);
            }
            World::put('log_rights', ['LOG_ID' => $log, 'CODES' => $codes]);
        }

        public static function DeleteByLogID(int $log): void
        {
            foreach (Rows::matching('log_rights', ['LOG_ID' => $log]) as $row) {
                unset(World::$tables['log_rights'][$row['ID']]);
            }
        }
    }

    class CSocNetLogComments
    {
        public static function GetList(
            array $order = ['ID' => 'DESC'],
            array $filter = [],
            $group = false,
            $nav = false,
            $select = [],
            $arParams = []
        ): Rows {
            return Rows::of(Rows::matching('log_comments', $filter), $select);
        }

        /** @return int|array<string, mixed> a list of faults where it is refused */
        public static function Add(array $row, $how = false, $bSendEvent = true, $bSetLogUpDate = true): int|array
        {
            if (isset(World::$options['socialnetwork']['refuses comments'])) {
                return ['MESSAGE' => 'Unknown event'];
            }
            \Bitrix\Main\Text\Emoji::refuse($row);
            if (($how['SEND_EVENT'] ?? true) || ($how['SUBSCRIBE'] ?? true)) {
                World::$noise[] = 'a notification about a comment';
            }
            if ($how['SET_LOG_UPDATE'] ?? true) {
                World::$tables['log'][$row['LOG_ID']]['=LOG_UPDATE'] = 'now';
            }
            return World::put('log_comments', $row);
        }

        public static function Update(int $id, array $row, $bSetSource = false): int
        {
            World::set('log_comments', $id, $row + World::row('log_comments', $id));
            return $id;
        }

        public static function Delete(int $id, $bSetSource = false): bool
        {
            unset(World::$tables['log_comments'][$id]);
            return true;
        }
    }
}
