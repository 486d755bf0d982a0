<?php

$MESS['B24MIGRATE_IMPORT_NAME'] = 'b24migrate: import';
$MESS['B24MIGRATE_IMPORT_DESCRIPTION'] = 'Imports records that b24migrate reads from a cloud portal: with authors and '
    . 'dates, without notifications and without duplicates. Adds the REST scope import.';
$MESS['B24MIGRATE_IMPORT_OLD_PHP'] = 'The module requires PHP 8.1 or newer. This box has PHP #VERSION#.';
$MESS['B24MIGRATE_IMPORT_NO_EXTENSION'] = 'The module requires the PHP extension #NAME#. Install it.';
$MESS['B24MIGRATE_IMPORT_NO_MODULE'] = 'The module requires the module #NAME#. Install it.';
$MESS['B24MIGRATE_IMPORT_OLD_MODULE'] = 'The module requires #NAME# #OLDEST# or newer. This box has #NAME# #VERSION#: '
    . 'update it.';
$MESS['B24MIGRATE_IMPORT_NO_UPLOAD'] = 'The web server cannot write to #FOLDER#. Give it write permission.';
$MESS['B24MIGRATE_IMPORT_OTHER_KERNEL'] = '#METHOD# of this box differs from what the module expects. Install a newer '
    . 'version of the module.';
$MESS['B24MIGRATE_IMPORT_REFUSED'] = 'The module cannot be installed';
$MESS['B24MIGRATE_IMPORT_NOTHING_CHANGED'] = 'Nothing has changed on the box.';
$MESS['B24MIGRATE_IMPORT_UNINSTALL'] = 'Uninstall the module';
$MESS['B24MIGRATE_IMPORT_KEEP_MAP'] = 'Imported records stay on the box. The ID map links records of the source '
    . 'to records of this box. Keep it to continue the migration later: without it a new run creates duplicates.';
$MESS['B24MIGRATE_IMPORT_DROP_MAP'] = 'Delete the ID map too: the migration is complete';
