<?php

// Installs the module from the command line: `php install.php --help`.
// phpcs:disable PSR1.Files.SideEffects -- the kernel wants constants

declare(strict_types=1);

use B24migrate\Import\Cli\Setup;

if (PHP_SAPI !== 'cli') {
    exit;
}
if (PHP_VERSION_ID < 80100) {
    fwrite(STDERR, 'The module needs PHP 8.1 or newer, and this is PHP ' . PHP_VERSION . ".\n");
    exit(2);
}
require __DIR__ . '/cli/Setup.php';

try {
    $setup = new Setup(array_slice($argv, 1));
    // This file lies in local/modules/b24migrate.import.
    $root = $setup->has('--help') ? '' : $setup->documentRoot ?? dirname(__DIR__, 3);
    if (!$setup->has('--help') && !is_file("$root/bitrix/modules/main/include/prolog_before.php")) {
        throw new InvalidArgumentException("There is no Bitrix in $root: tell where with --document-root.");
    }
} catch (InvalidArgumentException $bad) {
    fwrite(STDERR, $bad->getMessage() . "\n");
    exit(2);
}
if ($setup->has('--help')) {
    echo "php install.php                                installs the module\n"
        . "php install.php --create-webhook [--user ID]   and prints the URL of a webhook of this administrator (1)\n"
        . "php install.php --uninstall [--drop-map]       uninstalls it, and deletes the map if asked\n"
        . "php install.php --allow-activities NAMES       workflow activities to accept besides the standard ones,\n"
        . "                                               with commas between; \"\" for none\n"
        . "  --document-root PATH   where the site lies, if not three folders above this file\n";
    exit;
}
$_SERVER['DOCUMENT_ROOT'] = $root;
define('NO_KEEP_STATISTIC', true);
define('NOT_CHECK_PERMISSIONS', true);
define('BX_NO_ACCELERATOR_RESET', true);
require "$root/bitrix/modules/main/include/prolog_before.php";

try {
    echo $setup->perform() . "\n";
} catch (RuntimeException $refused) {
    fwrite(STDERR, $refused->getMessage() . "\n");
    exit(1);
}
