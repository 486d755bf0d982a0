<?php

$MESS['B24MIGRATE_IMPORT_NAME'] = 'b24migrate: приём данных';
$MESS['B24MIGRATE_IMPORT_DESCRIPTION'] = 'Принимает то, что b24migrate переносит из облака: с авторами и датами, '
    . 'без уведомлений и ровно один раз. Открывает раздел REST import.';
$MESS['B24MIGRATE_IMPORT_OLD_PHP'] = 'Модулю нужен PHP 8.1 или новее, а здесь PHP #VERSION#.';
$MESS['B24MIGRATE_IMPORT_NO_EXTENSION'] = 'Модулю нужно расширение PHP #NAME#, а здесь его нет: установите его.';
$MESS['B24MIGRATE_IMPORT_NO_MODULE'] = 'Модулю нужен модуль #NAME#, а здесь он не установлен.';
$MESS['B24MIGRATE_IMPORT_OLD_MODULE'] = 'Модулю нужен #NAME# #OLDEST# или новее, а здесь #NAME# #VERSION#: обновите '
    . 'портал.';
$MESS['B24MIGRATE_IMPORT_NO_UPLOAD'] = 'Веб-сервер не может писать в папку #FOLDER#: дайте ему права на запись.';
$MESS['B24MIGRATE_IMPORT_OTHER_KERNEL'] = 'Метод #METHOD# на этом портале устроен не так, как ожидает модуль: нужна '
    . 'более новая версия модуля.';
$MESS['B24MIGRATE_IMPORT_REFUSED'] = 'Модуль не может быть установлен';
$MESS['B24MIGRATE_IMPORT_NOTHING_CHANGED'] = 'На портале ничего не изменилось.';
$MESS['B24MIGRATE_IMPORT_UNINSTALL'] = 'Удалить модуль';
$MESS['B24MIGRATE_IMPORT_KEEP_MAP'] = 'Перенесённые данные останутся на портале. Таблица соответствий помнит, какая '
    . 'запись облака стала какой записью здесь: с ней перенос можно продолжить позже, а без неё всё будет создано '
    . 'заново рядом с тем, что уже есть.';
$MESS['B24MIGRATE_IMPORT_DROP_MAP'] = 'Удалить и таблицу соответствий: перенос закончен';
