<?php

// Module crm: the timeline, and the monitor that changes an owner when somebody wrote into its timeline.

declare(strict_types=1);

namespace Bitrix\Crm\Service\Timeline {

    use B24migrate\Import\Tests\Kernel\World;

    /** At the end of the hit it runs an update operation on every owner it heard of, with its robots. */
    class Monitor
    {
        /** Whether this kernel lets itself be told to do nothing. The worst does not. */
        public static bool $obeys = false;
        private bool $silent = false;
        /** @var array<string, bool> whether to change it or only to tell browsers, by type and id */
        private array $heard = [];

        public static function getInstance()
        {
            return World::$services['timeline monitor'] ??= new self();
        }

        public static function onLastActivityRecalculationByAgent(): void
        {
            World::call('the monitor is silenced');
            self::getInstance()->silent = self::$obeys;
        }

        public function tell(int $type, int $id, bool $changes): void
        {
            $this->heard["$type:$id"] = $changes || ($this->heard["$type:$id"] ?? false);
        }

        public function isTimelineChanged(\Bitrix\Crm\ItemIdentifier $timelineOwner): bool
        {
            return $this->heard["{$timelineOwner->getEntityTypeId()}:{$timelineOwner->getEntityId()}"] ?? false;
        }

        public function process(): void
        {
            foreach ($this->silent ? [] : $this->heard as $owner => $changes) {
                World::call('pull event of an owner', [$owner]);
                if ($changes) {
                    [$type, $id] = array_map('intval', explode(':', $owner));
                    World::$noise[] = "the owner $owner was changed, and its robots ran";
                    $now = ['UPDATED_TIME' => World::now(), 'UPDATED_BY' => 1, 'LAST_ACTIVITY_TIME' => World::now()];
                    World::set("crm_$type", $id, $now + World::row("crm_$type", $id));
                }
            }
            $this->heard = [];
        }
    }
}

namespace Bitrix\Crm\Search {

    use B24migrate\Import\Tests\Kernel\World;

    abstract class SearchContentBuilder
    {
        abstract public function build($entityID, $options = null);
    }

    class TimelineSearchContentBuilder extends SearchContentBuilder
    {
        public function build($entityID, $options = null)
        {
            World::set('search of timeline', $entityID, ['OWNER_ID' => $entityID]);
        }
    }

    class ActivitySearchContentBuilder extends SearchContentBuilder
    {
        public function build($entityID, $options = null)
        {
            World::set('crm_act', $entityID, ['SEARCH_CONTENT' => 'x'] + World::row('crm_act', $entityID));
        }
    }

    class SearchContentBuilderFactory
    {
        public static function create($entityTypeID)
        {
            return new ActivitySearchContentBuilder();
        }
    }
}

namespace Bitrix\Crm\Timeline {

    use B24migrate\Import\Tests\Kernel\World;

    class TimelineType
    {
        public const ACTIVITY = 1;
        public const COMMENT = 7;
        public const LOG_MESSAGE = 17;
    }

    class LogMessageType
    {
        public const REST = 5;
    }

    /** The kernel's own way, with all that it starts. */
    class CommentEntry
    {
        public static function create(array $params)
        {
            array_push(World::$noise, 'a notification of a mention', 'a call was completed', 'an event');
            return 0;
        }
    }
}

namespace Bitrix\Crm\Timeline\Entity {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Crm\Service\Timeline\Monitor;
    use Bitrix\Crm\Timeline\TimelineType;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Result;
    use Bitrix\Main\Text\Emoji;

    /** Encodes nothing. A note goes with its row. */
    class TimelineTable extends DataManager
    {
        protected const TABLE = 'crm_timeline';

        public static function add(array $data)
        {
            self::refuse($data);
            return parent::add($data);
        }

        public static function update(string|int $id, array $data)
        {
            self::refuse($data);
            return parent::update($id, $data);
        }

        public static function delete(string|int $id)
        {
            $of = ['ITEM_TYPE' => NoteTable::NOTE_TYPE_HISTORY, 'ITEM_ID' => $id];
            array_map(NoteTable::delete(...), array_column(Rows::matching('crm_notes', $of), 'ID'));
            return parent::delete($id);
        }

        private static function refuse(array $row): void
        {
            Emoji::refuse($row);
            if (strlen($row['COMMENT'] ?? '') > 65535) {
                throw new \RuntimeException('Data too long for column COMMENT');
            }
        }
    }

    /** Three columns make its key. */
    class TimelineBindingTable extends DataManager
    {
        protected const TABLE = 'crm_timeline_bind';

        public static function upsert(array $data)
        {
            World::set(self::TABLE, self::key($data), $data + ['IS_FIXED' => 'N']);
        }

        public static function delete(string|int|array $primary)
        {
            $key = self::key($primary);
            isset(World::$tables[self::TABLE][$key]) || throw new \LogicException("nothing is bound by $key");
            unset(World::$tables[self::TABLE][$key]);
            return new Result();
        }

        public static function deleteByOwner($ownerID)
        {
            $row = World::row('crm_timeline', $ownerID);
            foreach (Rows::matching(self::TABLE, ['OWNER_ID' => $ownerID]) as $one) {
                $isComment = ($row['TYPE_ID'] ?? 0) === TimelineType::COMMENT;
                Monitor::getInstance()->tell($one['ENTITY_TYPE_ID'], $one['ENTITY_ID'], $isComment);
                self::delete($one);
            }
        }

        private static function key(array $link): string
        {
            return "{$link['OWNER_ID']}:{$link['ENTITY_TYPE_ID']}:{$link['ENTITY_ID']}";
        }
    }

    class TimelineSearchTable extends DataManager
    {
        protected const TABLE = 'search of timeline';

        public static function deleteByOwner($ownerID)
        {
            unset(World::$tables[self::TABLE][$ownerID]);
        }
    }

    /** All of its columns are required, and it does not tell the number of a new row. */
    class NoteTable extends DataManager
    {
        public const NOTE_TYPE_HISTORY = 1;
        public const NOTE_TYPE_ACTIVITY = 2;
        protected const TABLE = 'crm_notes';
        private const REQUIRED = [
            'ITEM_TYPE', 'ITEM_ID', 'CREATED_BY_ID', 'CREATED_TIME', 'UPDATED_BY_ID', 'UPDATED_TIME', 'TEXT',
        ];

        public static function add(array $data)
        {
            $filled = array_filter($data, static fn($value) => !in_array($value, [null, ''], true));
            if (array_diff(self::REQUIRED, array_keys($filled)) !== []) {
                throw new \LogicException('A required field is empty');
            }
            parent::add($data);
            return new AddResult(0);
        }
    }
}
