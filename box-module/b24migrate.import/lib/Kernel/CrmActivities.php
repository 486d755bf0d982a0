<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Port\Box;
use Bitrix\Crm\Activity\Provider\Email;
use Bitrix\Crm\ActivityTable;
use Bitrix\Crm\Format\TextHelper;
use Bitrix\Main\Text\Emoji;
use Bitrix\Main\Type\DateTime;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Calls, mail, meetings, to-dos and forms. `CCrmActivity::Add` sends mail again, starts robots and makes events of the
 * calendar, so the tables are written, in the order in which the kernel does it quietly.
 */
final class CrmActivities extends Gateway
{
    protected const TABLE = ActivityTable::class;
    protected const NEEDS = CrmActivityParts::NEEDS;
    protected const FIELDS = [
        'int' => 'TYPE_ID DESCRIPTION_TYPE PRIORITY DIRECTION',
        'text' => 'PROVIDER_ID PROVIDER_TYPE_ID SUBJECT DESCRIPTION LOCATION ORIGINATOR_ID ORIGIN_ID',
        'moment' => 'CREATED LAST_UPDATED START_TIME END_TIME DEADLINE',
        'flag' => 'COMPLETED',
        'link' => 'RESPONSIBLE_ID AUTHOR_ID EDITOR_ID',
    ];
    protected const FILLED = [
        'TYPE_ID', 'DESCRIPTION_TYPE', 'PRIORITY', 'DIRECTION', 'CREATED', 'LAST_UPDATED',
    ];
    private const SERIALIZED = ['SETTINGS', 'PROVIDER_PARAMS'];
    /** What the columns take: characters, and bytes of what is serialized. */
    private const LONGEST = ['SUBJECT' => 512, 'LOCATION' => 256];
    private const LARGEST_SETTINGS = 65535;
    private const WAITING = 1;
    private const COMPLETED = 2;
    /** Its body lies in a table of its own, which no method of the source opens. */
    private const COMPRESSED = 'EMAIL_COMPRESSED';
    private const MAIL = 4;
    private const HTML = 3;
    /** By this the kernel cleans a letter whenever it shows it. */
    private const CLEANED_WHEN_SHOWN = 'SANITIZE_ON_VIEW';

    public function __construct(Box $box, string $stream)
    {
        parent::__construct($box, $stream);
        CrmTimeline::silence();
    }

    public function create(string $key, array $fields): string
    {
        $created = $fields['CREATED'] ?? $fields['LAST_UPDATED'] ?? Dates::now();
        $fields = ['CREATED' => $created, 'LAST_UPDATED' => $fields['LAST_UPDATED'] ?? $created] + $fields
            + ['DEADLINE' => null, 'COMPLETED' => false];
        // Some columns are known to no table of the ORM and must not be empty; the rest follows as in a change.
        $id = (string)(int)$GLOBALS['DB']->Add('b_crm_act', self::columnsOfNewOne($fields));
        if ($id === '0') {
            throw self::refusal('the box does not take this activity');
        }
        $this->write($id, $fields + array_fill_keys(['RESPONSIBLE_ID', 'AUTHOR_ID', 'EDITOR_ID'], null));
        return $id;
    }

    public function update(string $id, array $fields): void
    {
        $before = self::mustExist($this->read([$id])[$id] ?? null);
        $created = ['CREATED' => $fields['CREATED'] ?? $before['CREATED']];
        $this->write($id, $created + $fields + $before, $before);
    }

    /** Not by the kernel's own way, which writes history and counts again at once. */
    public function delete(string $id): void
    {
        $before = $this->read([$id])[$id] ?? [];
        (new CrmActivityParts((int)$id))->deleteAll();
        CrmActivityParts::uncount((int)$id);
        self::mustSucceed(ActivityTable::delete((int)$id));
        $before === [] || CrmActivityParts::synchronizeOpen([$before]);
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return CrmNotes::isOn(['activityId' => $id]) ? 'it has a note' : null;
    }

    /** What is counted for the person who is responsible, once everything has arrived. */
    public function settle(int $id): void
    {
        $row = self::findRow(ActivityTable::class, ['COMPLETED'], $id);
        $row === [] || Columns::fromColumn('flag', $row['COMPLETED']) || CrmActivityParts::count($id);
    }

    protected function loadRows(array $ids): array
    {
        $columns = array_column(self::columns()->kinds, 0);
        $own = ['ID', 'OWNER_TYPE_ID', 'OWNER_ID', ...self::SERIALIZED];
        $rows = self::findRows(ActivityTable::class, [...$own, ...$columns], ['@ID' => $ids]);
        $parts = CrmActivityParts::of($ids);
        return array_map(static fn(array $row) => $row + array_map(
            static fn(array $of) => $of[(int)$row['ID']] ?? null,
            $parts
        ), $rows);
    }

    protected function toFields(array $row): array
    {
        $fields = parent::toFields($row);
        foreach (['START_TIME', 'END_TIME', 'DEADLINE'] as $name) {
            $fields[$name] = str_starts_with((string)$fields[$name], '9999') ? null : $fields[$name];
        }
        foreach (self::SERIALIZED as $name) {
            $fields[$name] = is_array($row[$name]) && $row[$name] !== [] ? self::named($row[$name]) : null;
        }
        return $fields + [
            'OWNER' => CrmOwners::owner((int)$row['OWNER_TYPE_ID'], (int)$row['OWNER_ID']),
            'STATUS' => (int)$row['status'],
            'BINDINGS' => $row['bindings'] ?? [],
            'COMMUNICATIONS' => $row['communications'] ?? [],
            'FILES' => $row['files'] ?? [],
            'IS_INCOMING_CHANNEL' => $row['incoming'] ?? false,
        ];
    }

