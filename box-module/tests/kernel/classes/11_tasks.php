<?php

// Module tasks: the tables below its services, and the services, which are loud. Comments in the forum.

declare(strict_types=1);

namespace Bitrix\Tasks\Internals {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\ORM\Data\AddResult;
    use Bitrix\Main\ORM\Data\DataManager;

    class TaskTable extends DataManager
    {
        protected const TABLE = 'tasks';
        protected const DEFAULTS = ['STATUS' => '2', 'PRIORITY' => '1', 'GROUP_ID' => 0, 'TIME_ESTIMATE' => 0];

        public static function add(array $row)
        {
            $result = parent::add($row);
            foreach (['TITLE', 'CREATED_BY', 'RESPONSIBLE_ID', 'SITE_ID'] as $name) {
                empty($row[$name]) && $result->addError(new Error("$name is empty"));
            }
            return $result;
        }
    }

    class SearchIndex
    {
        public static function setTaskSearchIndex(int $id): void
        {
            World::call('setTaskSearchIndex', [$id]);
        }
    }
}

namespace Bitrix\Tasks\Internals\Task {

    use Bitrix\Main\ORM\Data\DataManager;

    class MemberTable extends DataManager
    {
        protected const TABLE = 'task_members';
    }

    class LabelTable extends DataManager
    {
        protected const TABLE = 'labels';
    }

    class TaskTagTable extends DataManager
    {
        protected const TABLE = 'task_tags';
    }

    class CheckListTable extends DataManager
    {
        protected const TABLE = 'checklists';
        protected const DEFAULTS = ['IS_COMPLETE' => 'N', 'IS_IMPORTANT' => 'N'];
    }

    class CheckListTreeTable extends DataManager
    {
        protected const TABLE = 'checklist_tree';
    }

    /** Who has looked at a task, and when; comments behind that are new ones. */
    class ViewedTable extends DataManager
    {
        protected const TABLE = 'viewed';
    }
}

namespace Bitrix\Tasks\Internals\Task\CheckList {

    use Bitrix\Main\ORM\Data\DataManager;

    class MemberTable extends DataManager
    {
        protected const TABLE = 'checklist_members';
    }
}

namespace Bitrix\Tasks\Util\Type {

    class DateTime extends \Bitrix\Main\Type\DateTime
    {
    }
}

namespace Bitrix\Tasks\Internals\Counter {

    use B24migrate\Import\Tests\Kernel\World;

    /** Without it nobody counts a task as overdue when its deadline comes. */
    class Agent
    {
        public static function add(
            int $taskId,
            \Bitrix\Tasks\Util\Type\DateTime $deadline,
            bool $forceExpired = false
        ): bool {
            World::$tables['agents'][$taskId] = ['DEADLINE' => $deadline->getTimestamp()];
            return true;
        }
    }
}

namespace Bitrix\Tasks\Internals\Helper\Task {

    use B24migrate\Import\Tests\Kernel\World;

    class Dependence
    {
        public static function attachNew(int $id, int $parent, array $settings = []): void
        {
            World::$tables['task_tree'][$id] = ['PARENT' => $parent];
        }

        public static function attach(int $id, int $parent = 0, array $settings = []): void
        {
            self::attachNew($id, $parent);
        }
    }
}

namespace Bitrix\Tasks\CheckList\Task {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;

    class TaskCheckListTree
    {
        public static function attachNew(int $id, int $parent, array $parameters = []): void
        {
            World::put('checklist_tree', ['PARENT_ID' => $parent, 'CHILD_ID' => $id, 'LEVEL' => 1]);
        }

        public static function attach(int $id, int $parent = 0, array $parameters = []): void
        {
            self::delete($id);
            $parent > 0 && self::attachNew($id, $parent);
        }

        public static function delete(int $id, array $how = []): void
        {
            foreach (Rows::matching('checklist_tree', ['CHILD_ID' => $id]) as $row) {
                unset(World::$tables['checklist_tree'][$row['ID']]);
            }
        }
    }
}

namespace Bitrix\Tasks\Control {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\EventManager;

    class Member
    {
        private const TYPES = ['CREATED_BY' => 'O', 'RESPONSIBLE_ID' => 'R', 'ACCOMPLICES' => 'A', 'AUDITORS' => 'U'];

        public function __construct(private int $user, private int $task)
        {
        }

        public function set(array $data, array $changes = []): void
        {
            foreach (array_intersect_key(self::TYPES, $data) as $name => $type) {
                foreach (Rows::matching('task_members', ['TASK_ID' => $this->task, 'TYPE' => $type]) as $old) {
                    unset(World::$tables['task_members'][$old['ID']]);
                }
                foreach ((array)$data[$name] as $user) {
                    World::put('task_members', ['TASK_ID' => $this->task, 'USER_ID' => $user, 'TYPE' => $type]);
                }
            }
        }
    }

    class Tag
    {
        public function __construct(private int $user = 0)
        {
        }

