<?php

// Module crm: activities with what hangs on them, and what the kernel starts when somebody writes them its own way.
// phpcs:disable Generic.NamingConventions.UpperCaseConstantName -- the kernel's own names

declare(strict_types=1);

namespace Bitrix\Crm {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Text\Emoji;

    /** Knows neither STATUS nor CALENDAR_EVENT_ID, which must not be empty. Subjects and texts it encodes itself. */
    class ActivityTable extends DataManager
    {
        protected const TABLE = 'crm_act';
        private const ENCODED = ['SUBJECT' => 1, 'DESCRIPTION' => 1];

        public static function add(array $data)
        {
            throw new \RuntimeException("Field 'STATUS' doesn't have a default value");
        }

        public static function update(string|int $id, array $data)
        {
            $texts = array_map(Emoji::encode(...), array_intersect_key($data, self::ENCODED));
            return parent::update($id, $texts + $data);
        }

        public static function getList(array $parameters = []): Rows
        {
            return new Rows(array_map(
                static fn(array $row) => array_map(Emoji::decode(...), array_intersect_key($row, self::ENCODED)) + $row,
                parent::getList($parameters)->fetchAll()
            ));
        }
    }

    class ActivityBindingTable extends DataManager
    {
        protected const TABLE = 'crm_act_bind';
    }

    class ActivityElementTable extends DataManager
    {
        protected const TABLE = 'crm_act_elem';
    }

    class DealRecurTable extends DataManager
    {
        protected const TABLE = 'crm_deal_recur';
        protected const DEFAULTS = ['ACTIVE' => 'N', 'IS_LIMIT' => 'N'];

        public static function add(array $data)
        {
            $result = parent::add($data);
            self::expose();
            return $result;
        }

        public static function update(string|int $id, array $data)
        {
            $result = parent::update($id, $data);
            self::expose();
            return $result;
        }

        public static function delete($primary)
        {
            if (World::row('crm_2', (int)World::row(self::TABLE, $primary)['DEAL_ID']) !== []) {
                throw new \LogicException('Deleting is impossible. Connected recurring deal exists.');
            }
            return parent::delete($primary);
        }

        /** What the agent does with one that is due, and all of the past are. */
        private static function expose(): void
        {
            foreach (Rows::matching(self::TABLE, ['=ACTIVE' => 'Y']) as $row) {
                World::$noise[] = "a deal was made of the template {$row['DEAL_ID']}";
            }
        }
    }
}

namespace Bitrix\Crm\Activity\Entity {

    use Bitrix\Main\ORM\Data\DataManager;

    class IncomingChannelTable extends DataManager
    {
        protected const TABLE = 'crm_act_incoming';
    }
}

namespace Bitrix\Crm\Activity {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Crm\Service\Timeline\Monitor;
    use Bitrix\Main\ORM\Data\DataManager;

    /** Its first column is its number, and it answers nothing. */
    class MailMetaTable extends DataManager
    {
        protected const TABLE = 'crm_act_mail';

        public static function add(array $data)
        {
            World::set(self::TABLE, $data['ACTIVITY_ID'], $data);
        }
    }

    /** The next thing to do, by record and person; person 0 is everybody. */
    class UncompletedActivity
    {
        public static function synchronizeForBindingsAndResponsibles(array $bindings, array $responsibleIds): void
        {
            foreach ($bindings as ['OWNER_TYPE_ID' => $type, 'OWNER_ID' => $id]) {
                foreach ($responsibleIds as $person) {
                    unset(World::$tables['crm_uncompleted']["$type:$id:$person"]);
                    $open = self::openOf($type, $id, $person);
                    $open === [] || World::set('crm_uncompleted', "$type:$id:$person", ['ACTIVITY_ID' => $open[0]]);
                    Monitor::getInstance()->tell($type, $id, false);
                }
            }
        }

        private static function openOf(int $type, int $id, int $person): array
        {
            $bound = array_column(Rows::matching('crm_act_bind', ['OWNER_TYPE_ID' => $type, 'OWNER_ID' => $id]), null);
            $ids = array_column($bound, 'ACTIVITY_ID');
            $filter = ['@ID' => $ids ?: [0], 'COMPLETED' => 'N'] + ($person > 0 ? ['RESPONSIBLE_ID' => $person] : []);
            $rows = Rows::matching('crm_act', $filter);
            usort($rows, static fn(array $a, array $b) => Rows::order($a['DEADLINE'], $b['DEADLINE']));
            return array_column($rows, 'ID');
        }
    }
}

namespace Bitrix\Crm\Agent\Activity {

