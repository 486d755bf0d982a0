<?php

declare(strict_types=1);

namespace B24migrate\Import\Cli;

use Bitrix\Main\Config\Option;
use Bitrix\Main\Loader;
use Bitrix\Rest\APAuth\PasswordTable;

PHP_SAPI === 'cli' || exit;

/** Installs, uninstalls, and makes the webhook, from the command line. Needs the kernel. */
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

    /** @throws \RuntimeException with one sentence */
    public static function perform(Wishes $wishes): string
    {
        $module = \CModule::CreateModuleObject(self::MODULE);
        if (!$module) {
            throw new \RuntimeException('The module must lie in local/modules/' . self::MODULE . ' of this site.');
        }
        if ($wishes->uninstall) {
            return self::uninstalled($module, $wishes->dropMap);
        }
        if (!$module->IsInstalled() && !$module->DoInstall()) {
            $told = $GLOBALS['APPLICATION']->GetException();
            throw new \RuntimeException($told ? (string)$told->GetString() : 'The box refuses the module.');
        }
        if ($wishes->allowActivities !== null) {
            $names = implode(',', $wishes->allowActivities);
            Option::set(self::MODULE, self::ALLOWED_ACTIVITIES, $names);
            $told = $names === '' ? 'Only standard activities are allowed.' : "Allowed activities: $names.";
            return $wishes->createWebhook ? self::webhook($wishes->user) : $told;
        }
        return $wishes->createWebhook ? self::webhook($wishes->user) : 'The module is installed.';
    }

    private static function uninstalled(\CModule $module, bool $dropMap): string
    {
        if (!$module->IsInstalled()) {
            return 'The module is not installed.';
        }
        $left = $module->takeAway($dropMap);
        $told = $dropMap ? 'The module and its map are gone.' : 'The module is uninstalled; its map is still there.';
        return $told . ($left === [] ? '' : ' Delete by hand what a self-test has left: ' . implode('; ', $left) . '.');
    }

    private static function webhook(int $user): string
    {
        if (!in_array(self::ADMINISTRATORS, array_map('intval', \CUser::GetUserGroup($user)), true)) {
            throw new \RuntimeException("User $user is no administrator: tell one with --user.");
        }
        Loader::includeModule('rest');
        $password = PasswordTable::createPassword($user, self::SCOPES, 'b24migrate', true);
        if (!is_array($password)) {
            throw new \RuntimeException('The box makes no webhook.');
        }
        return (string)\CRestUtil::getWebhookEndpoint($password['PASSWORD'], $user);
    }
}
