<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{Catalog, Json};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * The world of the selftest: old, by a person of its own who is no administrator, and with what kernels are known to
 * refuse or to bend. A sample is called by its stream; a second one of a stream has its case in brackets behind it.
 */
final class Samples
{
    private const NAME = 'b24migrate selftest';
    /** Of the bytes "selftest". */
    private const SHA256 = 'd354caf95d3e6516b85e558edc25f44a260802e9a2daa18a01fc1cf8459673da';
    private const BEFORE = '2019-02-03T04:05:06Z';
    private const LATER = '2020-03-04T05:06:07Z';
    /** Some columns cannot hold an emoji: the kernel encodes it. */
    private const EMOJI = self::NAME . ' 😀';
    private const SAID = ['author_id' => '{users}', 'date' => self::LATER, 'text' => self::EMOJI];
    private const BY = [
        'assignedById' => '{users}', 'createdBy' => '{users}', 'updatedBy' => '{users}', 'createdTime' => self::BEFORE,
        'updatedTime' => self::LATER,
    ];
    private const WRITTEN = [
        'DATE_CREATE' => self::BEFORE, 'DATE_MODIFY' => self::LATER, 'CREATED_BY_ID' => '{users}',
        'MODIFY_BY_ID' => '{users}',
    ];
    private const PHONE = ['fm' => [['typeId' => 'PHONE', 'valueType' => 'WORK', 'value' => '+70000000000']]];
    private const CLIENT = ['companyId' => '{crm_companies}', 'contactIds' => ['{crm_contacts}']];
    private const STAGE = 'DT{crm_types}_{crm_categories}:B24M';
    private const DEALS = '{crm_categories (deals)}';
    private const OF_DEAL = ['ownerTypeId' => 2, 'ownerId' => '{crm_deals}'];
    private const OF_CONTACT = ['ownerTypeId' => 3, 'ownerId' => '{crm_contacts}'];
    private const MAIL = [
        'OWNER' => self::OF_DEAL, 'BINDINGS' => [self::OF_DEAL, self::OF_CONTACT], 'TYPE_ID' => 4,
        'PROVIDER_ID' => 'CRM_EMAIL', 'PROVIDER_TYPE_ID' => 'EMAIL', 'SUBJECT' => self::EMOJI,
        'DESCRIPTION' => self::EMOJI, 'DESCRIPTION_TYPE' => 3, 'CREATED' => self::BEFORE,
        'LAST_UPDATED' => self::LATER, 'RESPONSIBLE_ID' => '{users}', 'AUTHOR_ID' => '{users (another)}',
        'DIRECTION' => 1, 'SETTINGS' => [
            'MESSAGE_HEADERS' => ['Message-Id' => '<1@b24migrate.invalid>'], 'SANITIZE_ON_VIEW' => 1,
        ],
        'COMMUNICATIONS' => [
            ['TYPE' => 'EMAIL', 'VALUE' => 'selftest@b24migrate.invalid', 'owner' => self::OF_CONTACT],
        ],
        'FILES' => ['{files}'], 'IS_INCOMING_CHANNEL' => true,
    ];
    private const NOTED = [
        'createdById' => '{users}', 'updatedById' => '{users}', 'createdTime' => self::BEFORE,
        'updatedTime' => self::LATER,
    ];
    private const PERSON = [
        'NAME' => 'Selftest', 'LAST_NAME' => 'B24migrate', 'ACTIVE' => true, 'UF_DEPARTMENT' => ['{departments}'],
        'DATE_REGISTER' => '2019-02-03', 'PERSONAL_BIRTHDAY' => '1980-01-31',
    ];
    private const GROUP = [
        'NAME' => self::NAME, 'OWNER_ID' => '{users}', 'VISIBLE' => false, 'OPENED' => false,
        'DATE_CREATE' => self::BEFORE, 'DATE_UPDATE' => self::LATER, 'DATE_ACTIVITY' => self::LATER,
    ];
    /** `{sample}` is the id of what was made of it. */
    private const OF = [
        'files' => [
            'name' => 'b24migrate-selftest.txt', 'size' => 8, 'content' => 'c2VsZnRlc3Q=', 'sha256' => self::SHA256,
        ],
        'departments' => ['NAME' => self::NAME, 'PARENT' => '{root}', 'SORT' => 900],
        'users' => ['EMAIL' => 'selftest@b24migrate.invalid'] + self::PERSON,
        'users (another)' => ['EMAIL' => 'selftest2@b24migrate.invalid'] + self::PERSON,
        'groups' => self::GROUP,
        'groups (same name)' => self::GROUP,
        'group_members' => ['GROUP_ID' => '{groups}', 'USER_ID' => '{users (another)}', 'ROLE' => 'K'],
        'crm_types' => [
            'title' => self::NAME, 'isCategoriesEnabled' => true, 'isStagesEnabled' => true, 'isClientEnabled' => true,
        ],
        'crm_categories' => [
            'entityTypeId' => '{crm_types}', 'name' => self::NAME, 'sort' => 900, 'isDefault' => false,
        ],
        'crm_categories (deals)' => ['entityTypeId' => '2', 'name' => self::NAME, 'sort' => 900, 'isDefault' => false],
        'crm_stages' => [
            'ENTITY_ID' => 'DYNAMIC_{crm_types}_STAGE_{crm_categories}', 'STATUS_ID' => self::STAGE,
            'NAME' => self::NAME, 'SORT' => 15, 'COLOR' => '#ABCDEF',
        ],
        'crm_stages (behind the final one)' => [
            'ENTITY_ID' => 'DEAL_STAGE_' . self::DEALS, 'STATUS_ID' => 'C' . self::DEALS . ':B24M',
            'NAME' => self::NAME, 'SORT' => 900, 'COLOR' => '#ABCDEF',
        ],
        'crm_stages (final)' => [
            'ENTITY_ID' => 'DEAL_STAGE_' . self::DEALS, 'STATUS_ID' => 'C' . self::DEALS . ':WON',
            'NAME' => self::NAME . ' won', 'SORT' => 1000, 'SEMANTICS' => 'S',
        ],
        'crm_companies' => ['title' => self::NAME] + self::BY + self::PHONE,
        'crm_contacts' => ['name' => self::NAME, 'companyIds' => ['{crm_companies}']] + self::BY + self::PHONE,
        'crm_deals' => [
            'title' => self::NAME, 'categoryId' => self::DEALS, 'stageId' => 'C' . self::DEALS . ':WON',
            'begindate' => '2019-02-03', 'closedate' => '2020-03-04', 'movedTime' => self::LATER,
        ] + self::CLIENT + self::BY,
        'crm_leads' => [
            'title' => self::NAME, 'stageId' => 'JUNK', 'dateClosed' => self::LATER, 'isReturnCustomer' => false,
        ] + self::CLIENT + self::BY + self::PHONE,
        'crm_quotes' => [
            'title' => self::NAME, 'quoteNumber' => self::NAME, 'stageId' => 'APPROVED', 'closedate' => '2020-03-04',
            'dealId' => '{crm_deals}', 'leadId' => '{crm_leads}', 'storageElementIds' => ['{files}'],
        ] + self::CLIENT + self::BY,
        'crm_invoices' => ['title' => self::NAME, 'accountNumber' => self::NAME] + self::CLIENT + self::BY,
        'crm_currencies' => ['CURRENCY' => 'XTS', 'AMOUNT' => 2.5, 'AMOUNT_CNT' => 10, 'SORT' => 900],
        'crm_measures' => ['code' => 99990, 'measureTitle' => self::NAME],
        'crm_vats' => ['name' => self::NAME, 'rate' => 7.5, 'sort' => 900, 'active' => true],
        'crm_price_types' => ['name' => self::NAME, 'base' => true],
        'crm_catalog_sections' => ['name' => self::NAME, 'sort' => 900, 'active' => false],
        'crm_product_props' => ['name' => self::NAME, 'code' => 'B24MIGRATE_SELFTEST', 'propertyType' => 'S'],
        'crm_products' => [
            'kind' => 'product', 'name' => self::NAME, 'active' => false, 'measure' => '{crm_measures}',
            'vatId' => '{crm_vats}', 'iblockSectionId' => '{crm_catalog_sections}', 'createdBy' => '{users}',
            'dateCreate' => self::BEFORE, 'properties' => ['{crm_product_props}' => [self::NAME]],
        ],
        'crm_prices' => [
            'productId' => '{crm_products}', 'catalogGroupId' => '{crm_price_types}', 'price' => 10.5,
            'currency' => '{crm_currencies}',
        ],
        'crm_requisite_presets' => ['NAME' => self::NAME, 'COUNTRY_ID' => 1, 'ACTIVE' => true],
        'crm_requisites' => [
            'ENTITY_TYPE_ID' => 4, 'ENTITY_ID' => '{crm_companies}', 'PRESET_ID' => '{crm_requisite_presets}',
            'NAME' => self::NAME, 'RQ_INN' => '7700000000',
        ] + self::WRITTEN,
        'crm_bank_details' => [
            'ENTITY_ID' => '{crm_requisites}', 'COUNTRY_ID' => 1, 'NAME' => self::NAME, 'RQ_BIK' => '040000000',
        ] + self::WRITTEN,
        'crm_addresses' => [
            'ENTITY_TYPE_ID' => 8, 'ENTITY_ID' => '{crm_requisites}', 'TYPE_ID' => 1, 'ANCHOR_TYPE_ID' => 4,
            'ANCHOR_ID' => '{crm_companies}', 'CITY' => self::NAME,
        ],
        'crm_requisite_links' => [
            'ENTITY_TYPE_ID' => 2, 'ENTITY_ID' => '{crm_deals}', 'REQUISITE_ID' => '{crm_requisites}',
            'BANK_DETAIL_ID' => '{crm_bank_details}',
        ],
        'crm_spitems' => [
            'entityTypeId' => '{crm_types}', 'title' => self::NAME, 'categoryId' => '{crm_categories}',
            'stageId' => self::STAGE,
        ] + self::CLIENT + self::BY,
        'crm_calls' => [
            'CALL_ID' => 'b24migrate.selftest', 'CALL_TYPE' => 2, 'PORTAL_USER_ID' => '{users}',
            'PHONE_NUMBER' => '+70000000000', 'CALL_DURATION' => 65, 'CALL_START_DATE' => self::BEFORE,
            'CALL_FAILED_CODE' => '200', 'owner' => self::OF_CONTACT, 'RECORD_FILE' => '{files}',
        ],
        'crm_activities' => ['COMPLETED' => true, 'STATUS' => 2] + self::MAIL,
        'crm_activities (open)' => [
            'TYPE_ID' => 1, 'PROVIDER_ID' => 'CRM_MEETING', 'COMPLETED' => false, 'STATUS' => 1, 'FILES' => [],
            'START_TIME' => self::LATER, 'END_TIME' => self::LATER, 'DEADLINE' => self::LATER,
        ] + self::MAIL,
        'crm_comments' => [
            'OWNERS' => [self::OF_DEAL, self::OF_CONTACT], 'AUTHOR_ID' => '{users}', 'CREATED' => self::BEFORE,
            'COMMENT' => self::EMOJI, 'FILES' => ['{files}'],
        ],
        'crm_notes' => ['activityId' => '{crm_activities}', 'text' => self::NAME] + self::NOTED,
        'crm_notes (of a comment)' => ['commentId' => '{crm_comments}', 'text' => self::NAME] + self::NOTED,
        'crm_logs' => [
            'OWNER' => self::OF_DEAL, 'title' => self::NAME, 'text' => self::NAME, 'iconCode' => 'info',
            'authorId' => '{users}', 'created' => self::BEFORE,
        ],
        'crm_recurring' => [
            'DEAL_ID' => '{crm_deals}', 'START_DATE' => '2019-02-03', 'IS_LIMIT' => 'N', 'PARAMS' => [
                'MODE' => 'multiple', 'MULTIPLE_TYPE' => 'month', 'MULTIPLE_INTERVAL' => 1,
            ],
        ],
        'tasks' => [
            'title' => self::NAME, 'status' => '5', 'createdBy' => '{users}', 'responsibleId' => '{users}',
            'closedBy' => '{users}', 'groupId' => '{groups}', 'createdDate' => self::BEFORE,
            'closedDate' => self::LATER, 'deadline' => self::LATER, 'tags' => ['selftest'],
        ],
        'task_checklists' => [
            'TASK_ID' => '{tasks}', 'TITLE' => self::NAME, 'SORT_INDEX' => 3, 'IS_COMPLETE' => true,
            'CREATED_BY' => '{users}', 'TOGGLED_BY' => '{users}', 'TOGGLED_DATE' => self::LATER,
        ],
        'task_comments' => ['task_id' => '{tasks}', 'files' => ['{files}']] + self::SAID,
        'chats' => [
            'type' => 'chat', 'name' => self::NAME, 'owner' => '{users}', 'users' => ['{users}'],
            'date_create' => self::BEFORE,
        ],
        'chats (private)' => ['type' => 'private', 'users' => ['{users}', '{users (another)}']],
        'chats (channel)' => [
            'type' => 'channel', 'name' => self::NAME, 'owner' => '{users}', 'date_create' => self::BEFORE,
            'users' => ['{users}', '{users (another)}'],
        ],
        'chat_messages' => ['chat_id' => '{chats}'] + self::SAID,
        'chat_messages (of the system, private)' => ['chat_id' => '{chats (private)}', 'author_id' => '0'] + self::SAID,
        'chat_messages (channel)' => ['chat_id' => '{chats (channel)}'] + self::SAID,
        'feed_posts' => [
            'TITLE' => self::NAME, 'DETAIL_TEXT' => self::EMOJI, 'AUTHOR_ID' => '{users}',
            'DATE_PUBLISH' => self::BEFORE, 'DEST' => ['U{users}'], 'FILES' => ['{files}'],
        ],
        'feed_comments' => ['post_id' => '{feed_posts}', 'files' => ['{files}']] + self::SAID,
        'workflow_templates' => [
            'MODULE_ID' => 'crm', 'ENTITY' => 'CCrmDocumentDeal', 'DOCUMENT_TYPE' => 'DEAL', 'NAME' => self::NAME,
            'USER_ID' => '{users}', 'MODIFIED' => self::LATER, 'TEMPLATE' => [[
                'Type' => 'SequentialWorkflowActivity', 'Name' => 'Template', 'Activated' => 'Y',
                'Properties' => ['Title' => self::NAME], 'Children' => [],
            ]],
        ],
    ];

