<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Application;
use Bitrix\Main\ORM\Data\DataManager;
use Bitrix\Main\ORM\Fields\{BooleanField, StringField, TextField};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The module's only table. A key is found by its SHA-256, so that no collation can take two keys for one; the order of
 * ids as numbers is the order of ids filled up with zeros, which every database sorts alike. That the kernel
 * makes such columns on both databases is to be checked on a real box.
 */
final class MapTable extends DataManager
{
    public static function getTableName(): string
    {
        return 'b24migrate_import_map';
    }

    public static function getMap(): array
    {
        return [
            (new StringField('KEY_HASH'))->configurePrimary()->configureSize(64),
            new TextField('SOURCE_KEY'),
            (new StringField('STREAM'))->configureSize(50),
            // Empty while it is only an intent: the kernel makes every column NOT NULL.
            (new StringField('TARGET_ID'))->configureSize(30),
            (new StringField('TARGET_ORDER'))->configureSize(30),
            (new StringField('DIGEST'))->configureSize(64),
            (new BooleanField('ADOPTED'))->configureValues('N', 'Y'),
            (new StringField('FINGERPRINT'))->configureSize(64),
        ];
    }

    public static function createTable(): void
    {
        $connection = Application::getConnection();
        if ($connection->isTableExists(self::getTableName())) {
            return;
        }
        self::getEntity()->createDbTable();
        $connection->createIndex(self::getTableName(), 'ix_b24migrate_import_order', ['STREAM', 'TARGET_ORDER']);
    }

    public static function dropTable(): void
    {
        $connection = Application::getConnection();
        if ($connection->isTableExists(self::getTableName())) {
            $connection->dropTable(self::getTableName());
        }
    }
}
