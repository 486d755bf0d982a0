<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Crm\ItemIdentifier;
use Bitrix\Crm\Service\Timeline\Monitor;
use Bitrix\Im\Model\{ChatTable, MessageTable, RelationTable};
use Bitrix\Main\{Loader, UserCounterTable};
use Bitrix\Main\Mail\Internal\EventTable;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What the records of the self-test have started in spite of the quiet mode. Others work on the box at the same time,
 * so only what names these records or the people of the self-test counts. Jobs at the end of the hit are not seen.
 */
final class SideEffects
{
    private const WORKFLOWS = 'Bitrix\Bizproc\Workflow\Entity\WorkflowStateTable';
    /** What bizproc calls records of the CRM. */
    private const DOCUMENTS = [
        'crm_companies' => 'COMPANY', 'crm_contacts' => 'CONTACT', 'crm_deals' => 'DEAL', 'crm_leads' => 'LEAD',
        'crm_quotes' => 'QUOTE',
    ];
    /** Whose timelines the samples are in, by stream. */
    private const OWNERS = ['crm_deals' => 2, 'crm_contacts' => 3, 'crm_companies' => 4, 'crm_leads' => 1];
    /** Visible counters of the CRM; the kernel also keeps an old one that no page shows. */
    private const COUNTERS = '/^crm_(?!cur_act)/';
    /** Every text and address of the self-test has it. */
    private const MARK = 'b24migrate';
    private const NOTIFICATIONS = 'S';

    private readonly int $lastMail;
    private readonly int $lastAgent;

    public function __construct()
    {
        $newest = ['select' => ['ID'], 'order' => ['ID' => 'DESC'], 'limit' => 1];
        $this->lastMail = (int)(EventTable::getList($newest)->fetch()['ID'] ?? 0);
        $this->lastAgent = (int)(\CAgent::GetList(['ID' => 'DESC'], [])->Fetch()['ID'] ?? 0);
    }

    /**
     * @param array<string, list<string>> $ids of the records that were made since, by stream
     * @return array<string, list<string>> what they have started, by kind
     */
    public function list(array $ids): array
    {
        $people = array_map('intval', $ids['users'] ?? []);
        return [
            'mails' => $this->mails(),
            'notifications' => $people === [] || !Loader::includeModule('im') ? [] : self::notifications($people),
            'agents' => $this->agents(array_merge([], ...array_values($ids))),
            'robots and workflows' => self::workflows(self::documents($ids)),
            'counters' => $people === [] ? [] : self::counters($people),
            'owners' => self::owners($ids),
        ];
    }

    private function mails(): array
    {
        $rows = self::rows(EventTable::class, ['EVENT_NAME', 'C_FIELDS'], ['>ID' => $this->lastMail]);
        $isOurs = static fn(array $row) => stripos(
            (string)json_encode($row['C_FIELDS'], JSON_INVALID_UTF8_SUBSTITUTE),
            self::MARK
        ) !== false;
        return array_column(array_filter($rows, $isOurs), 'EVENT_NAME');
    }

    /** To our people, each of whom has a chat for them, and from our people to others. */
    private static function notifications(array $people): array
    {
        $ofType = ['@USER_ID' => $people, '=MESSAGE_TYPE' => self::NOTIFICATIONS];
        $own = array_column(self::rows(RelationTable::class, ['CHAT_ID'], $ofType), 'CHAT_ID');
        $messages = self::rows(MessageTable::class, ['MESSAGE', 'CHAT_ID'], [
            'LOGIC' => 'OR', ['@CHAT_ID' => $own ?: [0]], ['@AUTHOR_ID' => $people],
        ]);
        $chats = ['@ID' => array_column($messages, 'CHAT_ID') ?: [0], '=TYPE' => self::NOTIFICATIONS];
        $loud = array_column(self::rows(ChatTable::class, ['ID'], $chats), 'ID');
        return array_column(
            array_filter($messages, static fn(array $row) => in_array($row['CHAT_ID'], $loud, false)),
            'MESSAGE'
        );
    }

    /** New ones that have the number of one of our records among their arguments. */
    private function agents(array $numbers): array
    {
        $isNew = fn(array $row) => (int)$row['ID'] > $this->lastAgent;
        $agents = array_filter(Gateway::legacyRows(\CAgent::GetList(['ID' => 'DESC'], [])), $isNew);
        $pattern = '/\b(' . implode('|', array_map('preg_quote', $numbers)) . ')\b/';
        return $numbers === [] ? [] : array_values(preg_grep($pattern, array_column($agents, 'NAME')));
    }

    private static function counters(array $people): array
    {
        $rows = self::rows(UserCounterTable::class, ['CODE'], ['@USER_ID' => $people, '>CNT' => 0]);
        return array_values(preg_grep(self::COUNTERS, array_column($rows, 'CODE')));
    }

    /** Records that the monitor of timelines is going to change when the answer has been sent. */
    private static function owners(array $ids): array
    {
        $found = [];
        if (!Loader::includeModule('crm') || !method_exists(Monitor::class, 'isTimelineChanged')) {
            return $found;
        }
        foreach (self::OWNERS as $stream => $type) {
            foreach ($ids[$stream] ?? [] as $id) {
                $willChange = Monitor::getInstance()->isTimelineChanged(new ItemIdentifier($type, (int)$id));
                $found = $willChange ? [...$found, "$stream $id"] : $found;
            }
        }
        return $found;
    }

    private static function documents(array $ids): array
    {
        $smart = static fn(string $id) => 'DYNAMIC_' . implode('_', CrmNumbers::parts($id));
        $documents = array_map($smart, $ids['crm_spitems'] ?? []);
        $invoice = static fn(string $id) => 'SMART_INVOICE_' . CrmNumbers::id($id);
        array_push($documents, ...array_map($invoice, $ids['crm_invoices'] ?? []));
        foreach (self::DOCUMENTS as $stream => $word) {
            array_push($documents, ...array_map(static fn(string $id) => "{$word}_$id", $ids[$stream] ?? []));
        }
        return $documents;
    }

    /** Robots are workflows of the stage that an item is in. */
    private static function workflows(array $documents): array
    {
        if ($documents === [] || !Loader::includeModule('bizproc') || !class_exists(self::WORKFLOWS)) {
            return [];
        }
        $filter = ['=MODULE_ID' => 'crm', '@DOCUMENT_ID' => $documents];
        return array_column(self::rows(self::WORKFLOWS, ['DOCUMENT_ID'], $filter), 'DOCUMENT_ID');
    }

    private static function rows(string $table, array $select, array $filter): array
    {
        return $table::getList(['select' => $select, 'filter' => $filter])->fetchAll();
    }
}
