<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\CustomFields;
use B24migrate\Import\Port\Guard;
use B24migrate\Import\Port\UploadStore;

/** A box on one SQLite file (':memory:' for unit tests), with a stage direction for accidents. */
final class FakeBox implements Box
{
    public const LIMITS = [
        'items' => 100,
        'body_bytes' => 8_000_000,
        'file_bytes' => 1_073_741_824,
        'chunk_bytes' => 4_194_304,
    ];
    private const SCHEMA = <<<'SQL'
        CREATE TABLE row(stream TEXT, id INTEGER, fields TEXT, stamp TEXT, PRIMARY KEY (stream, id));
        CREATE INDEX row_stamp ON row(stream, stamp);
        CREATE TABLE ref(stream TEXT, id INTEGER, to_stream TEXT, to_id INTEGER);
        CREATE INDEX ref_from ON ref(stream, id);
        CREATE INDEX ref_to ON ref(to_stream, to_id);
        CREATE TABLE look(stream TEXT, question TEXT, id INTEGER);
        CREATE INDEX look_question ON look(stream, question);
        CREATE INDEX look_id ON look(stream, id);
        CREATE TABLE next(stream TEXT PRIMARY KEY, number INTEGER);
        CREATE TABLE map(key TEXT PRIMARY KEY, stream TEXT, id INTEGER, digest TEXT, adopted INTEGER, print TEXT,
            created_count INTEGER, updated_count INTEGER, imported_at TEXT);
        CREATE INDEX map_id ON map(stream, id, key);
        CREATE TABLE custom(stream TEXT, type TEXT, code TEXT, kind TEXT, multiple INTEGER,
            PRIMARY KEY (stream, type, code));
        CREATE TABLE option(id INTEGER PRIMARY KEY, stream TEXT, type TEXT, code TEXT, value TEXT, xml_id TEXT);
        CREATE TABLE upload(key TEXT PRIMARY KEY, name TEXT, size INTEGER, sha256 TEXT, received INTEGER);
        CREATE TABLE chunk(key TEXT, place INTEGER, bytes BLOB, PRIMARY KEY (key, place));
        CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT)
        SQL;

    public readonly Db $db;
    private readonly FakeGuard $guard;

    /** @var array<string, FakeRecords> */
    private array $records = [];

    /** @param array<string, int> $limits those that differ */
    public function __construct(string $path, public readonly Accidents $accidents, private readonly array $limits = [])
    {
        $this->db = new Db($path, self::SCHEMA);
        $this->guard = new FakeGuard($this->db);
        if ($this->setting('root_department') === null) {
            $furnish = fn () => Furniture::place($this, Furniture::ofAnyBox());
            $this->db->inTransaction(fn () => $this->setting('root_department') ?? $furnish());
        }
    }

    public function records(string $stream): FakeRecords
    {
        return $this->records[$stream] ??= new FakeRecords($this, $stream);
    }

    public function streams(): array
    {
        return $this->setting('streams') ?? array_keys(array_filter(
            Catalog::streams(),
            Catalog::isOfLaterVersion(...),
            ARRAY_FILTER_USE_KEY
        ));
    }

    public function map(): FakeMap
    {
        return new FakeMap($this);
    }

    public function guard(): Guard
    {
        return $this->guard;
    }

    public function customFields(): CustomFields
    {
        return new FakeCustomFields($this->db);
    }

    public function uploads(): UploadStore
    {
        return new FakeUploadStore($this);
    }

    public function quiet(): void
    {
    }

    public function rootDepartment(): string
    {
        return $this->setting('root_department');
    }

    public function timezone(): string
    {
        return $this->setting('timezone');
    }

    public function allowedActivities(): array
    {
        return $this->setting('allow_activities') ?? [];
    }

    public function limits(): array
    {
        return ($this->setting('limits') ?? []) + $this->limits + self::LIMITS;
    }

    public function versions(): array
    {
        return ['b24migrate.import' => '0.1.0', 'main' => '25.100.200', 'tasks' => '24.450.0'];
    }

    /** The setting `noise` is what was started, by kind. */
    public function listen(): \Closure
    {
        return fn (array $ids): array => (array)$this->setting('noise') + ['mails' => [], 'agents' => []];
    }

    public function findings(): array
    {
        return array_map(static fn ($rule) => (array)$rule, $this->setting('findings') ?? []);
    }

    public function keepFindings(array $rules): void
    {
        $this->set('findings', $rules);
    }

    /** Counts chats: a stretch of a hundred at a time, as the kernel would be asked to recount them. */
    public function finalize(string $after): array
    {
        $sql = "SELECT id FROM row WHERE stream = 'chats' AND id > ? ORDER BY id LIMIT 100";
        $ids = array_column($this->db->rows($sql, (int)$after), 'id');
        return ['done' => count($ids), 'cursor' => count($ids) === 100 ? (string)end($ids) : null];
    }

    public function setting(string $name): mixed
    {
        $value = $this->db->value('SELECT value FROM setting WHERE name = ?', $name);
        return $value === null ? null : Json::decode($value);
    }

    public function set(string $name, mixed $value): void
    {
        $this->db->run('REPLACE INTO setting VALUES (?, ?)', $name, Json::encode($value));
    }
}
