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
    /** Scopes that b24migrate needs to read its target, besides that of the module. */
    private const SCOPES = [
        'import', 'user', 'user.userfield', 'department', 'sonet_group', 'im', 'log', 'task', 'tasks', 'crm', 'disk',
        'bizproc', 'userfieldconfig',
    ];
    private const ADMINISTRATORS = 1;
    /** The option that lib/Kernel/KernelBox.php reads. */
    private const ALLOWED_ACTIVITIES = 'allow_activities';

    private const FLAGS = ['--create-webhook', '--uninstall', '--drop-map', '--help'];

    /** @var list<string> those that were given */
    private array $flags = [];
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
        while (($word = array_shift($words)) !== null) {
            match (true) {
                in_array($word, self::FLAGS, true) => $this->flags[] = $word,
                $word === '-h' => $this->flags[] = '--help',
                $word === '--user' => $this->user = self::userId(array_shift($words)),
                $word === '--allow-activities' => $this->allowActivities = self::activities(array_shift($words)),
                $word === '--document-root' => $this->documentRoot = self::folder(array_shift($words)),
                default => throw new \InvalidArgumentException("There is no argument $word; try --help."),
            };
        }
        $uninstall = $this->has('--uninstall');
        $contradiction = match (true) {
            $uninstall && $this->has('--create-webhook')
                => 'A webhook cannot be made for a module that is uninstalled.',
            $uninstall && $this->allowActivities !== null => '--allow-activities does not go with --uninstall.',
            $this->has('--drop-map') && !$uninstall => '--drop-map goes with --uninstall.',
            default => null,
        };
        $contradiction === null || throw new \InvalidArgumentException($contradiction);
    }

    public function has(string $flag): bool
    {
        return in_array($flag, $this->flags, true);
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
        if ($this->has('--uninstall')) {
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
        return $this->has('--create-webhook') ? $this->createWebhook() : $told;
    }

    private function uninstall(\CModule $module): string
    {
        if (!$module->IsInstalled()) {
            return 'The module is not installed.';
        }
        $left = $module->uninstall($this->has('--drop-map'));
        $told = $this->has('--drop-map')
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
        // the kernel changes the working directory
        return (string)realpath($word);
    }
}
