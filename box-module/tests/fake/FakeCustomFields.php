<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Port\CustomFields;

final class FakeCustomFields implements CustomFields
{
    private const FIRST_OPTION = 71_001;

    public function __construct(private readonly Db $db)
    {
    }

    public function of(string $stream, ?string $type): array
    {
        $options = [];
        $sql = 'SELECT code, id, value, xml_id FROM option WHERE stream = ? AND type = ? ORDER BY id';
        foreach ($this->db->rows($sql, $stream, (string)$type) as $row) {
            $code = $row['code'];
            $options[$code][] = ['id' => (string)$row['id'], 'value' => $row['value'], 'xml_id' => $row['xml_id']];
        }
        $fields = [];
        $sql = 'SELECT code, kind, multiple FROM custom WHERE stream = ? AND type = ?';
        foreach ($this->db->rows($sql, $stream, (string)$type) as $row) {
            $facts = ['type' => $row['kind'], 'multiple' => $row['multiple'] === 1];
            $fields[$row['code']] = $facts + ['options' => $options[$row['code']] ?? []];
        }
        return $fields;
    }

    public function code(string $stream, ?string $type, string $code): string
    {
        return $type === null ? $code : preg_replace('/^UF_CRM_\d+_(?=.)/', "UF_CRM_{$type}_", $code);
    }

    public function create(string $stream, ?string $type, array $field): string
    {
        $code = $this->code($stream, $type, $field['code']);
        $values = [$stream, (string)$type, $code, $field['type'], $field['multiple'] ?? false];
        $this->db->run('INSERT INTO custom VALUES (?, ?, ?, ?, ?)', ...$values);
        return $code;
    }

    public function addOptions(string $stream, ?string $type, string $code, array $options): void
    {
        $this->db->inTransaction(function () use ($stream, $type, $code, $options): void {
            foreach ($options as $option) {
                $id = $this->db->value('SELECT max(id) FROM option') ?? self::FIRST_OPTION - 1;
                $values = [$id + 1, $stream, (string)$type, $code, $option['value'], $option['xml_id'] ?? ''];
                $this->db->run('INSERT INTO option VALUES (?, ?, ?, ?, ?, ?)', ...$values);
            }
        });
    }
}
