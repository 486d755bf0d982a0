<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\{CallFault, Catalog};
use B24migrate\Import\Port\{Box, CustomFields, Entry, Guard, Map, Records, UploadStore};
use Bitrix\Im\Model\MessageTable;
use Bitrix\Main\Config\Option;
use Bitrix\Main\{Loader, ModuleManager};

defined('B_PROLOG_INCLUDED') || exit;

/** The real box. Which gateway serves a stream is decided here and nowhere else. */
final class KernelBox implements Box
{
    public const MODULE = 'b24migrate.import';
    /** The option that `install.php --allow-activities` sets. */
    public const ALLOWED_ACTIVITIES = 'allow_activities';
    private const FINDINGS = 'selftest_findings';
    private const MODULES = [
        'main', 'rest', 'intranet', 'humanresources', 'im', 'disk', 'socialnetwork', 'blog', 'forum', 'tasks', 'crm',
        'bizproc', 'iblock', 'voximplant', self::MODULE,
    ];

    /** Who serves a stream, and the modules that it needs. */
    private const GATEWAYS = [
        'departments' => [Departments::class, 'intranet', 'iblock'],
        'users' => [Users::class, 'intranet'],
        'files' => [Files::class, 'disk'],
        'groups' => [Groups::class, 'socialnetwork'],
        'group_members' => [GroupMembers::class, 'socialnetwork'],
        'chats' => [Chats::class, 'im', 'disk'],
        'chat_messages' => [ChatMessages::class, 'im', 'disk'],
        'feed_posts' => [FeedPosts::class, 'blog', 'socialnetwork', 'disk'],
        'feed_comments' => [FeedComments::class, 'blog', 'socialnetwork', 'disk'],
        'crm_types' => [CrmTypes::class, 'crm'],
        'crm_categories' => [CrmCategories::class, 'crm'],
        'crm_stages' => [CrmStages::class, 'crm'],
        'crm_companies' => [CrmItems::class, 'crm'],
        'crm_contacts' => [CrmItems::class, 'crm'],
        'crm_deals' => [CrmItems::class, 'crm'],
        'crm_spitems' => [CrmItems::class, 'crm'],
        'crm_currencies' => [CatalogCurrencies::class, 'crm', 'currency'],
        'crm_measures' => [CatalogMeasures::class, 'crm', 'catalog'],
        'crm_vats' => [CatalogVats::class, 'crm', 'catalog'],
        'crm_price_types' => [CatalogPriceTypes::class, 'crm', 'catalog'],
        'crm_catalog_sections' => [CatalogSections::class, 'crm', 'iblock'],
        'crm_product_props' => [CatalogProperties::class, 'crm', 'iblock', 'catalog'],
        'crm_products' => [CatalogProducts::class, 'crm', 'iblock', 'catalog', 'disk'],
        'crm_prices' => [CatalogPrices::class, 'crm', 'catalog'],
        'crm_requisite_presets' => [RequisitePresets::class, 'crm'],
        'crm_requisites' => [Requisites::class, 'crm'],
        'crm_bank_details' => [RequisiteBankDetails::class, 'crm'],
        'crm_addresses' => [RequisiteAddresses::class, 'crm'],
        'crm_requisite_links' => [RequisiteLinks::class, 'crm'],
        'crm_leads' => [CrmItems::class, 'crm'],
        'crm_quotes' => [CrmItems::class, 'crm', 'disk'],
        'crm_invoices' => [CrmItems::class, 'crm'],
        'tasks' => [Tasks::class, 'tasks', 'forum', 'im', 'disk'],
        'task_checklists' => [TaskChecklists::class, 'tasks'],
        'task_comments' => [TaskForumComments::class, 'tasks', 'forum', 'im', 'disk'],
        'workflow_templates' => [WorkflowTemplates::class, 'bizproc'],
        'crm_recurring' => [CrmRecurring::class, 'crm'],
        'crm_calls' => [CrmCalls::class, 'crm', 'voximplant', 'disk'],
        'crm_activities' => [CrmActivities::class, 'crm', 'disk'],
        'crm_comments' => [CrmComments::class, 'crm', 'disk'],
        'crm_notes' => [CrmNotes::class, 'crm'],
        'crm_logs' => [CrmLogs::class, 'crm'],
    ];

    /** How many a call of `finalize` settles: a chat costs several writes for each member, a task next to nothing. */
    private const STRETCHES = [
        'chats' => 10, 'task_comments' => 10, 'groups' => 20, 'feed_posts' => 50, 'tasks' => 100,
        'crm_quotes' => 100, 'crm_invoices' => 100, 'crm_activities' => 100,
    ];

