<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Blog\CommentTable;
use Bitrix\Main\Text\Emoji;
use Bitrix\Socialnetwork\{ComponentHelper, LogRightTable, LogTable};

defined('B_PROLOG_INCLUDED') || exit;

/** The log, by whose rows the feed shows posts and counts comments. */
final class FeedLog
{
    private const EVENTS = ['blog_post', 'blog_post_important'];
    /** Shorter than the title of a post. */
    private const LONGEST_TITLE = 250;

    /** A row takes times only as expressions. */
    public static function sqlTime(string $utc): string
    {
        return $GLOBALS['DB']->CharToDateFunction((string)Dates::text($utc), 'FULL');
    }

    public static function ofPost(int $post): int
    {
        $filter = ['EVENT_ID' => self::EVENTS, 'SOURCE_ID' => $post];
        return (int)(Gateway::legacyRows(\CSocNetLog::GetList([], $filter, false, false, ['ID']))[0]['ID'] ?? 0);
    }

    /** @param array<string, mixed> $fields of the post, with the title it has here and its URL */
    public static function writePost(int $id, array $fields): void
    {
        $author = (int)$fields['AUTHOR_ID'];
        // It does not encode values that its columns cannot hold.
        $text = Emoji::encode((string)($fields['DETAIL_TEXT'] ?? ''));
        $at = self::sqlTime($fields['DATE_PUBLISH']);
        $row = [
            'EVENT_ID' => self::EVENTS[($fields['IMPORTANT'] ?? false) ? 1 : 0],
            '=LOG_DATE' => $at,
            '=LOG_UPDATE' => $at,
            'TITLE' => mb_substr(Emoji::encode($fields['TITLE']), 0, self::LONGEST_TITLE),
            'MESSAGE' => $text,
            'TEXT_MESSAGE' => FeedPosts::withoutTags($text),
        ];
        $log = self::ofPost($id);
        if ($log === 0) {
            $log = (int)\CSocNetLog::Add($row + self::ownerColumns('BLOG_POST', $id, $author) + [
                'USER_ID' => $author,
                'TITLE_TEMPLATE' => '#USER_NAME#',
                'MODULE_ID' => 'blog',
                'CALLBACK_FUNC' => false,
                'ENABLE_COMMENTS' => 'Y',
                'URL' => $fields['URL'],
                'SITE_ID' => \CSite::GetDefSite(),
            ], false);
            \CSocNetLog::Update($log, ['TMP_ID' => $log]);
        } else {
            \CSocNetLog::Update($log, $row);
            \CSocNetLogRights::DeleteByLogID($log);
        }
        $codes = ComponentHelper::getBlogPostSocNetPerms(['postId' => $id, 'authorId' => $author]);
        \CSocNetLogRights::Add($log, $codes);
    }

    /** The values of a row about its post or comment. */
    public static function ownerColumns(string $kind, int $id, int $owner): array
    {
        return [
            'ENTITY_TYPE' => SONET_ENTITY_USER,
            'ENTITY_ID' => $owner,
            'SOURCE_ID' => $id,
            'RATING_TYPE_ID' => $kind,
            'RATING_ENTITY_ID' => $id,
        ];
    }

    /** The feed goes by the dates of the row and of each right to it. */
    public static function settle(int $post): void
    {
        $newest = ['filter' => ['=POST_ID' => $post], 'order' => ['DATE_CREATE' => 'DESC'], 'limit' => 1];
        $last = CommentTable::getList(['select' => ['DATE_CREATE']] + $newest)->fetch();
        $log = $last ? self::ofPost($post) : 0;
        if ($log === 0) {
            return;
        }
        $moved = ['LOG_UPDATE' => $last['DATE_CREATE']];
        Gateway::mustSucceed(LogTable::update($log, $moved));
        $rights = LogRightTable::getList(['select' => ['ID'], 'filter' => ['=LOG_ID' => $log]])->fetchAll();
        foreach ($rights as $right) {
            Gateway::mustSucceed(LogRightTable::update((int)$right['ID'], $moved));
        }
    }
}
