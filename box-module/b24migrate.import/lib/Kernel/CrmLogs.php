<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\Box;
use Bitrix\Crm\Timeline\Entity\TimelineTable;
use Bitrix\Crm\Timeline\{LogMessageType, TimelineType};

defined('B_PROLOG_INCLUDED') || exit;

/** Entries that applications have written into the timeline. They belong to one record, which they also name. */
final class CrmLogs extends Gateway
{
    protected const TABLE = TimelineTable::class;
    protected const NEEDS = [...CrmTimeline::NEEDS, LogMessageType::class];
    protected const FIELDS = ['link' => 'authorId', 'moment' => 'created'];
    protected const FILLED = ['CREATED'];
    private const SETTINGS = ['title' => 'TITLE', 'text' => 'TEXT', 'iconCode' => 'ICON_CODE'];

    public static function isPossible(): bool
    {
        return parent::isPossible() && defined(LogMessageType::class . '::REST');
    }

    public function __construct(Box $box, string $stream)
    {
        parent::__construct($box, $stream);
        CrmTimeline::silence();
    }

    public function has(string $id): bool
    {
        return self::rowExists(TimelineTable::class, ['=ID' => (int)$id] + self::kind());
    }

    public function create(string $key, array $fields): string
    {
        $at = ['created' => $fields['created'] ?? Dates::now()];
        $row = $this->row($at + $fields + ['authorId' => null], []);
        $kind = ['TYPE_ID' => TimelineType::LOG_MESSAGE, 'TYPE_CATEGORY_ID' => LogMessageType::REST];
        return (string)CrmTimeline::add($row + $kind, [CrmOwners::parts($fields['OWNER'])]);
    }

    public function update(string $id, array $fields): void
    {
        $now = self::mustExist(self::findRow(TimelineTable::class, ['ID', 'SETTINGS'], $id));
        $row = $this->row($fields, (array)$now['SETTINGS']);
        self::mustSucceed(TimelineTable::update((int)$id, $row));
        isset($fields['OWNER']) && CrmTimeline::bind((int)$id, [CrmOwners::parts($fields['OWNER'])]);
    }

    public function delete(string $id): void
    {
        CrmTimeline::delete((int)$id);
    }

    protected function loadRows(array $ids): array
    {
        $columns = [
            'ID', 'CREATED', 'AUTHOR_ID', 'SETTINGS', 'ASSOCIATED_ENTITY_TYPE_ID', 'ASSOCIATED_ENTITY_ID',
        ];
        return self::findRows(TimelineTable::class, $columns, ['@ID' => $ids] + self::kind());
    }

    protected function toFields(array $row): array
    {
        $owner = CrmOwners::owner((int)$row['ASSOCIATED_ENTITY_TYPE_ID'], (int)$row['ASSOCIATED_ENTITY_ID']);
        $fields = ['OWNER' => $owner] + parent::toFields($row);
        foreach (self::SETTINGS as $name => $code) {
            $fields[$name] = ($row['SETTINGS'][$code] ?? '') === '' ? null : (string)$row['SETTINGS'][$code];
        }
        return $fields;
    }

    private static function kind(): array
    {
        return ['=TYPE_ID' => TimelineType::LOG_MESSAGE, '=TYPE_CATEGORY_ID' => LogMessageType::REST];
    }

    private function row(array $fields, array $settings): array
    {
        $row = self::columns()->toKernel($fields);
        foreach (array_intersect_key(self::SETTINGS, $fields) as $name => $code) {
            $settings[$code] = (string)$fields[$name];
        }
        [$type, $id] = isset($fields['OWNER']) ? CrmOwners::parts($fields['OWNER']) : [0, 0];
        $owner = ['ASSOCIATED_ENTITY_TYPE_ID' => $type, 'ASSOCIATED_ENTITY_ID' => $id];
        return ['SETTINGS' => $settings] + $row + ($type > 0 ? $owner : []);
    }
}