    /** @var array<string, Records> */
    private array $records = [];
    private ?Map $map = null;
    private ?CustomFields $customFields = null;

    /** @return list<string> those of the contract whose modules are on this box */
    public function entities(): array
    {
        $missing = [];
        foreach (array_keys(self::GATEWAYS) as $stream) {
            // Included in every call: gateways lean on one another, photos of people on the disk.
            $isLater = Catalog::isOfLaterVersion($stream);
            $missing[] = self::missingModules($stream) === [] || $isLater ? '' : Catalog::streams()[$stream] ?? '';
        }
        return array_values(array_diff(Catalog::ENTITIES, $missing));
    }

    public function streams(): array
    {
        $isServed = static fn(string $stream) => Catalog::isOfLaterVersion($stream)
            && self::missingModules($stream) === [] && self::GATEWAYS[$stream][0]::isPossible();
        return array_values(array_filter(array_keys(self::GATEWAYS), $isServed));
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

    public function uploads(): UploadStore
    {
        return new UploadFolder();
    }

    public function quiet(): void
    {
        QuietMode::enable();
    }

    public function rootDepartment(): string
    {
        return Departments::root();
    }

    public function timezone(): string
    {
        return date_default_timezone_get();
    }

    public function allowedActivities(): array
    {
        $names = strtolower(Option::get(self::MODULE, self::ALLOWED_ACTIVITIES, ''));
        return array_values(array_filter(array_map('trim', explode(',', $names))));
    }

    public function limits(): array
    {
        return Limits::forThisBox()->toArray();
    }

    public function versions(): array
    {
        $versions = array_map(ModuleManager::getVersion(...), array_combine(self::MODULES, self::MODULES));
        return array_map('strval', array_filter($versions));
    }

    public function listen(): \Closure
    {
        return (new SideEffects())->list(...);
    }

    public function findings(): array
    {
        $kept = json_decode(Option::get(self::MODULE, self::FINDINGS, '[]'), true);
        return is_array($kept) ? $kept : [];
    }

    public function keepFindings(array $rules): void
    {
        Option::set(self::MODULE, self::FINDINGS, (string)json_encode($rules));
    }

    /**
     * Each gateway says in `settle` what silent records leave undone. The place where the next call goes on is the
     * stream and the place in its map. Whether chats of tasks belong among the recent ones is to be checked on a real
     * box.
     */
    public function finalize(string $after): array
    {
        $streams = array_keys(self::STRETCHES);
        Groups::restoreNameCheck();
        [$stream, $place] = explode('|', ($after === '' ? $streams[0] : $after) . '|');
        $at = array_search($stream, $streams, true);
        if ($at === false) {
            throw CallFault::malformed('after: is not a cursor of this method');
        }
        [$entries, $next] = $this->map()->page($stream, $place, self::STRETCHES[$stream]);
        $ids = array_map(static fn(Entry $entry): int => (int)$entry->id, $entries);
        $ids = $stream === 'task_comments' ? self::chatsOf($ids) : $ids;
        $settled = $ids === [] ? null : $this->records($stream === 'task_comments' ? 'chats' : $stream);
        array_map(static fn(int $id) => $settled->settle($id), $ids);
        $stream === 'crm_activities' && $next === null && CrmRecount::start($this->map()->count($stream));
        $following = $streams[$at + 1] ?? null;
        return ['done' => count($ids), 'cursor' => $next === null ? $following : "$stream|$next"];
    }

    private function gateway(string $stream): Records
    {
        [$gateway] = self::GATEWAYS[$stream] ?? throw CallFault::malformed("There is no stream $stream.");
        foreach (self::missingModules($stream) as $module) {
            throw new CallFault('ERROR_CORE', 400, "The module $module is not installed on this box.");
        }
        $chats = $gateway === TaskForumComments::class && TaskChatComments::areUsed();
        return $chats ? new TaskChatComments($this, $stream) : new $gateway($this, $stream);
    }

    /** Comments are settled with the chats that they are messages of, where they are. */
    private static function chatsOf(array $comments): array
    {
        if ($comments === [] || !TaskChatComments::areUsed()) {
            return [];
        }
        $rows = MessageTable::getList(['select' => ['CHAT_ID'], 'filter' => ['@ID' => $comments]])->fetchAll();
        return array_values(array_unique(array_map('intval', array_column($rows, 'CHAT_ID'))));
    }

    /** @return list<string> modules that a stream needs and the box does not have */
    private static function missingModules(string $stream): array
    {
        $modules = array_slice(self::GATEWAYS[$stream], 1);
        return array_values(array_filter($modules, static fn(string $module) => !Loader::includeModule($module)));
    }
}
