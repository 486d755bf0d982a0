<?php

// Module crm: tables of items, what lies beside them, numbers of quotes and invoices.
// phpcs:disable Generic.NamingConventions.UpperCaseConstantName -- the kernel's own names

declare(strict_types=1);

namespace B24migrate\Import\Tests\Kernel {

    use Bitrix\Main\ORM\Data\DataManager;

    /** The ORM makes the class of a dynamic type while it runs. */
    class InvoiceRows extends DataManager
    {
        protected const TABLE = 'crm_31';
    }
}

namespace Bitrix\Crm {

    use Bitrix\Main\ORM\Data\DataManager;

    class LeadTable extends DataManager
    {
        protected const TABLE = 'crm_1';
    }

    class DealTable extends DataManager
    {
        protected const TABLE = 'crm_2';
    }

    class ContactTable extends DataManager
    {
        protected const TABLE = 'crm_3';
    }

    class CompanyTable extends DataManager
    {
        protected const TABLE = 'crm_4';
    }

    class QuoteTable extends DataManager
    {
        protected const TABLE = 'crm_7';
    }

    class UtmTable extends DataManager
    {
        protected const TABLE = 'crm_utm';
    }
}

namespace Bitrix\Crm\Integration {

    use B24migrate\Import\Tests\Kernel\World;

    class StorageFileType
    {
        public const Undefined = 0;
        public const EmailAttachment = 1;
        public const CallRecord = 2;
        public const Rest = 3;
    }

    class DiskManager
    {
        public static function saveFile(array $fileData, $siteID = '', $params = array())
        {
            return World::put('objects', [
                'NAME' => $fileData['ORIGINAL_NAME'], 'FILE_ID' => (int)$fileData['ID'],
                'CREATED_BY' => $params['USER_ID'], 'TYPE' => 3,
            ]);
        }
    }
}

namespace Bitrix\Main\Numerator {

    use B24migrate\Import\Tests\Kernel\World;
    use Bitrix\Main\Error;
    use Bitrix\Main\Result;

    /** Counts once it has counted: before, nobody can tell it where to go on. */
    class Numerator
    {
        private function __construct(private int $id)
        {
        }

        public static function getOneByType($type = null)
        {
            foreach (World::$tables['numerators'] ?? [] as $row) {
                if ($row['TYPE'] === $type) {
                    return ['id' => $row['ID'], 'template' => $row['TEMPLATE'] ?? '{NUMBER}'];
                }
            }
            return null;
        }

        public static function load($numeratorId, $source = null)
        {
            return new self($numeratorId);
        }

        public function hasSequentialNumber()
        {
            return World::row('numerators', $this->id)['COUNTS'] ?? true;
        }

        public function previewNextSequentialNumber($hash = null)
        {
            return World::row('numerators', $this->id)['NEXT'] ?? 1;
        }

        public function getNext($hash = null)
        {
            $next = $this->previewNextSequentialNumber();
            World::put('numerators', ['NEXT' => $next + 1] + World::row('numerators', $this->id));
            return (string)$next;
        }

        public function setNextSequentialNumber($nextNumber, $whereNumber = null, $hash = null)
        {
            $row = World::row('numerators', $this->id);
            if (!isset($row['NEXT'])) {
                return (new Result())->addError(new Error('The numerator has not counted yet'));
            }
            World::put('numerators', ['NEXT' => $nextNumber] + $row);
            return new Result();
        }
    }
}

namespace {

    use B24migrate\Import\Tests\Kernel\World;

    class CCrmQuote
    {
        public static function DoSaveElementIDs($ID, $storageTypeID, $arElementIDs)
        {
            World::$tables['crm_quote_elem'][$ID] = $arElementIDs;
            return true;
        }
    }
}
