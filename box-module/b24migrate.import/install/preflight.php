<?php

// phpcs:disable PSR1,Squiz.Classes.ValidClassName -- as the module's own class

use Bitrix\Main\Application;
use Bitrix\Main\Config\Option;
use Bitrix\Main\Loader;
use Bitrix\Main\Localization\Loc;
use Bitrix\Main\ModuleManager;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Whether the module can be installed here, asked before anything is registered: a module that the kernel cannot load
 * breaks the page of all modules. Written in the PHP of old boxes too.
 */
class b24migrate_import_preflight
{
    public const OLDEST_PHP = '8.1.0';
    public const EXTENSIONS = ['hash', 'json', 'mbstring'];
    /** Without these two there is no module; the others count only where they are installed. */
    public const NEEDED = ['main', 'rest'];
    public const OLDEST = [
        'main' => '24.0.0', 'rest' => '24.0.0', 'crm' => '24.0.0', 'im' => '24.0.0', 'tasks' => '24.0.0',
    ];

    /** @return ?string why not, in a sentence; null when nothing stands in the way */
    public static function obstacle()
    {
        return self::php() ?: self::modules() ?: self::folder() ?: self::methods() ?: null;
    }

    private static function php()
    {
        if (version_compare(PHP_VERSION, self::OLDEST_PHP, '<')) {
            return self::message('OLD_PHP', ['#VERSION#' => PHP_VERSION]);
        }
        $missing = array_diff(self::EXTENSIONS, array_map('strtolower', get_loaded_extensions()));
        return $missing === [] ? null : self::message('NO_EXTENSION', ['#NAME#' => implode(', ', $missing)]);
    }

    private static function modules()
    {
        foreach (self::OLDEST as $module => $oldest) {
            $there = ModuleManager::isModuleInstalled($module);
            if (!$there && in_array($module, self::NEEDED, true)) {
                return self::message('NO_MODULE', ['#NAME#' => $module]);
            }
            $version = (string)ModuleManager::getVersion($module);
            if ($there && version_compare($version, $oldest, '<')) {
                $names = ['#NAME#' => $module, '#OLDEST#' => $oldest, '#VERSION#' => $version];
                return self::message('OLD_MODULE', $names);
            }
        }
        return null;
    }

    /** Uploads grow there, and files of the company after them. */
    private static function folder()
    {
        $folder = Application::getDocumentRoot() . '/' . Option::get('main', 'upload_dir', 'upload');
        return is_dir($folder) && is_writable($folder) ? null : self::message('NO_UPLOAD', ['#FOLDER#' => $folder]);
    }

    /** The methods of the kernel that the module calls, or has in classes of its own: one that is otherwise kills. */
    private static function methods()
    {
        foreach (require __DIR__ . '/kernel.php' as $module => $classes) {
            foreach (Loader::includeModule($module) ? $classes : [] as $class => $methods) {
                foreach (explode(' ', $methods) as $method) {
                    $name = strtok($method, ':');
                    if (!self::fits($class, ltrim($name, '~'), (int)strtok(':'), $name[0] === '~')) {
                        return self::message('OTHER_KERNEL', ['#METHOD#' => $class . '::' . ltrim($name, '~')]);
                    }
                }
            }
        }
        return null;
    }

    /** Whether a method takes so many arguments, or can be had anew with so many parameters. */
    private static function fits($class, $name, $count, $anew)
    {
        if (!class_exists($class) || !method_exists($class, $name)) {
            return false;
        }
        $method = new \ReflectionMethod($class, $name);
        if ($anew) {
            return !$method->isFinal() && !$method->isPrivate() && $method->getNumberOfParameters() === $count;
        }
        $most = $method->isVariadic() ? $count : $method->getNumberOfParameters();
        return $method->isPublic() && $method->getNumberOfRequiredParameters() <= $count && $most >= $count;
    }

    private static function message($name, $values)
    {
        return Loc::getMessage('B24MIGRATE_IMPORT_' . $name, $values);
    }
}
