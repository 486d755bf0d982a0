<?php

use Bitrix\Main\Localization\Loc;

if (!defined('B_PROLOG_INCLUDED') || B_PROLOG_INCLUDED !== true) {
    die();
}
Loc::loadMessages(__DIR__ . '/index.php');
?>
<form action="<?= htmlspecialcharsbx($GLOBALS['APPLICATION']->GetCurPage()) ?>" method="post">
    <?= bitrix_sessid_post() ?>
    <input type="hidden" name="lang" value="<?= htmlspecialcharsbx(LANGUAGE_ID) ?>">
    <input type="hidden" name="id" value="b24migrate.import">
    <input type="hidden" name="uninstall" value="Y">
    <input type="hidden" name="step" value="2">
    <p><?= Loc::getMessage('B24MIGRATE_IMPORT_KEEP_MAP') ?></p>
    <p>
        <label>
            <input type="checkbox" name="drop_map" value="Y">
            <?= Loc::getMessage('B24MIGRATE_IMPORT_DROP_MAP') ?>
        </label>
    </p>
    <input type="submit" value="<?= Loc::getMessage('B24MIGRATE_IMPORT_UNINSTALL') ?>">
</form>
