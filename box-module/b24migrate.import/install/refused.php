<?php

use Bitrix\Main\Localization\Loc;

defined('B_PROLOG_INCLUDED') || exit;

Loc::loadMessages(__DIR__ . '/index.php');
$obstacle = $GLOBALS['APPLICATION']->GetException();
?>
<p><?= htmlspecialcharsbx($obstacle ? (string)$obstacle->GetString() : '') ?></p>
<p><?= Loc::getMessage('B24MIGRATE_IMPORT_NOTHING_CHANGED') ?></p>
