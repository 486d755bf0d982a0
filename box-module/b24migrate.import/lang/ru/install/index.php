<?php

$MESS['B24MIGRATE_IMPORT_NAME'] = 'b24migrate: импорт';
$MESS['B24MIGRATE_IMPORT_DESCRIPTION'] = 'Импортирует записи, которые b24migrate переносит из облака: с авторами и '
    . 'датами, без уведомлений и без дублей. Добавляет право REST import.';
$MESS['B24MIGRATE_IMPORT_OLD_PHP'] = 'Для модуля нужен PHP 8.1 или новее. В коробке установлен PHP #VERSION#.';
$MESS['B24MIGRATE_IMPORT_NO_EXTENSION'] = 'Для модуля нужно расширение PHP #NAME#. Установите его.';
$MESS['B24MIGRATE_IMPORT_NO_MODULE'] = 'Для модуля нужен модуль #NAME#. Установите его.';
$MESS['B24MIGRATE_IMPORT_OLD_MODULE'] = 'Для модуля нужен #NAME# #OLDEST# или новее. В коробке #NAME# #VERSION#: '
    . 'обновите её.';
$MESS['B24MIGRATE_IMPORT_NO_UPLOAD'] = 'Веб-сервер не может записывать в папку #FOLDER#. Дайте ему права на запись.';
$MESS['B24MIGRATE_IMPORT_OTHER_KERNEL'] = 'Метод #METHOD# этой коробки отличается от ожидаемого. Установите новую '
    . 'версию модуля.';
$MESS['B24MIGRATE_IMPORT_REFUSED'] = 'Модуль нельзя установить';
$MESS['B24MIGRATE_IMPORT_NOTHING_CHANGED'] = 'В коробке ничего не изменилось.';
$MESS['B24MIGRATE_IMPORT_UNINSTALL'] = 'Удалить модуль';
$MESS['B24MIGRATE_IMPORT_KEEP_MAP'] = 'Импортированные записи останутся в коробке. Карта ID связывает записи облака '
    . 'с записями коробки. Сохраните её, чтобы продолжить перенос позже: без неё новый запуск создаст дубли.';
$MESS['B24MIGRATE_IMPORT_DROP_MAP'] = 'Удалить и карту ID: перенос завершён';
