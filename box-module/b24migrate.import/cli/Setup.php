<?php

declare(strict_types=1);

namespace B24migrate\Import\Cli;

use Bitrix\Main\Config\Option;
use Bitrix\Main\Loader;
use Bitrix\Rest\APAuth\PasswordTable;

PHP_SAPI === 'cli' || exit;

/** Installs, uninstalls, and makes the webhook, from the command line. Only `perform` needs the kernel. */
final class Setup
{
    private const MODULE = 'b24migrate.import';
    /** What b24migrate itself wants to read of its target, besides the scope of the module. */
    private const SCOPES = [
        'import', 'user', 'user.userfield', 'department', 'sonet_group', 'im', 'log', 'task', 'tasks', 'crm', 'disk',
        'bizproc', 'userfieldconfig',
    ];
    private const ADMINISTRATORS = 1;
    /** The option that lib/Kernel/KernelBox.php reads. */
    private const ALLOWED_ACTIVITIES = 'allow_activities';

    public readonly bool $help;
    private readonly bool $createWebhook;
    private readonly bool $uninstall;
    private readonly bool $dropMap;
    private int $user = 1;
    public ?string $documentRoot = null;
    /** Names with commas between; null: as it is. */
    private ?string $allowActivities = null;

    /**
     * @param list<string> $words of the command line, without the name of the script
     * @throws \InvalidArgumentException with one sentence
     */
    public function __construct(array $words)
    {
        $flags = [];
        while (($word = array_shift($words)) !== null) {
            match ($word) {
                '--create-webhook', '--uninstall', '--drop-map', '--help' => $flags[$word] = true,
                '-h' => $flags['--help'] = true,
                '--user' => $this->user = self::userId(array_shift($words)),
                '--allow-activities' => $this->allowActivities = self::activities(array_shift($words)),
                '--document-root' => $this->documentRoot = self::folder(array_shift($words)),
                default => throw new \InvalidArgumentException("There is no argument $word; try --help."),
            };
        }
        $this->help = isset($flags['--help']);
        $this->createWebhook = isset($flags['--create-webhook']);
        $this->uninstall = isset($flags['--uninstall']);
        $this->dropMap = isset($flags['--drop-map']);
        $contradiction = match (true) {
            $this->uninstall && $this->createWebhook => 'A webhook cannot be made for a module that is uninstalled.',
            $this->uninstall && $this->allowActivities !== null => '--allow-activities does not go with --uninstall.',
            $this->dropMap && !$this->uninstall => '--drop-map goes with --uninstall.',
            default => null,
        };
        $contradiction === null || throw new \InvalidArgumentException($contradiction);
    }

    /**
     * @return string what was done, or the address of the webhook
     * @throws \RuntimeException with one sentence
     */
    public function perform(): string
    {
        $module = \CModule::CreateModuleObject(self::MODULE);
        if (!$module) {
            throw new \RuntimeException('The module must lie in local/modules/' . self::MODULE . ' of this site.');
        }
        if ($this->uninstall) {
            return $this->uninstall($module);
        }
        if (!$module->IsInstalled() && !$module->DoInstall()) {
            $told = $GLOBALS['APPLICATION']->GetException();
            throw new \RuntimeException($told ? (string)$told->GetString() : 'The box refuses the module.');
        }
        $told = 'The module is installed.';
        if ($this->allowActivities !== null) {
            Option::set(self::MODULE, self::ALLOWED_ACTIVITIES, $this->allowActivities);
            $told = $this->allowActivities === ''
                ? 'Only standard activities are allowed.'
                : "Allowed activities: $this->allowActivities.";
        }
        return $this->createWebhook ? $this->createWebhook() : $told;
    }

    private function uninstall(\CModule $module): string
    {
        if (!$module->IsInstalled()) {
            return 'The module is not installed.';
        }
        $left = $module->uninstall($this->dropMap);
        $told = $this->dropMap
            ? 'The module and its map are gone.'
            : 'The module is uninstalled; its map is still there.';
        return $told . ($left === [] ? '' : ' Delete by hand what a self-test has left: ' . implode('; ', $left) . '.');
    }

    private function createWebhook(): string
    {
        if (!in_array(self::ADMINISTRATORS, array_map('intval', \CUser::GetUserGroup($this->user)), true)) {
            throw new \RuntimeException("User $this->user is no administrator: tell one with --user.");
        }
        Loader::includeModule('rest');
        $password = PasswordTable::createPassword($this->user, self::SCOPES, 'b24migrate', true);
        if (!is_array($password)) {
            throw new \RuntimeException('The box makes no webhook.');
        }
        return (string)\CRestUtil::getWebhookEndpoint($password['PASSWORD'], $this->user);
    }

    private static function userId(?string $word): int
    {
        if ($word === null || !ctype_digit($word) || (int)$word < 1) {
            throw new \InvalidArgumentException('--user wants the number of a user.');
        }
        return (int)$word;
    }

    private static function activities(?string $word): string
    {
        if ($word === null || preg_match('/^(\w+(,\w+)*)?$/D', $word) !== 1) {
            throw new \InvalidArgumentException(
                '--allow-activities wants names of activities with commas between, or "" for none.'
            );
        }
        return $word;
    }

    private static function folder(?string $word): string
    {
        if ($word === null || !is_file(rtrim($word, '/') . '/bitrix/modules/main/include/prolog_before.php')) {
            throw new \InvalidArgumentException('--document-root wants the folder of the site, in which bitrix lies.');
        }
        // the kernel works in other folders than the one this was told in
        return (string)realpath($word);
    }
}
