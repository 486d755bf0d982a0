<?php

// Module rest, and what installs modules.

declare(strict_types=1);

namespace Bitrix\Rest {

    class RestException extends \Exception
    {
        public function __construct(
            string $message,
            public readonly string $fault = '',
            public readonly string|int $status = 0,
            ?\Exception $previous = null
        ) {
            parent::__construct($message, 0, $previous);
        }
    }

    class AccessException extends RestException
    {
    }
}

namespace Bitrix\Rest\Engine {

    use B24migrate\Import\Tests\Kernel\World;

    class ScopeManager
    {
        public static function cleanCache(): void
        {
            World::call('ScopeManager::cleanCache');
        }
    }
}

namespace Bitrix\Rest\APAuth {

    use B24migrate\Import\Tests\Kernel\World;

    class PasswordTable
    {
        public static function createPassword(int $user, array $scopes, string $title, bool $array = false): array
        {
            World::call('createPassword', [$user, $scopes]);
            return ['ID' => 1, 'PASSWORD' => 'secret'];
        }
    }
}

namespace Bitrix\Main\Localization {

    class Loc
    {
        public static function loadMessages(string $file): void
        {
        }

        public static function getMessage(string $name, $replace = null, $language = null): string
        {
            $MESS = [];
            include dirname(__DIR__, 3) . '/b24migrate.import/lang/en/install/index.php';
            return strtr($MESS[$name], $replace ?? []);
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\ModuleManager;

    function DeleteDirFilesEx(string $path): void
    {
        World::call('DeleteDirFilesEx', [$path]);
    }

    class CRestServer
    {
        public function __construct(private string $method)
        {
        }

        public function getMethod(): string
        {
            return $this->method;
        }
    }

    class CRestUtil
    {
        public static bool $admin = true;

        public static function isAdmin(?int $userId = null): bool
        {
            return self::$admin;
        }

        public static function getWebhookEndpoint(string $password, int $user, $method = ''): string
        {
            return "https://box.example/rest/$user/$password/";
        }
    }

    class CModule
    {
        public $MODULE_ID;

        public static function CreateModuleObject(string $module): ?\CModule
        {
            require_once dirname(__DIR__, 3) . "/$module/install/index.php";
            return new (str_replace('.', '_', $module))();
        }

        public function IsInstalled(): bool
        {
            return ModuleManager::isModuleInstalled($this->MODULE_ID);
        }

        public function DoInstall()
        {
        }

        public function DoUninstall()
        {
        }

        /** What a module calls its own methods must not sound like these, whatever the case. */
        public function Add()
        {
            ModuleManager::registerModule($this->MODULE_ID);
        }

        public function Remove()
        {
            ModuleManager::unRegisterModule($this->MODULE_ID);
        }
    }
}
