<?php

$MESS['B24MIGRATE_IMPORT_NAME'] = 'b24migrate: import';
$MESS['B24MIGRATE_IMPORT_DESCRIPTION'] = 'Takes in what b24migrate brings from a cloud portal, with its authors and '
    . 'dates, silently and exactly once. Serves the REST scope import.';
$MESS['B24MIGRATE_IMPORT_OLD_PHP'] = 'The module needs PHP 8.1 or newer, and this is PHP #VERSION#.';
$MESS['B24MIGRATE_IMPORT_NO_EXTENSION'] = 'The module needs the PHP extension #NAME#, which is not there: install it.';
$MESS['B24MIGRATE_IMPORT_NO_MODULE'] = 'The module needs the module #NAME#, which is not installed here.';
$MESS['B24MIGRATE_IMPORT_OLD_MODULE'] = 'The module needs #NAME# #OLDEST# or newer, and this is #NAME# #VERSION#: '
    . 'update the box.';
$MESS['B24MIGRATE_IMPORT_NO_UPLOAD'] = 'The web server cannot write to #FOLDER#: give it the right to.';
$MESS['B24MIGRATE_IMPORT_OTHER_KERNEL'] = 'This box has #METHOD# in another form than the module expects: it needs '
    . 'a newer version of the module.';
$MESS['B24MIGRATE_IMPORT_REFUSED'] = 'The module cannot be installed';
$MESS['B24MIGRATE_IMPORT_NOTHING_CHANGED'] = 'Nothing was changed on the box.';
$MESS['B24MIGRATE_IMPORT_UNINSTALL'] = 'Uninstall the module';
$MESS['B24MIGRATE_IMPORT_KEEP_MAP'] = 'What was imported stays on the box. The map remembers which record of the '
    . 'source became which record here: with it the migration can go on later, without it everything would be '
    . 'imported anew beside what is there.';
$MESS['B24MIGRATE_IMPORT_DROP_MAP'] = 'Delete the map too: the migration is over';
