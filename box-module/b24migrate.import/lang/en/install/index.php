<?php

$MESS['B24MIGRATE_IMPORT_NAME'] = 'b24migrate: import';
$MESS['B24MIGRATE_IMPORT_DESCRIPTION'] = 'Takes in what b24migrate brings from a cloud portal, with its authors and '
    . 'dates, silently and exactly once. Serves the REST scope import.';
$MESS['B24MIGRATE_IMPORT_OLD_PHP'] = 'The module needs PHP 8.1 or newer, and this is PHP #VERSION#.';
$MESS['B24MIGRATE_IMPORT_NO_REST'] = 'The module needs the module rest, which is not installed here.';
$MESS['B24MIGRATE_IMPORT_UNINSTALL'] = 'Uninstall the module';
$MESS['B24MIGRATE_IMPORT_KEEP_MAP'] = 'What was imported stays on the box. The map remembers which record of the '
    . 'source became which record here: with it the migration can go on later, without it everything would be '
    . 'imported anew beside what is there.';
$MESS['B24MIGRATE_IMPORT_DROP_MAP'] = 'Delete the map too: the migration is over';
