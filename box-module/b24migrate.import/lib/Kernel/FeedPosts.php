<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Config\Option;
use Bitrix\Main\Text\Emoji;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Posts of the feed: a post in the blog of its author, and a row of the log without which nobody sees it. Neither is
 * made by what tells people about it (CBlogPost::Notify), which would also date it to now.
 */
final class FeedPosts extends Gateway
{
    /** The author's blog, made when there is none. */
    public static function blogOf(int $author): array
    {
        return \Bitrix\Blog\Item\Blog::getByUser([
            'GROUP_ID' => Option::get('socialnetwork', 'userbloggroup_id', 0),
            'SITE_ID' => \CSite::GetDefSite(),
            'USER_ID' => $author,
            'CREATE' => 'Y',
        ]) ?: [];
    }

    public function create(string $key, array $fields): string
    {
        $author = (int)$fields['AUTHOR_ID'];
        return $this->write($fields, ['TAGS' => [], 'FILES' => []], fn(array $row) => \CBlogPost::Add($row + [
            'BLOG_ID' => self::blogOf($author)['ID'] ?? 0,
            'DETAIL_TEXT_TYPE' => 'text',
            'PUBLISH_STATUS' => BLOG_PUBLISH_STATUS_PUBLISH,
            'PATH' => self::path($author, '#post_id#'),
            'ENABLE_COMMENTS' => 'Y',
            'HAS_IMAGES' => 'N',
            'HAS_TAGS' => 'N',
        ]));
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist($this->read([$id])[$id] ?? null);
        $save = fn(array $row) => \CBlogPost::Update((int)$id, $row, false) ? $id : 0;
        $this->write($fields + $now, $now, $save);
    }

    /** Comments arrive without moving the post; once all are there it stands where the last one put it. */
    public function settle(int $id): void
    {
        FeedLog::settle($id);
    }

    public function delete(string $id): void
    {
        \CBlogPost::DeleteLog((int)$id);
        \CBlogPost::Delete((int)$id) ?: throw self::refusal('the box does not let this post go');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $one = \CBlogComment::GetList([], ['POST_ID' => (int)$id], false, ['nTopCount' => 1], ['ID']);
        return self::legacyRows($one) === [] ? null : 'it has comments';
    }

    protected function loadRows(array $ids): array
    {
        $select = ['ID', 'BLOG_ID', 'AUTHOR_ID', 'TITLE', 'DETAIL_TEXT', 'DATE_PUBLISH', 'CATEGORY_ID'];
        $rows = self::legacyRows(\CBlogPost::GetList(['ID' => 'ASC'], ['ID' => $ids], false, false, $select));
        $files = Files::attachedFiles('BLOG_POST', 'UF_BLOG_POST_FILE', $ids);
        $tags = $this->tags(array_column($rows, 'CATEGORY_ID', 'ID'));
        return array_map(fn($row) => $row + ['files' => $files[$row['ID']], 'tags' => $tags[$row['ID']]], $rows);
    }

    protected function toFields(array $row): array
    {
        $id = (int)$row['ID'];
        $important = $GLOBALS['USER_FIELD_MANAGER']->GetUserFieldValue('BLOG_POST', 'UF_BLOG_POST_IMPRTNT', $id);
        return [
            'TITLE' => str_ends_with((string)$row['TITLE'], Columns::NOTHING) ? null : Emoji::decode($row['TITLE']),
            'DETAIL_TEXT' => Columns::fromColumn('said', $row['DETAIL_TEXT']),
            'AUTHOR_ID' => (string)$row['AUTHOR_ID'],
            'DATE_PUBLISH' => Dates::utc($row['DATE_PUBLISH']),
            'DEST' => $this->recipients($id),
            'IMPORTANT' => (bool)(int)$important,
            'TAGS' => $row['tags'],
            'FILES' => $row['files'],
        ];
    }

    /** @param callable(array): mixed $save gives the id */
    private function write(array $fields, array $now, callable $save): string
    {
        $author = (int)$fields['AUTHOR_ID'];
        $work = function () use ($fields, $now, $author, $save): string {
            $id = (int)$save($this->row($fields)) ?: throw self::refusal('the box does not take this post');
            if (($fields['TAGS'] ?? []) !== $now['TAGS']) {
                $this->tag($id, (int)(self::blogOf($author)['ID'] ?? 0), $fields['TAGS'] ?? []);
            }
            if (($fields['FILES'] ?? []) !== $now['FILES']) {
                Files::attach('BLOG_POST', 'UF_BLOG_POST_FILE', $id, $fields['FILES'] ?? []);
            }
            FeedLog::writePost($id, ['TITLE' => self::title($fields), 'URL' => self::path($author, $id)] + $fields);
            return (string)$id;
        };
        // The right to read it is written group by group, and moves the dates of each group to now.
        return Groups::keepingDates(array_values(preg_filter('/^SG/', '', $fields['DEST'] ?? [])), $work);
    }