    /**
     * @param ?list<string> $later streams of later versions that the box serves; null: all of them
     * @return list<string> in the order in which they are made, of these entities; a file goes with any of them
     */
    public static function names(array $entities = Catalog::ENTITIES, ?array $later = null): array
    {
        $streams = ['files', ...array_keys(Catalog::streams($entities))];
        $missing = $later === null ? [] : array_diff(array_filter($streams, Catalog::isOfLaterVersion(...)), $later);
        $streams = array_diff($streams, $missing);
        $served = static fn (string $name) => in_array(self::streamOf($name), $streams, true);
        return array_values(array_filter(array_keys(self::OF), $served));
    }

    public static function streamOf(string $name): string
    {
        return explode(' ', $name)[0];
    }

    /**
     * @param array<string, string> $ids of what was made before, by sample
     * @return array{array<string, mixed>, list<string>} its fields without those that refer to what could not be made,
     *         and what that is
     */
    public static function of(string $name, array $ids): array
    {
        // a box may have no departments of its own
        $ids += isset($ids['root']) ? ['departments' => $ids['root']] : [];
        $fields = $missing = [];
        foreach (self::OF[$name] as $field => $value) {
            $text = Json::encode($value);
            preg_match_all('/\{([a-z_]+(?: \([^)]*\))?)\}/', $text, $found);
            $lacking = array_diff($found[1], array_keys($ids));
            $missing = [...$missing, ...$lacking];
            if ($lacking === []) {
                $filled = array_map(static fn ($sample) => (string)$ids[$sample], $found[1]);
                $fields[$field] = Json::decode(str_replace($found[0], $filled, $text));
            }
        }
        return [$fields, array_values(array_unique($missing))];
    }
}