    /** @param ?array<string, mixed> $before null for a new one */
    private function write(string $id, array $fields, ?array $before = null): void
    {
        $isOpen = !$fields['COMPLETED'];
        [$type, $owner] = CrmOwners::parts($fields['OWNER']);
        $row = $this->row($fields) + ['OWNER_TYPE_ID' => $type, 'OWNER_ID' => $owner];
        self::mustSucceed(ActivityTable::update((int)$id, $row + ['IS_HANDLEABLE' => $isOpen ? 'Y' : 'N']));
        $files = array_map('intval', $fields['FILES'] ?? []);
        $raw = [
            'STATUS' => (int)($fields['STATUS'] ?? ($isOpen ? self::WAITING : self::COMPLETED)),
            'THREAD_ID' => (int)$id,
            'STORAGE_TYPE_ID' => CrmActivityParts::DISK,
            // Only numbers, hence nothing to escape.
            'STORAGE_ELEMENT_IDS' => "'" . serialize($files) . "'",
        ];
        $GLOBALS['DB']->Update('b_crm_act', array_map('strval', $raw), 'WHERE ID = ' . (int)$id);
        $this->leftOut = [...$this->leftOut, ...(new CrmActivityParts((int)$id))->write($fields, $files)];
        $wasOpen = $before !== null && !$before['COMPLETED'];
        if ($isOpen || $wasOpen) {
            CrmActivityParts::synchronizeOpen(array_filter([$fields, $before]));
        }
        // One that is still open is counted again at the end of the run.
        $wasOpen && CrmActivityParts::uncount((int)$id);
    }

    private function row(array $fields): array
    {
        $fields = $this->harmless($fields);
        $row = self::columns()->toKernel($fields);
        foreach (array_intersect_key(self::LONGEST, $row) as $column => $most) {
            $cut = mb_substr($row[$column], 0, $most);
            // An emoji takes ten characters of the column.
            while (mb_strlen(Emoji::encode($cut)) > $most) {
                $cut = mb_substr($cut, 0, -1);
            }
            $this->leftOut = [...$this->leftOut, ...($cut === $row[$column] ? [] : [$column])];
            $row[$column] = $cut;
        }
        foreach (array_intersect(self::SERIALIZED, array_keys($fields)) as $name) {
            $row[$name] = CrmActivityParts::plain($fields[$name] ?? []);
        }
        if (strlen(Emoji::encode(serialize($row['SETTINGS'] ?? []))) > self::LARGEST_SETTINGS) {
            $row['SETTINGS'] = array_intersect_key($row['SETTINGS'], [self::CLEANED_WHEN_SHOWN => true]);
            $this->leftOut[] = 'SETTINGS';
        }
        $compressed = ($row['PROVIDER_TYPE_ID'] ?? '') === self::COMPRESSED ? ['PROVIDER_TYPE_ID' => 'EMAIL'] : [];
        // Made here: what the kernel's own helper answers is a piece of SQL, unless it is told otherwise.
        $never = DateTime::createFromTimestamp((int)mktime(0, 0, 0, 12, 31, 9999));
        return $compressed + ['DEADLINE' => $row['DEADLINE'] ?? $never] + $row;
    }

    /**
     * The kernel shows a description in HTML as it is in the table: it cleans what it takes, or marks a letter to be
     * cleaned when it is shown. A script in it would run for everybody who opens it.
     */
    private function harmless(array $fields): array
    {
        $description = (string)($fields['DESCRIPTION'] ?? '');
        if ((int)($fields['DESCRIPTION_TYPE'] ?? 0) !== self::HTML || $description === '') {
            return $fields;
        }
        $provider = (string)($fields['PROVIDER_ID'] ?? '');
        $isLetter = $provider === 'CRM_EMAIL' || ($provider === '' && $fields['TYPE_ID'] === self::MAIL);
        if ($isLetter && method_exists(Email::class, 'getDescriptionHtmlByActivityFields')) {
            $settings = (array)($fields['SETTINGS'] ?? []);
            $settings[self::CLEANED_WHEN_SHOWN] = ($settings[self::CLEANED_WHEN_SHOWN] ?? 0) ?: 1;
            return ['SETTINGS' => $settings] + $fields;
        }
        $clean = TextHelper::sanitizeHtml($description);
        $clean === $description || $this->leftOut[] = 'DESCRIPTION';
        return ['DESCRIPTION' => $clean] + $fields;
    }

    /** Those that must not be empty. Dates are strings of the site here. */
    private static function columnsOfNewOne(array $fields): array
    {
        [$type, $owner] = CrmOwners::parts($fields['OWNER']);
        $created = Dates::text($fields['CREATED']);
        return [
            'TYPE_ID' => $fields['TYPE_ID'],
            'OWNER_TYPE_ID' => $type,
            'OWNER_ID' => $owner,
            'SUBJECT' => '',
            'COMPLETED' => 'N',
            'STATUS' => self::WAITING,
            'RESPONSIBLE_ID' => (int)($fields['RESPONSIBLE_ID'] ?? 0),
            'DESCRIPTION_TYPE' => 1,
            'PRIORITY' => 2,
            'NOTIFY_TYPE' => 0,
            'DIRECTION' => 0,
            'PARENT_ID' => 0,
            'THREAD_ID' => 0,
            'CALENDAR_EVENT_ID' => 0,
            'ASSOCIATED_ENTITY_ID' => 0,
            'CREATED' => $created,
            'LAST_UPDATED' => $created,
        ];
    }

    /** Lists stay lists; values with names become objects. */
    private static function named(array $value): array|object
    {
        return array_is_list($value) ? (object)$value : $value;
    }
}
