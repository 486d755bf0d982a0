<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Main\Application;
use Bitrix\Main\ORM\Data\DataManager;
use Bitrix\Main\ORM\Fields\{BooleanField, StringField, TextField};
use Bitrix\Main\ORM\Fields\Validators\LengthValidator;

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
            self::text('KEY_HASH', 64)->configurePrimary(),
            new TextField('SOURCE_KEY'),
            self::text('STREAM', 50),
            // Empty while it is only an intent: the kernel makes every column NOT NULL.
            self::text('TARGET_ID', 30),
            self::text('TARGET_ORDER', 30),
            self::text('DIGEST', 64),
            (new BooleanField('ADOPTED'))->configureValues('N', 'Y'),
            self::text('FINGERPRINT', 64),
        ];
    }

    /** The kernel takes the size of a column from a validator only; 255 characters are too many for some keys. */
    private static function text(string $name, int $most): StringField
    {
        $validators = static fn(): array => [new LengthValidator(null, $most)];
        return new StringField($name, ['validation' => $validators]);
    }

    public static function exists(): bool
    {
        return (bool)Application::getConnection()->isTableExists(self::getTableName());
    }

    public static function createTable(): void
    {
        if (self::exists()) {
            return;
        }
        self::getEntity()->createDbTable();
        $order = ['STREAM', 'TARGET_ORDER'];
        Application::getConnection()->createIndex(self::getTableName(), 'ix_b24migrate_import_order', $order);
    }

    public static function dropTable(): void
    {
        if (self::exists()) {
            Application::getConnection()->dropTable(self::getTableName());
        }
    }
}
