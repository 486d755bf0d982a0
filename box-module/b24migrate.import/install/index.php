<?php

// phpcs:disable PSR1,Squiz.Classes.ValidClassName -- names that the kernel looks for

use Bitrix\Main\Config\Option;
use Bitrix\Main\EventManager;
use Bitrix\Main\Loader;
use Bitrix\Main\Localization\Loc;
use Bitrix\Main\ModuleManager;

defined('B_PROLOG_INCLUDED') || exit;

Loc::loadMessages(__FILE__);
require_once __DIR__ . '/preflight.php';

/** Written in the PHP of old boxes too, so that one of them can say what it lacks. */
class b24migrate_import extends CModule
{
    public const EVENT = ['rest', 'OnRestServiceBuildDescription'];
    public const SERVICE = ['B24migrate\\Import\\Rest\\Service', 'describe'];

    public $MODULE_ID = 'b24migrate.import';
    public $MODULE_VERSION;
    public $MODULE_VERSION_DATE;
    public $MODULE_NAME;
    public $MODULE_DESCRIPTION;
    public $PARTNER_NAME = 'b24migrate';
    public $PARTNER_URI = '';

    public function __construct()
    {
        $arModuleVersion = [];
        include __DIR__ . '/version.php';
        $this->MODULE_VERSION = $arModuleVersion['VERSION'];
        $this->MODULE_VERSION_DATE = $arModuleVersion['VERSION_DATE'];
        $this->MODULE_NAME = Loc::getMessage('B24MIGRATE_IMPORT_NAME');
        $this->MODULE_DESCRIPTION = Loc::getMessage('B24MIGRATE_IMPORT_DESCRIPTION');
    }

    public function DoInstall()
    {
        $obstacle = b24migrate_import_preflight::obstacle();
        if ($obstacle !== null) {
            return $this->refuse($obstacle);
        }
        $hasMap = $this->mapTable()::exists();
        try {
            $this->mapTable()::createTable();
            // Before the module is registered: that is when the kernel forgets which scopes there are.
            EventManager::getInstance()->registerEventHandler(...$this->handler());
            ModuleManager::registerModule($this->MODULE_ID);
            $this->clearScopeCache();
        } catch (\Throwable $fault) {
            // Half of it is worse than nothing; a map that was there before holds what was imported before.
            $this->uninstall(!$hasMap);
            return $this->refuse($fault->getMessage());
        }
        return true;
    }

    /** From the admin pages: asks first what becomes of the map. */
    public function DoUninstall()
    {
        if (!isset($_REQUEST['step']) || (int)$_REQUEST['step'] < 2 || !check_bitrix_sessid()) {
            $GLOBALS['APPLICATION']->IncludeAdminFile(
                Loc::getMessage('B24MIGRATE_IMPORT_UNINSTALL'),
                __DIR__ . '/unstep.php'
            );
            return false;
        }
        $this->uninstall(isset($_REQUEST['drop_map']) && $_REQUEST['drop_map'] === 'Y');
        return true;
    }

    /**
     * Not `remove`: the kernel has a CModule::Remove, and PHP takes the two for one.
     *
     * @return string[] records of a self-test that died, which the box does not let go
     */
    public function uninstall($dropMap)
    {
        $left = $this->IsInstalled() && Loader::includeModule($this->MODULE_ID)
            ? \B24migrate\Import\Rest\Service::cleanUp()
            : [];
        EventManager::getInstance()->unRegisterEventHandler(...$this->handler());
        if ($dropMap) {
            $this->mapTable()::dropTable();
        }
        // What a call that died while it wrote a group may have left off.
        $checked = Option::get($this->MODULE_ID, 'check_group_name_enable', '');
        if ($checked !== '') {
            Option::set('socialnetwork', 'check_group_name_enable', $checked);
        }
        // Unfinished uploads; a client that continues later starts them again.
        DeleteDirFilesEx('/' . Option::get('main', 'upload_dir', 'upload') . '/' . $this->MODULE_ID);
        Option::delete($this->MODULE_ID);
        ModuleManager::unRegisterModule($this->MODULE_ID);
        $this->clearScopeCache();
        return $left;
    }

    /** Says why in a sentence: to the caller, and on the page when an administrator uses one. */
    private function refuse($why)
    {
        $GLOBALS['APPLICATION']->ThrowException($why);
        if (defined('ADMIN_SECTION')) {
            $title = Loc::getMessage('B24MIGRATE_IMPORT_REFUSED');
            $GLOBALS['APPLICATION']->IncludeAdminFile($title, __DIR__ . '/refused.php');
        }
        return false;
    }

    private function handler()
    {
        return [self::EVENT[0], self::EVENT[1], $this->MODULE_ID, self::SERVICE[0], self::SERVICE[1]];
    }

    private function mapTable()
    {
        // The kernel finds classes of a module only when it is installed.
        require_once __DIR__ . '/../lib/Kernel/MapTable.php';
        return '\\B24migrate\\Import\\Kernel\\MapTable';
    }

    private function clearScopeCache()
    {
        if (Loader::includeModule('rest')) {
            \Bitrix\Rest\Engine\ScopeManager::cleanCache();
        }
    }
}
