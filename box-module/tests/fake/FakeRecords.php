<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\CatalogRules;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Contract\ListValues;
use B24migrate\Import\Port\Records;

/**
 * The records of one stream. Those of some streams are written apart from the map, as the kernel writes them: its own
 * transactions, files and caches do not wait for ours. The setting `apart` names other ones.
 */
final class FakeRecords implements Records
{
    private const APART = ['users', 'chats', 'chat_messages', 'feed_posts', 'feed_comments', 'files'];
    private const FIRST_OPTION = 71_001;
    private const RESTLESS = ['groups' => ['DATE_ACTIVITY']];
    private const QUESTIONS = [
        'users' => [['EMAIL']],
        'crm_types' => [['title']],
        'crm_categories' => [['entityTypeId', 'name']],
        'crm_stages' => [['ENTITY_ID', 'STATUS_ID'], ['ENTITY_ID', 'NAME']],
        'crm_currencies' => [['CURRENCY']],
        'crm_measures' => [['code']],
        'crm_vats' => [['name', 'rate'], ['withoutTax']],
        'crm_price_types' => [['base'], ['xmlId'], ['name']],
        'crm_catalog_sections' => [['name'], ['iblockSectionId', 'name']],
        'crm_product_props' => [['kind', 'code', 'propertyType'], ['kind', 'name', 'propertyType']],
        'crm_requisite_presets' => [['XML_ID'], ['COUNTRY_ID', 'NAME']],
    ];

    private readonly Db $db;

    public function __construct(private readonly FakeBox $box, private readonly string $stream)
    {
        $this->db = $box->db;
    }

    public function losses(): array
    {
        return $this->box->setting('losses')[$this->stream] ?? [];
    }

    public function approximations(): array
    {
        return [];
    }

    public function leftOut(): array
    {
        return [];
    }

    public function has(string $id): bool
    {
        return $this->db->value('SELECT 1 FROM row WHERE stream = ? AND id = ?', $this->stream, $id) !== null
            && (string)(int)$id === $id;
    }

    public function find(array $values): ?string
    {
        $sql = 'SELECT min(id) FROM look WHERE stream = ? AND question = ?';
        $id = $this->db->value($sql, $this->stream, self::question($values));
        return $id === null ? null : (string)$id;
    }