    class RecalculateAllUncompletedAgent
    {
        public static function run()
        {
            return '';
        }
    }

    class FillLightCounterTimeAgent extends RecalculateAllUncompletedAgent
    {
    }
}

namespace Bitrix\Crm\Counter {

    use B24migrate\Import\Tests\Kernel\World;

    class EntityCountableActivityTable
    {
        public static function deleteByActivity(int $activityId): void
        {
            unset(World::$tables['crm_countable'][$activityId]);
        }
    }
}

namespace Bitrix\Crm\Counter\Monitor {

    use B24migrate\Import\Tests\Kernel\World;

    class CountableActivitySynchronizer
    {
        public static function synchronizeByActivityId(int $activityId): void
        {
            World::set('crm_countable', $activityId, ['ACTIVITY_ID' => $activityId]);
        }
    }
}

namespace Bitrix\Crm\Recurring {

    class Manager
    {
        public const SINGLE_EXECUTION = 1;
        public const SINGLE_EXECUTION_NAME = 'single';
        public const MULTIPLY_EXECUTION = 2;
        public const MULTIPLY_EXECUTION_NAME = 'multiple';
    }
}

namespace Bitrix\Crm\Recurring\Entity\ParameterMapper {

    use Bitrix\Crm\Recurring\Manager;

    /** Of the many values of a schedule those of one that comes again: mode, unit and interval. */
    abstract class Map
    {
        protected const UNITS = ['day' => 1, 'week' => 2, 'month' => 3, 'year' => 4];
        protected const CUSTOM = 5;
        /** @var array{int, int, int} */
        public array $values = [0, 0, 0];

        abstract public function fillMap(array $params = []);

        abstract public function getFormattedMap();

        public function convert($map)
        {
            $this->values = $map->values;
        }
    }

    class RestDeal extends Map
    {
        public function fillMap(array $params = [])
        {
            // A word would be taken for the other mode.
            $mode = (int)$params['MODE'] ?: throw new \LogicException('The mode of a schedule is a number here');
            $this->values = [$mode, self::UNITS[$params['MULTIPLE_TYPE']] ?? 0, (int)$params['MULTIPLE_INTERVAL']];
        }

        public function getFormattedMap()
        {
            [$mode, $unit, $interval] = $this->values;
            $word = $mode === Manager::SINGLE_EXECUTION ? Manager::SINGLE_EXECUTION_NAME : 'multiple';
            return ['MODE' => $word, 'MULTIPLE_TYPE' => array_search($unit, self::UNITS, true)]
                + ['MULTIPLE_INTERVAL' => $interval];
        }
    }

    class SecondFormDeal extends Map
    {
        public function fillMap(array $params = [])
        {
            $custom = $params['MULTIPLE_TYPE'] === self::CUSTOM;
            $unit = $params[$custom ? 'MULTIPLE_CUSTOM_TYPE' : 'MULTIPLE_TYPE'];
            $interval = $custom ? $params['MULTIPLE_CUSTOM_INTERVAL_VALUE'] : 1;
            $this->values = [(int)$params['MODE'], (int)$unit, (int)$interval];
        }

        public function getFormattedMap()
        {
            [$mode, $unit, $interval] = $this->values;
            return ['MODE' => $mode] + ($interval === 1 ? ['MULTIPLE_TYPE' => $unit] : [
                'MULTIPLE_TYPE' => self::CUSTOM, 'MULTIPLE_CUSTOM_TYPE' => $unit,
                'MULTIPLE_CUSTOM_INTERVAL_VALUE' => $interval,
            ]);
        }
    }
}

namespace Bitrix\Voximplant {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;

    class StatisticTable extends DataManager
    {
        protected const TABLE = 'calls';

        public static function add(array $data)
        {
            if (!is_string($data['INCOMING'] ?? null) || !isset($data['CALL_START_DATE'])) {
                return (new AddResult(0))->addError(new Error('A required field is empty'));
            }
            return parent::add($data);
        }

        public static function delete(string|int $id)
        {
            World::call('call deleted', [$id]);
            return parent::delete($id);
        }
    }
}

namespace Bitrix\Crm\Activity\Provider {

    class Email
    {
        /** Cleans where the activity says so, and nothing otherwise. */
        public static function getDescriptionHtmlByActivityFields(array $activity): string
        {
            $isMarked = (bool)($activity['SETTINGS']['SANITIZE_ON_VIEW'] ?? false);
            $html = (string)$activity['DESCRIPTION'];
            return $isMarked ? \Bitrix\Crm\Format\TextHelper::sanitizeHtml($html) : $html;
        }
    }
}

namespace Bitrix\Crm\Format {