        public function set(
            int $task,
            array $names,
            int $oldGroupId = 0,
            int $newGroupId = 0,
            bool $onlyAdd = false
        ): void {
            foreach (Rows::matching('task_tags', ['TASK_ID' => $task]) as $old) {
                unset(World::$tables['task_tags'][$old['ID']]);
            }
            foreach ($names as $name) {
                $label = World::put('labels', ['NAME' => $name, 'USER_ID' => $this->user]);
                World::put('task_tags', ['TASK_ID' => $task, 'TAG_ID' => $label]);
            }
        }
    }

    class Task
    {
        public function __construct(private int $user)
        {
        }

        public function withSkipExchangeSync(): self
        {
            return $this;
        }

        public function add(array $row): \Bitrix\Tasks\Internals\TaskObject
        {
            World::$noise[] = 'a notification about a task';
        }

        public function delete(int $id): bool
        {
            if (!EventManager::vetoed('im/OnBeforeMessageNotifyAdd', ['MESSAGE_TYPE' => 'S'])) {
                World::$noise[] = 'a notification about a deleted task';
            }
            unset(World::$tables['tasks'][$id]);
            return true;
        }
    }
}

namespace Bitrix\Tasks\Integration\Forum\Task {

    class Comment
    {
        public static function getForumId(): int
        {
            return 8;
        }
    }
}

namespace Bitrix\Forum {

    use Bitrix\Main\ORM\Data\DataManager;
    use Bitrix\Main\Text\Emoji;

    class MessageTable extends DataManager
    {
        protected const TABLE = 'forum_messages';

        public static function update($id, array $data)
        {
            Emoji::refuse($data);
            return parent::update($id, $data);
        }
    }
}

namespace Bitrix\Forum\Comments {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\Text\Emoji;

    class Feed
    {
        /** @var list<Error> */
        private array $errors = [];

        public function __construct(private int $forum, private array $about, private $author = null)
        {
        }

        public function addComment(array $row): ?array
        {
            if ($row['POST_MESSAGE'] === '') {
                return $this->refused('The message is empty');
            }
            if (!$GLOBALS['USER_FIELD_MANAGER']->allowed($row, (int)$this->author)) {
                return $this->refused('You have no right to read this file');
            }
            // The names of people are looked up; who is nobody must have one.
            if ((int)$this->author === 0 && ($row['AUTHOR_NAME'] ?? '') === '') {
                return $this->refused('The author has no name');
            }
            if (($row['AUX'] ?? '') !== 'Y' || isset($row['AUX_DATA'])) {
                World::$noise[] = 'a notification about a comment on a task';
            }
            $task = $this->about['id'];
            $topic = World::row('tasks', $task)['FORUM_TOPIC_ID'] ?? World::put('topics', ['XML_ID' => "TASK_$task"]);
            World::$tables['tasks'][$task]['FORUM_TOPIC_ID'] = $topic;
            $row['POST_MESSAGE'] = Emoji::encode($row['POST_MESSAGE']);
            $before = Rows::matching('forum_messages', ['TOPIC_ID' => $topic]);
            if (end($before) && end($before)['POST_MESSAGE'] === $row['POST_MESSAGE']) {
                return $this->refused('This message has been sent already');
            }
            $id = World::put('forum_messages', ['TOPIC_ID' => $topic, 'AUTHOR_ID' => $this->author] + $row);
            $GLOBALS['USER_FIELD_MANAGER']->attach('FORUM_MESSAGE', $id, $row);
            return World::row('forum_messages', $id);
        }

        public function getErrors(): array
        {
            return $this->errors;
        }

        private function refused(string $why): ?array
        {
            $this->errors[] = new Error($why);
            return null;
        }
    }
}

namespace Bitrix\Im\V2 {

    class Chat
    {
        public const IM_TYPE_EXTERNAL = 'X';
    }

    class Result extends \Bitrix\Main\Result
    {
        public function __construct(private int $id)
        {
        }

        public function getResult()
        {
            return ['CHAT_ID' => $this->id];
        }
    }
}

namespace Bitrix\Im\V2\Chat {

    use B24migrate\Import\Tests\Kernel\Rows;
    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Im\V2\Result;

    class ChatFactory
    {
        public static function getInstance(): self
        {
            return new self();
        }

        public function addUniqueChat(array $row): Result
        {
            $pair = array_intersect_key($row, ['ENTITY_TYPE' => 1, 'ENTITY_ID' => 1]);
            if (World::$inTransaction) {
                throw new \LogicException('a chat that others do not see yet is made again by the next');
            }
            if (Rows::matching('chats', $pair) !== []) {
                throw new \LogicException('a task must not have two chats');
            }
            if (($row['SKIP_ADD_MESSAGE'] ?? '') !== 'Y') {
                World::$noise[] = 'a greeting in the chat of a task';
            }
            return new Result(World::put('chats', $row));
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\World;

    class CForumMessage
    {
        public static function Delete(int $id): void
        {
            unset(World::$tables['forum_messages'][$id]);
        }
    }
}
