<?php

// Module blog: posts of the feed and comments on them.

declare(strict_types=1);

namespace Bitrix\Blog {

    use Bitrix\Main\ORM\Data\DataManager;

    class PostTable extends DataManager
    {
        protected const TABLE = 'posts';
    }

    class CommentTable extends DataManager
    {
        protected const TABLE = 'comments';
    }
}

namespace Bitrix\Blog\Item {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;

    class Blog
    {
        public static function getByUser(array $of): array
        {
            $found = Rows::matching('blogs', ['OWNER_ID' => $of['USER_ID']])[0] ?? null;
            $new = ['OWNER_ID' => $of['USER_ID'], 'URL' => "user{$of['USER_ID']}-blog"];
            return $found ?? World::row('blogs', World::put('blogs', $new));
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\Signatures;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Text\Emoji;

    const BLOG_PUBLISH_STATUS_PUBLISH = 'P';

    class CBlogPost
    {
        public static function Add(array $row): int|false
        {
            foreach (['BLOG_ID', 'AUTHOR_ID', 'TITLE', 'DETAIL_TEXT', 'DATE_PUBLISH'] as $name) {
                if (empty($row[$name])) {
                    $GLOBALS['APPLICATION']->say("$name is empty");
                    return false;
                }
            }
            if (!$GLOBALS['USER_FIELD_MANAGER']->allowed($row, (int)$row['AUTHOR_ID'])) {
                return false;
            }
            $id = World::put('posts', self::columns($row) + ['NUM_COMMENTS' => 0, 'CATEGORY_ID' => '']);
            $GLOBALS['USER_FIELD_MANAGER']->attach('BLOG_POST', $id, $row);
            return $id;
        }

        public static function Update(int $id, array $row, bool $index = true): int|false
        {
            if (!$GLOBALS['USER_FIELD_MANAGER']->allowed($row, (int)World::row('posts', $id)['AUTHOR_ID'])) {
                return false;
            }
            World::set('posts', $id, self::columns($row) + World::row('posts', $id));
            $GLOBALS['USER_FIELD_MANAGER']->attach('BLOG_POST', $id, $row);
            return $id;
        }

        public static function Delete(int $id): bool
        {
            unset(World::$tables['posts'][$id]);
            return true;
        }

        public static function DeleteLog(int $id, $bMicroblog = false): void
        {
            foreach (Rows::matching('log', ['SOURCE_ID' => $id]) as $row) {
                unset(World::$tables['log'][$row['ID']]);
            }
        }

        public static function Notify($arPost, $arBlog, $arParams): void
        {
            World::$noise[] = 'a notification about a post';
        }

        public static function GetByID(int $id): array|false
        {
            return World::row('posts', $id) ?: false;
        }

        public static function GetList(
            array $order = ['ID' => 'DESC'],
            array $filter = [],
            $group = false,
            $nav = false,
            $select = []
        ): Rows {
            $told = fn(array $row) => ['DATE_PUBLISH' => World::told($row['DATE_PUBLISH'])] + $row;
            return Rows::of(array_map($told, Rows::matching('posts', $filter)), $select);
        }

        /** Rights by kind and id. "All" is a right of the author, and to nobody is to all. */
        public static function getSocNetPerms(int $id, bool $cached = true): array
        {
            $post = World::row('posts', $id);
            $perms = [];
            foreach ($post['SOCNET_RIGHTS'] ?: ['UA'] as $code) {
                if ($code === 'UA') {
                    $perms['U'][$post['AUTHOR_ID']] = ["US{$post['AUTHOR_ID']}", 'G2'];
                    continue;
                }
                preg_match('/^([A-Z]+)(\d+)$/', $code, $parts);
                $roles = $parts[1] === 'SG' ? ["{$code}_A", "{$code}_K"] : [];
                $perms[$parts[1]][$parts[2]] = [...($perms[$parts[1]][$parts[2]] ?? []), ...$roles, $code];
            }
            return $perms;
        }

        private static function columns(array $row): array
        {
            Signatures::refuseTooLong('b_blog_post', $row);
            foreach (array_intersect(['DATE_CREATE', 'DATE_PUBLISH'], array_keys($row)) as $name) {
                $row[$name] = World::heard($row[$name]);
            }
            return array_map(fn(mixed $value) => is_string($value) ? Emoji::encode($value) : $value, $row);
        }
    }

    class CBlogCategory
    {
        public static function GetList(
            array $order = ['ID' => 'DESC'],
            array $filter = [],
            $group = false,
            $nav = false,
            $select = []
        ): Rows {
            return Rows::of(Rows::matching('categories', $filter), $select);
        }

        public static function Add(array $row): int
        {
            return World::put('categories', $row);
        }
    }

    class CBlogPostCategory
    {
        public static function Add(array $row): int
        {
            return World::put('post_categories', $row);
        }

        public static function DeleteByPostID(int $post): void
        {
            World::$tables['post_categories'] = [];
        }
    }

    class CBlogComment
    {
        public static function Add(array $row, bool $index = true): int|false
        {
            if (($row['POST_TEXT'] ?? '') === '') {
                $GLOBALS['APPLICATION']->say('POST_TEXT is empty');
                return false;
            }
            if (!$GLOBALS['USER_FIELD_MANAGER']->allowed($row, (int)$row['AUTHOR_ID'])) {
                return false;
            }
            $row['POST_TEXT'] = Emoji::encode($row['POST_TEXT']);
            $id = World::put('comments', ['DATE_CREATE' => World::heard($row['DATE_CREATE'])] + $row);
            $GLOBALS['USER_FIELD_MANAGER']->attach('BLOG_COMMENT', $id, $row);
            World::$tables['posts'][$row['POST_ID']]['NUM_COMMENTS']++;
            return $id;
        }

        public static function Update(int $id, array $row, bool $index = true): int|false
        {
            if (!$GLOBALS['USER_FIELD_MANAGER']->allowed($row, (int)World::row('comments', $id)['AUTHOR_ID'])) {
                return false;
            }
            $row = isset($row['POST_TEXT']) ? ['POST_TEXT' => Emoji::encode($row['POST_TEXT'])] + $row : $row;
            $at = isset($row['DATE_CREATE']) ? ['DATE_CREATE' => World::heard($row['DATE_CREATE'])] : [];
            World::set('comments', $id, $at + $row + World::row('comments', $id));
            $GLOBALS['USER_FIELD_MANAGER']->attach('BLOG_COMMENT', $id, $row);
            return $id;
        }

        public static function Delete(int $id): bool
        {
            World::$tables['posts'][World::row('comments', $id)['POST_ID']]['NUM_COMMENTS']--;
            unset(World::$tables['comments'][$id]);
            return true;
        }

        public static function GetList(
            array $order = ['ID' => 'DESC'],
            array $filter = [],
            $group = false,
            $nav = false,
            $select = []
        ): Rows {
            $told = fn(array $row) => ['DATE_CREATE' => World::told($row['DATE_CREATE'])] + $row;
            return Rows::of(array_map($told, Rows::matching('comments', $filter)), $select);
        }
    }
}