    class TextHelper
    {
        /** Less than the kernel's own does. */
        public static function sanitizeHtml($html)
        {
            $html = (string)preg_replace('#<script\b.*?</script\s*>#is', '', (string)$html);
            return (string)preg_replace('#\son\w+\s*=\s*("[^"]*"|\'[^\']*\')#i', '', $html);
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Crm\Service\Timeline\Monitor;

    class CCrmActivity
    {
        /** The kernel's own way, with all that it starts. */
        public static function Add(&$arFields, $checkPerms = true, $regEvent = true, $options = [])
        {
            array_push(World::$noise, 'a mail to the client', 'a robot', 'a ping', 'a calendar event');
            self::count((int)($arFields['RESPONSIBLE_ID'] ?? 0));
            return World::put('crm_act', $arFields);
        }

        public static function SaveBindings(
            $ID,
            $arBindings,
            $registerEvents = true,
            $checkPerms = true,
            $registerBindingsChanges = true
        ) {
            $registerEvents && World::$noise[] = 'an event about bindings';
            $registerBindingsChanges && self::count((int)(World::row('crm_act', $ID)['RESPONSIBLE_ID'] ?? 0));
            $known = ['OWNER_TYPE_ID' => 1, 'OWNER_ID' => 1];
            $before = array_map(
                static fn(array $row) => array_intersect_key($row, $known),
                Rows::matching('crm_act_bind', ['ACTIVITY_ID' => $ID])
            );
            World::$tables['crm_act_bind'] = array_filter(
                World::$tables['crm_act_bind'] ?? [],
                static fn(array $row) => $row['ACTIVITY_ID'] !== $ID
            );
            foreach ($arBindings as $one) {
                World::put('crm_act_bind', ['ACTIVITY_ID' => $ID] + $one);
            }
            // Of incoming ones the monitor hears, wherever they come or go.
            if (Rows::matching('crm_act_incoming', ['ACTIVITY_ID' => $ID]) !== []) {
                foreach ([...$before, ...$arBindings] as $one) {
                    $both = in_array($one, $before, false) && in_array($one, $arBindings, false);
                    $both || Monitor::getInstance()->tell($one['OWNER_TYPE_ID'], $one['OWNER_ID'], true);
                }
            }
        }

        public static function SaveCommunications(
            $ID,
            $arComms,
            $arFields = [],
            $registerEvents = true,
            $checkPerms = true
        ) {
            $registerEvents && World::$noise[] = 'an event about an address';
            World::$tables['crm_act_comm'] = array_filter(
                World::$tables['crm_act_comm'] ?? [],
                static fn(array $row) => $row['ACTIVITY_ID'] !== $ID
            );
            foreach ($arComms as $one) {
                if (mb_strlen($one['VALUE']) > 256) {
                    throw new \RuntimeException('VALUE takes 256 characters');
                }
                World::put('crm_act_comm', ['ACTIVITY_ID' => $ID, 'OWNER_ID' => $arFields['OWNER_ID'] ?? 0] + $one);
            }
        }

        public static function DoSaveElementIDs($ID, $storageTypeID, $arElementIDs)
        {
            World::$tables['crm_act_elem'] = array_filter(
                World::$tables['crm_act_elem'] ?? [],
                static fn(array $row) => $row['ACTIVITY_ID'] !== $ID
            );
            foreach ($arElementIDs as $element) {
                World::put('crm_act_elem', [
                    'ACTIVITY_ID' => $ID, 'STORAGE_TYPE_ID' => $storageTypeID, 'ELEMENT_ID' => $element,
                ]);
            }
            return true;
        }

        public static function GetList(
            $arOrder = [],
            $arFilter = [],
            $arGroupBy = false,
            $arNavStartParams = false,
            $arSelectFields = [],
            $arOptions = []
        ) {
            return Rows::of(Rows::matching('crm_act', $arFilter), $arSelectFields);
        }

        public static function GetCommunicationList(
            $arOrder = [],
            $arFilter = [],
            $arGroupBy = false,
            $arNavStartParams = false,
            $arSelectFields = [],
            $arOptions = []
        ) {
            return new Rows(Rows::matching('crm_act_comm', $arFilter));
        }

        private static function count(int $person): void
        {
            World::$noise[] = 'a counter';
            World::put('user_counters', ['USER_ID' => $person, 'CODE' => 'crm_all', 'CNT' => 1]);
        }

        public static function SynchronizeUserActivity($ownerTypeID, $ownerID, $userID)
        {
            World::call('SynchronizeUserActivity', [$ownerTypeID, $ownerID, $userID]);
        }
    }
}
