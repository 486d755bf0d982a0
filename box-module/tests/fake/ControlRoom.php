<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Json;

/** What tests do to the box behind the client's back. */
final class ControlRoom
{
    public function __construct(private readonly FakeBox $box, private readonly Stage $stage)
    {
    }

    /** @param array<string, string> $query */
    public function answer(string $name, array $query, string $body): string
    {
        $given = trim($body) === '' ? [] : (array)Json::decode($body);
        $stream = $query['stream'] ?? '';
        $answer = match ($name) {
            'reset' => $this->reset($given),
            'snapshot' => $this->snapshot(),
            'dump' => $this->box->map()->dump($stream),
            'rows' => self::named($this->box->records($stream)->all()),
            'custom_fields' => (object)$this->box->customFields()->of($stream, $query['type'] ?? null),
            'watch' => (new Watch($this->stage->db))->told(),
            'edit' => $this->edit($given),
            'fail_item' => $this->failItem($given),
            'crash' => $this->crash($given),
            'losses' => $this->box->set('losses', (object)$given),
            'bent' => $this->box->set('bent', (object)$given),
            'allow_activities' => $this->box->set('allow_activities', $given),
        };
        return Json::encode($answer ?? (object)[]);
    }

    /**
     * Empties the box and furnishes it anew: {"furniture": {stream: {id: fields}}}, where streams that are not named
     * stay as on any box; {"timezone": …, "limits": …, "entities": …}.
     *
     * @param array<string, mixed> $given
     */
    private function reset(array $given): void
    {
        $this->box->db->inTransaction(function () use ($given): void {
            $tables = 'row ref look next map custom option upload chunk setting';
            array_map(fn ($table) => $this->box->db->run("DELETE FROM $table"), explode(' ', $tables));
            $furniture = array_map(
                static fn ($rows) => array_map(static fn ($fields) => (array)$fields, (array)$rows),
                (array)($given['furniture'] ?? [])
            );
            Furniture::place($this->box, $furniture + Furniture::ofAnyBox());
            $settings = array_flip(['timezone', 'limits', 'entities', 'streams', 'apart']);
            foreach (array_intersect_key($given, $settings) as $name => $value) {
                $this->box->set($name, $value);
            }
        });
        $tables = 'death failure counter highest waiting';
        array_map(fn ($table) => $this->stage->db->run("DELETE FROM $table"), explode(' ', $tables));
    }

    /** @return array<string, mixed> everything the box holds */
    private function snapshot(): array
    {
        $streams = [];
        foreach ([...array_keys(Catalog::streams()), 'files'] as $stream) {
            $streams[$stream] = [
                'rows' => self::named($this->box->records($stream)->all()),
                'dump' => $this->box->map()->dump($stream),
            ];
        }
        $intents = $this->box->db->rows('SELECT key, stream FROM map WHERE id IS NULL ORDER BY key');
        $uploads = $this->box->db->rows('SELECT * FROM upload ORDER BY key');
        $custom = $this->box->db->rows('SELECT * FROM custom ORDER BY stream, type, code');
        $options = $this->box->db->rows('SELECT * FROM option ORDER BY id');
        return $streams + compact('intents', 'uploads', 'custom', 'options');
    }

    /**
     * Somebody changes a record on the box by hand.
     *
     * @param array<string, mixed> $given
     */
    private function edit(array $given): void
    {
        $this->box->records($given['stream'])->update($given['id'], (array)$given['fields']);
    }

    /** @param array<string, mixed> $given */
    private function failItem(array $given): void
    {
        $retry = $given['retry'] ?? false;
        $this->stage->arrangeFailure($given['glob'], $given['code'], $retry, $given['times'] ?? 1);
    }

    /** @param array<string, mixed> $given */
    private function crash(array $given): void
    {
        $this->stage->arrangeDeath($given['at'], $given['times'] ?? 1, $given['how'] ?? 'gone');
    }

    /**
     * @param array<string, array<string, mixed>> $rows
     * @return object by id, records as objects even when they are empty
     */
    private static function named(array $rows): object
    {
        return (object)array_map(static fn ($fields) => (object)$fields, $rows);
    }
}
