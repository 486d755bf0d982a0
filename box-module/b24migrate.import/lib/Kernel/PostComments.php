<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

/** Comments on posts, each with its twin in the log, which the counters of the feed go by. */
final class PostComments extends Gateway
{
    private const SILENT = [
        'SET_SOURCE' => false,
        'SEND_EVENT' => false,
        'SET_LOG_UPDATE' => false,
        'SUBSCRIBE' => false,
    ];

    public function read(array $ids): array
    {
        $select = ['ID', 'POST_ID', 'AUTHOR_ID', 'DATE_CREATE', 'POST_TEXT'];
        $filter = ['ID' => array_map('intval', $ids)];
        return Dates::inServerTime(function () use ($filter, $select): array {
            $found = [];
            foreach (self::rows(\CBlogComment::GetList(['ID' => 'ASC'], $filter, false, false, $select)) as $row) {
                $id = (int)$row['ID'];
                $files = Posts::custom('BLOG_COMMENT', 'UF_BLOG_COMMENT_FILE', $id);
                $found[(string)$id] = [
                    'post_id' => (string)$row['POST_ID'],
                    'author_id' => (string)$row['AUTHOR_ID'],
                    'date' => Dates::utc($row['DATE_CREATE']),
                    'text' => $row['POST_TEXT'] === Posts::NOTHING ? null : $row['POST_TEXT'],
                    'files' => Files::attachedTo((array)($files ?: [])),
                ];
            }
            return $found;
        });
    }

    public function create(string $key, array $fields): string
    {
        $post = \CBlogPost::GetByID((int)$fields['post_id']) ?: [];
        $row = Dates::inServerTime(fn() => $this->row($fields)) + [
            'POST_ID' => (int)$fields['post_id'],
            'BLOG_ID' => (int)($post['BLOG_ID'] ?? 0),
            'TITLE' => '',
            'PARENT_ID' => false,
            'PUBLISH_STATUS' => BLOG_PUBLISH_STATUS_PUBLISH,
            'URL' => (string)(Posts::blogOf((int)($post['AUTHOR_ID'] ?? 0))['URL'] ?? ''),
            'SEARCH_GROUP_ID' => \Bitrix\Main\Config\Option::get('socialnetwork', 'userbloggroup_id', 0),
        ];
        $id = (int)Dates::inServerTime(fn() => \CBlogComment::Add($row, false));
        if ($id === 0) {
            throw $this->refusal('the box does not take this comment');
        }
        $this->show($id, (int)($post['AUTHOR_ID'] ?? 0), $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        $fields += self::present($this->read([$id])[$id] ?? null);
        $row = Dates::inServerTime(fn() => $this->row($fields));
        if (!Dates::inServerTime(fn() => \CBlogComment::Update((int)$id, $row, false))) {
            throw $this->refusal('the box does not take this comment');
        }
        foreach ($this->twins((int)$id) as $twin) {
            \CSocNetLogComments::Update($twin, $this->told($fields));
        }
    }

    public function delete(string $id): void
    {
        foreach ($this->twins((int)$id) as $twin) {
            \CSocNetLogComments::Delete($twin);
        }
        if (!\CBlogComment::Delete((int)$id)) {
            throw $this->refusal('the box does not let this comment go');
        }
    }

    /** @param array<string, mixed> $fields all of them @return array<string, mixed> */
    private function row(array $fields): array
    {
        $text = (string)($fields['text'] ?? '');
        return [
            'AUTHOR_ID' => (int)$fields['author_id'],
            'DATE_CREATE' => Dates::text($fields['date']),
            'POST_TEXT' => $text === '' ? Posts::NOTHING : $text,
            'UF_BLOG_COMMENT_FILE' => array_map(Files::attachment(...), $fields['files'] ?? []),
        ];
    }

    /** @param array<string, mixed> $fields */
    private function show(int $id, int $owner, array $fields): void
    {
        $log = Posts::logOf((int)$fields['post_id']);
        $log === 0 || \CSocNetLogComments::Add($this->told($fields) + [
            'LOG_ID' => $log,
            'EVENT_ID' => 'blog_comment',
            'ENTITY_TYPE' => SONET_ENTITY_USER,
            'ENTITY_ID' => $owner,
            'MODULE_ID' => false,
            'SOURCE_ID' => $id,
            'RATING_TYPE_ID' => 'BLOG_COMMENT',
            'RATING_ENTITY_ID' => $id,
        ], self::SILENT);
    }

    /** @param array<string, mixed> $fields @return array<string, mixed> */
    private function told(array $fields): array
    {
        $text = (string)($fields['text'] ?? '');
        return [
            'USER_ID' => (int)$fields['author_id'],
            '=LOG_DATE' => Dates::inServerTime(fn() => Posts::moment($fields['date'])),
            'MESSAGE' => $text,
            'TEXT_MESSAGE' => $text,
        ];
    }

    /** @return list<int> */
    private function twins(int $id): array
    {
        $filter = ['EVENT_ID' => 'blog_comment', 'SOURCE_ID' => $id];
        $rows = self::rows(\CSocNetLogComments::GetList([], $filter, false, false, ['ID']));
        return array_map('intval', array_column($rows, 'ID'));
    }
}
