<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\Box;
use Bitrix\Crm\Timeline\Entity\TimelineTable;
use Bitrix\Crm\Timeline\TimelineType;
use Bitrix\Main\Text\Emoji;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Comments in the timeline. The kernel's own way completes calls, notifies those who are mentioned, and changes the
 * owner, so the tables are written.
 */
final class CrmComments extends Gateway
{
    protected const TABLE = TimelineTable::class;
    protected const NEEDS = CrmTimeline::NEEDS;
    protected const FIELDS = ['link' => 'AUTHOR_ID', 'moment' => 'CREATED'];
    protected const FILLED = ['CREATED'];
    private const ENTITY = 'CRM_TIMELINE';
    private const FILES = 'UF_CRM_COMMENT_FILES';
    /** What the column of a comment takes, in bytes. */
    private const LONGEST = 65535;

    public function __construct(Box $box, string $stream)
    {
        parent::__construct($box, $stream);
        CrmTimeline::silence();
    }

    public function has(string $id): bool
    {
        return self::rowExists(TimelineTable::class, ['=ID' => (int)$id, '=TYPE_ID' => TimelineType::COMMENT]);
    }

    public function create(string $key, array $fields): string
    {
        $id = CrmTimeline::add($this->row($fields + ['FILES' => [], 'COMMENT' => null, 'AUTHOR_ID' => null]) + [
            'TYPE_ID' => TimelineType::COMMENT,
            'TYPE_CATEGORY_ID' => 0,
            'ASSOCIATED_ENTITY_TYPE_ID' => 0,
            'ASSOCIATED_ENTITY_ID' => 0,
        ], CrmOwners::each($fields['OWNERS']));
        empty($fields['FILES']) || Files::attach(self::ENTITY, self::FILES, $id, $fields['FILES']);
        CrmTimeline::index($id);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustExist(self::findRow(TimelineTable::class, ['ID'], $id));
        $row = $this->row($fields);
        $row === [] || self::mustSucceed(TimelineTable::update((int)$id, $row));
        isset($fields['OWNERS']) && CrmTimeline::bind((int)$id, CrmOwners::each($fields['OWNERS']));
        if (array_key_exists('FILES', $fields)) {
            Files::attach(self::ENTITY, self::FILES, (int)$id, $fields['FILES']);
        }
        CrmTimeline::index((int)$id);
    }

    public function delete(string $id): void
    {
        $GLOBALS['USER_FIELD_MANAGER']->Delete(self::ENTITY, (int)$id);
        CrmTimeline::delete((int)$id);
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return CrmNotes::isOn(['commentId' => $id]) ? 'it has a note' : null;
    }

    protected function loadRows(array $ids): array
    {
        $columns = ['ID', 'CREATED', 'AUTHOR_ID', 'COMMENT'];
        $filter = ['@ID' => $ids, '=TYPE_ID' => TimelineType::COMMENT];
        [$owners, $files] = [CrmTimeline::owners($ids), Files::attachedFiles(self::ENTITY, self::FILES, $ids)];
        $more = static fn(int $id) => ['owners' => $owners[$id] ?? [], 'files' => $files[$id]];
        $rows = self::findRows(TimelineTable::class, $columns, $filter);
        return array_map(static fn(array $row) => $row + $more((int)$row['ID']), $rows);
    }

    protected function toFields(array $row): array
    {
        $text = Emoji::decode((string)$row['COMMENT']);
        return ['OWNERS' => $row['owners'], 'COMMENT' => $text === '' ? null : $text, 'FILES' => $row['files']]
            + parent::toFields($row);
    }

    private function row(array $fields): array
    {
        $row = self::columns()->toKernel($fields);
        if (array_key_exists('COMMENT', $fields)) {
            $text = Emoji::encode((string)$fields['COMMENT']);
            $row['COMMENT'] = mb_strcut($text, 0, self::LONGEST);
            $row['COMMENT'] === $text || $this->leftOut[] = 'COMMENT';
        }
        $files = array_key_exists('FILES', $fields);
        return $row + ($files ? ['SETTINGS' => ['HAS_FILES' => empty($fields['FILES']) ? 'N' : 'Y']] : []);
    }
}
