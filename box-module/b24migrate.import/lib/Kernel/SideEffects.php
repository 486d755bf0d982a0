<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Im\Model\{ChatTable, MessageTable, RelationTable};
use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * What the records of the self-test have started in spite of the silence. Others work on the box at the same time, so
 * only what names these records or the people of the self-test counts. Jobs at the end of the hit are not seen.
 */
final class SideEffects
{
    private const MAILS = 'Bitrix\Main\Mail\Internal\EventTable';
    private const WORKFLOWS = 'Bitrix\Bizproc\Workflow\Entity\WorkflowStateTable';
    /** What every text and address of the self-test has. */
    private const MARK = 'b24migrate';
    private const NOTIFICATIONS = 'S';

    private readonly int $lastMail;
    private readonly int $lastAgent;

    public function __construct()
    {
        $this->lastMail = (int)($this->mails(0, 1)[0]['ID'] ?? 0);
        $this->lastAgent = (int)(\CAgent::GetList(['ID' => 'DESC'], [])->Fetch()['ID'] ?? 0);
    }

    /**
     * @param array<string, list<string>> $ids by stream
     * @return array<string, list<string>>
     */
    public function list(array $ids): array
    {
        $people = array_map('intval', $ids['users'] ?? []);
        return [
            'mails' => $this->newMails(),
            'notifications' => $people === [] || !Loader::includeModule('im') ? [] : self::notifications($people),
            'agents' => $this->newAgents(array_merge([], ...array_values($ids))),
            'robots and workflows' => self::workflows(self::documents($ids)),
        ];
    }

    private function newMails(): array
    {
        $told = static fn(array $row) => (string)json_encode($row['C_FIELDS'], JSON_INVALID_UTF8_SUBSTITUTE);
        $ours = static fn(array $row) => stripos($told($row), self::MARK) !== false;
        return array_column(array_filter($this->mails($this->lastMail), $ours), 'EVENT_NAME');
    }

    private function mails(int $after, ?int $most = null): array
    {
        $table = self::MAILS;
        return $table::getList([
            'select' => ['ID', 'EVENT_NAME', 'C_FIELDS'],
            'filter' => ['>ID' => $after],
            'order' => ['ID' => 'DESC'],
        ] + ($most === null ? [] : ['limit' => $most]))->fetchAll();
    }

    /** Each of us has a chat of his own for them; whoever caused one is its author. */
    private static function notifications(array $people): array
    {
        $rows = static fn(string $table, array $select, array $filter) => $table::getList([
            'select' => $select, 'filter' => $filter,
        ])->fetchAll();
        $own = array_column($rows(RelationTable::class, ['CHAT_ID'], [
            '@USER_ID' => $people, '=MESSAGE_TYPE' => self::NOTIFICATIONS,
        ]), 'CHAT_ID');
        $to = $own === [] ? [] : $rows(MessageTable::class, ['ID', 'MESSAGE'], ['@CHAT_ID' => $own]);
        $by = $rows(MessageTable::class, ['ID', 'MESSAGE', 'CHAT_ID'], ['@AUTHOR_ID' => $people]);
        $chats = array_unique(array_column($by, 'CHAT_ID'));
        $filter = ['@ID' => $chats, '=TYPE' => self::NOTIFICATIONS];
        $loud = $chats === [] ? [] : array_column($rows(ChatTable::class, ['ID'], $filter), 'ID');
        $from = array_filter($by, static fn(array $row) => in_array($row['CHAT_ID'], $loud, false));
        return array_values(array_column([...$to, ...$from], 'MESSAGE', 'ID'));
    }

    /** New ones that have the number of one of our records among their arguments. */
    private function newAgents(array $numbers): array
    {
        $names = [];
        $agents = \CAgent::GetList(['ID' => 'DESC'], []);
        while (($row = $agents->Fetch()) && (int)$row['ID'] > $this->lastAgent) {
            $names[] = (string)$row['NAME'];
        }
        $pattern = '/\b(' . implode('|', array_map('preg_quote', $numbers)) . ')\b/';
        return $numbers === [] ? [] : array_values(preg_grep($pattern, $names));
    }

    /** @return list<string> what bizproc calls the records of the CRM */
    private static function documents(array $ids): array
    {
        $words = ['crm_companies' => 'COMPANY', 'crm_contacts' => 'CONTACT', 'crm_deals' => 'DEAL'];
        $documents = [];
        foreach ($words as $stream => $word) {
            array_push($documents, ...array_map(static fn(string $id) => "{$word}_$id", $ids[$stream] ?? []));
        }
        $smart = static fn(string $id) => 'DYNAMIC_' . implode('_', CrmNumbers::parts($id));
        return [...$documents, ...array_map($smart, $ids['crm_spitems'] ?? [])];
    }

    /** Robots are workflows of the stage that an item is in. */
    private static function workflows(array $documents): array
    {
        $table = self::WORKFLOWS;
        if ($documents === [] || !Loader::includeModule('bizproc') || !class_exists($table)) {
            return [];
        }
        $filter = ['=MODULE_ID' => 'crm', '@DOCUMENT_ID' => $documents];
        $rows = $table::getList(['select' => ['ID', 'DOCUMENT_ID'], 'filter' => $filter])->fetchAll();
        return array_column($rows, 'DOCUMENT_ID');
    }
}
