<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Port\CustomFields;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * UF_* of every kind of record. To make one changes a table of the database, so it must not happen inside a
 * transaction: MySQL would commit it.
 */
final class UserFields implements CustomFields
{
    /** Of those streams whose gateways write custom values: what is not here is refused, and its values ignored. */
    private const ENTITIES = [
        'users' => 'USER',
        'tasks' => 'TASKS_TASK',
        'crm_companies' => 'CRM_COMPANY',
        'crm_contacts' => 'CRM_CONTACT',
        'crm_deals' => 'CRM_DEAL',
        'crm_leads' => 'CRM_LEAD',
        'crm_quotes' => 'CRM_QUOTE',
        'crm_invoices' => 'CRM_SMART_INVOICE',
        'crm_requisites' => 'CRM_REQUISITE',
    ];

    /** @var array<string, array<string, array<string, mixed>>> what was asked in this call */
    private array $known = [];

    public function of(string $stream, ?string $type): array
    {
        $entity = $this->entity($stream, $type);
        if ($entity === null) {
            return [];
        }
        return $this->known[$entity] ??= array_map($this->describe(...), $this->rows($entity));
    }

    public function code(string $stream, ?string $type, string $code): string
    {
        // A smart process has its own number inside its codes: UF_CRM_7_1700000001.
        $entity = $this->entity($stream, $type);
        return $stream === 'crm_spitems' && $entity !== null
            ? preg_replace('/^UF_CRM_(\d+_)?/', 'UF_' . $entity . '_', $code)
            : $code;
    }

    public function create(string $stream, ?string $type, array $field): string
    {
        $entity = $this->entity($stream, $type);
        if ($entity === null) {
            throw new ItemFault('TYPE_UNSUPPORTED', 'code', "$stream has no custom fields on this box");
        }
        if (!$GLOBALS['USER_FIELD_MANAGER']->GetUserType($field['type'])) {
            throw new ItemFault('TYPE_UNSUPPORTED', 'type', "the box has no fields of the type {$field['type']}");
        }
        $code = $this->code($stream, $type, $field['code']);
        if (!(new \CUserTypeEntity())->Add($this->row($entity, $code, $field))) {
            throw Gateway::refusal("the box does not take the field $code", 'code');
        }
        unset($this->known[$entity]);
        return $code;
    }

    public function addOptions(string $stream, ?string $type, string $code, array $options): void
    {
        $entity = (string)$this->entity($stream, $type);
        $values = [];
        foreach (array_values($options) as $at => $option) {
            $values["n$at"] = [
                'VALUE' => $option['value'],
                'XML_ID' => (string)($option['xml_id'] ?? ''),
                'SORT' => (int)($option['sort'] ?? 500),
                'DEF' => ($option['default'] ?? false) ? 'Y' : 'N',
            ];
        }
        if (!(new \CUserFieldEnum())->SetEnumValues((int)$this->rows($entity)[$code]['ID'], $values)) {
            throw Gateway::refusal("the box does not take the values of $code", 'code');
        }
        unset($this->known[$entity]);
    }

    /** What the kernel calls the records of a stream where fields belong to them. */
    private function entity(string $stream, ?string $type): ?string
    {
        if ($stream !== 'crm_spitems') {
            return self::ENTITIES[$stream] ?? null;
        }
        $factory = $type === null ? null : \Bitrix\Crm\Service\Container::getInstance()->getFactory((int)$type);
        return $factory?->getUserFieldEntityId();
    }

    /** @return array<string, array<string, mixed>> by code */
    private function rows(string $entity): array
    {
        $rows = Gateway::legacyRows(\CUserTypeEntity::GetList(['ID' => 'ASC'], ['ENTITY_ID' => $entity]));
        return array_column($rows, null, 'FIELD_NAME');
    }

    private function describe(array $row): array
    {
        $options = [];
        if ($row['USER_TYPE_ID'] === 'enumeration') {
            $values = \CUserFieldEnum::GetList(['SORT' => 'ASC'], ['USER_FIELD_ID' => $row['ID']]);
            foreach (Gateway::legacyRows($values) as $one) {
                $options[] = ['id' => (string)$one['ID'], 'value' => $one['VALUE'], 'xml_id' => $one['XML_ID']];
            }
        }
        return ['type' => $row['USER_TYPE_ID'], 'multiple' => $row['MULTIPLE'] === 'Y', 'options' => $options];
    }

    private function row(string $entity, string $code, array $field): array
    {
        $label = $field['label'] ?? [];
        return [
            'ENTITY_ID' => $entity,
            'FIELD_NAME' => $code,
            'XML_ID' => $code,
            'USER_TYPE_ID' => $field['type'],
            'MULTIPLE' => ($field['multiple'] ?? false) ? 'Y' : 'N',
            // Only the CRM can skip the check; elsewhere old records without a value would be refused.
            'MANDATORY' => ($field['mandatory'] ?? false) && str_starts_with($entity, 'CRM_') ? 'Y' : 'N',
            'SORT' => $field['sort'] ?? 100,
            'SHOW_FILTER' => 'E',
            'SETTINGS' => (array)($field['settings'] ?? []),
            'EDIT_FORM_LABEL' => $label,
            'LIST_COLUMN_LABEL' => $label,
            'LIST_FILTER_LABEL' => $label,
        ];
    }
}
