<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Config\Option;
use Bitrix\Main\Text\Emoji;

defined('B_PROLOG_INCLUDED') || exit;

/** Comments on posts, each with its twin in the log, which the counters of the feed go by. */
final class FeedComments extends Gateway
{
    protected const FIELDS = [
        'id' => 'post_id',
        'author' => 'author_id',
        'time' => 'date:DATE_CREATE',
        'said' => 'text:POST_TEXT',
    ];
    private const ENTITY = 'BLOG_COMMENT';
    private const FILES = 'UF_BLOG_COMMENT_FILE';
    private const SILENT = [
        'SET_SOURCE' => false,
        'SEND_EVENT' => false,
        'SET_LOG_UPDATE' => false,
        'SUBSCRIBE' => false,
    ];

    public function create(string $key, array $fields): string
    {
        $post = \CBlogPost::GetByID((int)$fields['post_id']) ?: [];
        $owner = (int)($post['AUTHOR_ID'] ?? 0);
        $row = $this->row($fields) + [
            'POST_ID' => (int)$fields['post_id'],
            'BLOG_ID' => (int)($post['BLOG_ID'] ?? 0),
            'TITLE' => '',
            'PARENT_ID' => false,
            'PUBLISH_STATUS' => BLOG_PUBLISH_STATUS_PUBLISH,
            'URL' => (string)(FeedPosts::blogOf($owner)['URL'] ?? ''),
            'SEARCH_GROUP_ID' => Option::get('socialnetwork', 'userbloggroup_id', 0),
        ];
        $id = (int)\CBlogComment::Add($row, false)
            ?: throw self::refusal('the box does not take this comment');
        empty($fields['files']) || Files::attach(self::ENTITY, self::FILES, $id, $fields['files']);
        $this->addTwin($id, $owner, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist($this->read([$id])[$id] ?? null);
        $fields += $now;
        \CBlogComment::Update((int)$id, $this->row($fields), false)
            ?: throw self::refusal('the box does not take this comment');
        if (($fields['files'] ?? []) !== $now['files']) {
            Files::attach(self::ENTITY, self::FILES, (int)$id, $fields['files']);
        }
        foreach ($this->twins($id) as $twin) {
            \CSocNetLogComments::Update($twin, $this->logRow($fields));
        }
    }

    public function delete(string $id): void
    {
        array_map(\CSocNetLogComments::Delete(...), $this->twins($id));
        \CBlogComment::Delete((int)$id) ?: throw self::refusal('the box does not let this comment go');
    }

    protected function loadRows(array $ids): array
    {
        $select = ['ID', 'POST_ID', 'AUTHOR_ID', 'DATE_CREATE', 'POST_TEXT'];
        $rows = self::legacyRows(\CBlogComment::GetList(['ID' => 'ASC'], ['ID' => $ids], false, false, $select));
        $files = Files::attachedFiles(self::ENTITY, self::FILES, $ids);
        return array_map(fn(array $row) => $row + ['files' => $files[(int)$row['ID']]], $rows);
    }

    protected function toFields(array $row): array
    {
        return parent::toFields($row) + ['files' => $row['files']];
    }

    private function row(array $fields): array
    {
        return self::columns()->toKernel(array_diff_key($fields, ['post_id' => 1]) + ['text' => null])
            + ['HAS_PROPS' => 'Y'];
    }

    private function addTwin(int $id, int $owner, array $fields): void
    {
        $log = FeedLog::ofPost((int)$fields['post_id']);
        $twin = $log === 0 ? 0 : \CSocNetLogComments::Add($this->logRow($fields) + [
            'LOG_ID' => $log,
            'EVENT_ID' => 'blog_comment',
            'MODULE_ID' => false,
        ] + FeedLog::ownerColumns(self::ENTITY, $id, $owner), self::SILENT);
        // A list of faults where the box refuses it: the feed would count one comment less than there are.
        is_numeric($twin) || throw self::refusal('the box does not take this comment into the feed');
    }

    private function logRow(array $fields): array
    {
        $text = Emoji::encode((string)($fields['text'] ?? ''));
        return [
            'USER_ID' => (int)$fields['author_id'],
            '=LOG_DATE' => FeedLog::sqlTime($fields['date']),
            'MESSAGE' => $text,
            'TEXT_MESSAGE' => $text,
        ];
    }

    private function twins(string $id): array
    {
        $filter = ['EVENT_ID' => 'blog_comment', 'SOURCE_ID' => (int)$id];
        $rows = self::legacyRows(\CSocNetLogComments::GetList([], $filter, false, false, ['ID']));
        return array_map('intval', array_column($rows, 'ID'));
    }
}