    private static function path(int $author, int|string $post): string
    {
        $page = Option::get('socialnetwork', 'userblogpost_page', '/company/personal/user/#user_id#/blog/#post_id#/');
        return strtr($page, ['#user_id#' => $author, '#post_id#' => $post]);
    }

    private function row(array $fields): array
    {
        $text = (string)($fields['DETAIL_TEXT'] ?? '');
        $title = (string)($fields['TITLE'] ?? '');
        // For a post without a title the source gives the beginning of its text.
        $micro = $title === '' || str_starts_with(self::withoutTags($text), rtrim(self::withoutTags($title), '.…'));
        $date = Dates::text($fields['DATE_PUBLISH']);
        $to = $fields['DEST'] ?? [];
        return [
            'AUTHOR_ID' => (int)$fields['AUTHOR_ID'],
            'TITLE' => self::title($fields),
            'MICRO' => $micro ? 'Y' : 'N',
            'DETAIL_TEXT' => Columns::toColumn('said', $text),
            'DATE_CREATE' => $date,
            'DATE_PUBLISH' => $date,
            'HAS_SOCNET_ALL' => in_array('UA', $to, true) ? 'Y' : 'N',
            // Without recipients it would be visible to all.
            'SOCNET_RIGHTS' => $to ?: ['U' . $fields['AUTHOR_ID']],
            'UF_BLOG_POST_IMPRTNT' => ($fields['IMPORTANT'] ?? false) ? 1 : 0,
            'HAS_PROPS' => 'Y',
        ];
    }

    private static function title(array $fields): string
    {
        $beginning = mb_substr(self::withoutTags((string)($fields['DETAIL_TEXT'] ?? '')), 0, 100);
        return (string)($fields['TITLE'] ?? '') ?: $beginning . Columns::NOTHING;
    }

    public static function withoutTags(string $text): string
    {
        return trim((string)preg_replace(['/\[[^\]]*\]/u', '/\s+/u'], ['', ' '], $text));
    }

    /** "All employees" is written as a right of the author's own page, all others as their codes. */
    private function recipients(int $post): array
    {
        $codes = [];
        foreach (\CBlogPost::getSocNetPerms($post, false) ?: [] as $type => $entities) {
            foreach ($entities as $entity => $rights) {
                $codes[] = array_intersect(['G2', 'AU'], $rights) !== [] ? 'UA' : null;
                $codes[] = in_array("$type$entity", $rights, true) ? "$type$entity" : null;
            }
        }
        return array_values(array_unique(array_filter($codes)));
    }

    /** @param array<int, ?string> $categories @return array<int, list<string>> names, by post as well */
    private function tags(array $categories): array
    {
        $ids = array_map(fn($list) => array_filter(array_map('intval', explode(',', (string)$list))), $categories);
        $all = array_values(array_unique(array_merge([], ...array_values($ids))));
        $found = $all === [] ? null : \CBlogCategory::GetList([], ['ID' => $all], false, false, ['ID', 'NAME']);
        $names = array_column(self::legacyRows($found), 'NAME', 'ID');
        $name = fn(int $id) => $names[$id] ?? null;
        return array_map(fn(array $of) => array_values(array_filter(array_map($name, $of))), $ids);
    }

    /** Tags are categories of the author's blog; to be checked on a real box. */
    private function tag(int $post, int $blog, array $tags): void
    {
        \CBlogPostCategory::DeleteByPostID($post);
        $ids = [];
        foreach ($tags as $tag) {
            $filter = ['BLOG_ID' => $blog, 'NAME' => $tag];
            $found = self::legacyRows(\CBlogCategory::GetList([], $filter, false, false, ['ID']))[0]['ID'] ?? null;
            $ids[] = $category = (int)($found ?? \CBlogCategory::Add($filter));
            \CBlogPostCategory::Add(['BLOG_ID' => $blog, 'POST_ID' => $post, 'CATEGORY_ID' => $category]);
        }
        $row = ['CATEGORY_ID' => implode(',', $ids), 'HAS_TAGS' => $ids === [] ? 'N' : 'Y'];
        \CBlogPost::Update($post, $row, false);
    }
}
