<?php

// Module bizproc: templates of workflows.

declare(strict_types=1);

namespace Bitrix\Bizproc\Workflow\Entity {

    use Bitrix\Main\ORM\Data\DataManager;

    class WorkflowStateTable extends DataManager
    {
        protected const TABLE = 'workflows';
    }
}

namespace Bitrix\Bizproc\Workflow\Template\Entity {

    use Bitrix\Main\ORM\Data\DataManager;

    class WorkflowTemplateTable extends DataManager
    {
        protected const TABLE = 'templates';
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\World;

    class CBPWorkflowTemplateUser
    {
        public const CurrentUser = 'CurrentUser';

        public function __construct(private $who = null)
        {
        }

        public function isAdmin(): bool
        {
            return $this->who === self::CurrentUser && CRestUtil::$admin;
        }
    }

    class CBPWorkflowTemplateLoader
    {
        public static function importTemplateFromArray(
            int $id,
            array $document,
            int $autoExecute,
            string $name,
            string $description,
            array $parts,
            ?string $code = null,
            bool $system = false
        ): int|false {
            if ($autoExecute !== 0) {
                World::$noise[] = 'a workflow that starts by itself';
            }
            if (!$system) {
                throw new LogicException('activities are checked, and some name what is not there yet');
            }
            return World::put('templates', $parts + [
                'MODULE_ID' => $document[0], 'ENTITY' => $document[1], 'DOCUMENT_TYPE' => $document[2], 'NAME' => $name,
                'DESCRIPTION' => $description, 'AUTO_EXECUTE' => $autoExecute, 'USER_ID' => 1,
                'MODIFIED' => World::now(),
            ]);
        }

        public static function update(int $id, array $row, bool $system = false, $validationRequired = true): int
        {
            World::set('templates', $id, $row + ['MODIFIED' => World::now()] + World::row('templates', $id));
            return $id;
        }

        public static function delete(int $id): void
        {
            unset(World::$tables['templates'][$id]);
        }
    }
}