    public function read(array $ids): array
    {
        $sql = 'SELECT id, fields FROM row WHERE stream = ? AND id IN (' . Db::marks($ids) . ')';
        $rows = $this->db->rows($sql, $this->stream, ...array_map('intval', $ids));
        // the setting `bent` is what the box makes of fields, whatever is written
        $bent = (array)($this->box->setting('bent')[$this->stream] ?? []);
        $read = static fn ($fields) => $bent + (array)Json::decode($fields);
        $found = array_map($read, array_column($rows, 'fields', 'id'));
        foreach (array_filter($found, static fn (array $fields) => isset($fields['options'])) as $id => $fields) {
            $own = $this->options((string)$id, $fields['options']);
            $named = static fn ($one) => (object)(['id' => $own[((array)$one)['id']]] + (array)$one);
            $found[$id]['options'] = array_map($named, $fields['options']);
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $id = $this->db->inTransaction(function () use ($key, $fields): string {
            $sql = 'UPDATE next SET number = number + 1 WHERE stream = ? RETURNING number - 1';
            $id = (string)$this->db->value($sql, $this->stream);
            $this->place($id, $fields, $key);
            $this->addOptions($id, $fields);
            return $id;
        });
        $this->box->accidents->at('after-create');
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        $this->db->inTransaction(function () use ($id, $fields): void {
            $stamp = $this->db->value('SELECT stamp FROM row WHERE stream = ? AND id = ?', $this->stream, (int)$id);
            $this->place($id, array_replace($this->read([$id])[$id], $fields), $stamp);
            $this->addOptions($id, $fields);
        });
        $this->box->accidents->at('after-update');
    }

    public function options(string $id, array $sent): array
    {
        return ListValues::match($sent, array_map($this->named(...), $this->listValues($id)));
    }

    /** Those of a list that the box does not have yet. */
    private function addOptions(string $id, array $fields): void
    {
        foreach (array_map(static fn ($one) => (array)$one, $fields['options'] ?? []) as $option) {
            if ($this->options($id, [$option]) === []) {
                $next = ($this->db->value('SELECT max(id) FROM option') ?? self::FIRST_OPTION - 1) + 1;
                $values = [$next, $this->stream, $id, '', $option['value'], $option['xmlId'] ?? ''];
                $this->db->run('INSERT INTO option VALUES (?, ?, ?, ?, ?, ?)', ...$values);
            }
        }
    }

    private function listValues(string $id): array
    {
        $sql = 'SELECT id, value, xml_id FROM option WHERE stream = ? AND type = ? ORDER BY id';
        return $this->db->rows($sql, $this->stream, $id);
    }

    private function named(array $row): array
    {
        return ['id' => (string)$row['id'], 'value' => $row['value'], 'xmlId' => $row['xml_id']];
    }

    public function delete(string $id): void
    {
        $this->db->inTransaction(function () use ($id): void {
            $this->forget($id);
            $this->db->run('DELETE FROM option WHERE stream = ? AND type = ?', $this->stream, $id);
            $this->db->run('DELETE FROM row WHERE stream = ? AND id = ?', $this->stream, (int)$id);
        });
        $this->box->accidents->at('after-delete');
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        $sql = 'SELECT DISTINCT stream, id FROM ref WHERE to_stream = ? AND to_id = ? ORDER BY stream, id';
        $others = array_filter(
            $this->db->rows($sql, $this->stream, (int)$id),
            fn ($row) => $row['stream'] !== $this->stream || !in_array((string)$row['id'], [$id, ...$gone], true)
        );
        $first = reset($others);
        return $first === false
            ? null
            : count($others) . " others depend on it, such as {$first['stream']} {$first['id']}";
    }

    public function isAtomic(): bool
    {
        return !in_array($this->stream, $this->box->setting('apart') ?? self::APART, true);
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        $id = $this->db->value('SELECT id FROM row WHERE stream = ? AND stamp = ?', $this->stream, $key);
        return $id === null ? null : (string)$id;
    }

    public function volatileFields(): array
    {
        return self::RESTLESS[$this->stream] ?? [];
    }

    /**
     * Puts a record there, with everything that it can be found by.
     *
     * @param array<string, mixed> $fields
     */
    public function place(string $id, array $fields, ?string $stamp = null): void
    {
        $this->forget($id);
        $values = [$this->stream, (int)$id, Json::encode((object)$fields), $stamp];
        $this->db->run('REPLACE INTO row VALUES (?, ?, ?, ?)', ...$values);
        $facts = $fields + ['kind' => CatalogRules::kindOfProperty((string)$stamp)]
            + (isset($fields['rate']) ? [] : ['withoutTax' => true]);
        foreach (self::QUESTIONS[$this->stream] ?? [] as $names) {
            $answers = array_intersect_key($facts, array_flip($names));
            if (count($answers) === count($names) && !in_array(null, $answers, true)) {
                $this->db->run('INSERT INTO look VALUES (?, ?, ?)', $this->stream, self::question($answers), (int)$id);
            }
        }
        foreach (References::of($this->box, $this->stream, $id, $fields) as [$stream, $other]) {
            $this->db->run('INSERT INTO ref VALUES (?, ?, ?, ?)', $this->stream, (int)$id, $stream, (int)$other);
        }
    }

    /** @return array<string, array<string, mixed>> everything there is, by id */
    public function all(): array
    {
        $rows = $this->db->rows('SELECT id, fields FROM row WHERE stream = ? ORDER BY id', $this->stream);
        return array_map(static fn ($fields) => (array)Json::decode($fields), array_column($rows, 'fields', 'id'));
    }

    private function forget(string $id): void
    {
        $this->db->run('DELETE FROM look WHERE stream = ? AND id = ?', $this->stream, (int)$id);
        $this->db->run('DELETE FROM ref WHERE stream = ? AND id = ?', $this->stream, (int)$id);
    }

    /** @param array<string, mixed> $values */
    private static function question(array $values): string
    {
        if (is_string($values['EMAIL'] ?? null)) {
            $values['EMAIL'] = mb_strtolower(trim($values['EMAIL']));
        }
        return Json::canonical($values);
    }
}
