<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Port\Box;
use B24migrate\Import\Port\CustomFields;
use B24migrate\Import\Port\Guard;
use B24migrate\Import\Port\Map;
use B24migrate\Import\Port\Records;
use B24migrate\Import\Port\Shelf;
use Bitrix\Main\Loader;
use Bitrix\Main\ModuleManager;

/** The real box. Which gateway serves a stream is decided here and nowhere else. */
final class KernelBox implements Box
{
    public const MODULE = 'b24migrate.import';
    private const MODULES = [
        'main', 'rest', 'intranet', 'humanresources', 'im', 'disk', 'socialnetwork', 'blog', 'forum', 'tasks', 'crm',
        'bizproc', 'iblock', self::MODULE,
    ];

    /** @var array<string, Records> */
    private array $records = [];
    private ?Map $map = null;
    private ?CustomFields $customFields = null;

    /** @return list<string> those of the contract whose modules are on this box */
    public function entities(): array
    {
        $missing = [];
        foreach ($this->gateways() as $stream => [$modules]) {
            if (array_filter($modules, static fn(string $module) => !Loader::includeModule($module)) !== []) {
                $missing[] = Catalog::STREAMS[$stream] ?? '';
            }
        }
        return array_values(array_diff(Catalog::ENTITIES, $missing));
    }

    public function records(string $stream): Records
    {
        return $this->records[$stream] ??= $this->gateway($stream);
    }

    public function map(): Map
    {
        return $this->map ??= new KernelMap();
    }

    public function guard(): Guard
    {
        return new KernelGuard();
    }

    public function customFields(): CustomFields
    {
        return $this->customFields ??= new UserFields();
    }

    public function shelf(): Shelf
    {
        return new KernelShelf();
    }

    public function quiet(): void
    {
        Quiet::keep();
    }

    public function rootDepartment(): string
    {
        return Departments::root();
    }

    public function timezone(): string
    {
        return date_default_timezone_get();
    }

    public function limits(): array
    {
        return Limits::ofThisBox()->told();
    }

    public function versions(): array
    {
        $versions = [];
        foreach (self::MODULES as $module) {
            $version = ModuleManager::getVersion($module);
            if ($version) {
                $versions[$module] = (string)$version;
            }
        }
        return $versions;
    }

    public function finalize(string $after): array
    {
        return (new Finalizing($this))->stretch($after);
    }

    private function gateway(string $stream): Records
    {
        [$modules, $make] = $this->gateways()[$stream] ?? throw CallFault::malformed("There is no stream $stream.");
        foreach ($modules as $module) {
            if (!Loader::includeModule($module)) {
                throw new CallFault('ERROR_CORE', 400, "The module $module is not installed on this box.");
            }
        }
        return $make($this);
    }

    /** @return array<string, array{list<string>, callable(self): Records}> the modules it needs and how it is made */
    private function gateways(): array
    {
        return [
            'departments' => [['intranet', 'iblock'], static fn(self $box) => new Departments($box)],
            'users' => [['intranet'], static fn(self $box) => new Users($box)],
            'files' => [['disk'], static fn(self $box) => new Files($box)],
            'groups' => [['socialnetwork'], static fn(self $box) => new Groups($box)],
            'group_members' => [['socialnetwork'], static fn(self $box) => new Members($box)],
            'chats' => [['im', 'disk'], static fn(self $box) => new Chats($box)],
            'chat_messages' => [['im', 'disk'], static fn(self $box) => new Messages($box)],
            'feed_posts' => [['blog', 'socialnetwork', 'disk'], static fn(self $box) => new Posts($box)],
            'feed_comments' => [['blog', 'socialnetwork', 'disk'], static fn(self $box) => new PostComments($box)],
            'crm_types' => [['crm'], static fn(self $box) => new CrmTypes($box)],
            'crm_categories' => [['crm'], static fn(self $box) => new CrmCategories($box)],
            'crm_stages' => [['crm'], static fn(self $box) => new CrmStages($box)],
            'crm_companies' => [['crm'], static fn(self $box) => new CrmItems($box, 'crm_companies')],
            'crm_contacts' => [['crm'], static fn(self $box) => new CrmItems($box, 'crm_contacts')],
            'crm_deals' => [['crm'], static fn(self $box) => new CrmItems($box, 'crm_deals')],
            'crm_spitems' => [['crm'], static fn(self $box) => new CrmItems($box, 'crm_spitems')],
            'tasks' => [['tasks', 'forum', 'im', 'disk'], static fn(self $box) => new Tasks($box)],
            'task_checklists' => [['tasks'], static fn(self $box) => new Checklists($box)],
            'task_comments' => [['tasks', 'forum', 'im', 'disk'], static fn(self $box) => self::taskComments($box)],
            'workflow_templates' => [['bizproc'], static fn(self $box) => new Workflows($box)],
        ];
    }

    private static function taskComments(self $box): Records
    {
        return ChatComments::areUsed() ? new ChatComments($box) : new ForumComments($box);
    }
}
