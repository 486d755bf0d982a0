<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\{Activities, ItemFault};
use Bitrix\Bizproc\Workflow\Template\Entity\WorkflowTemplateTable;

defined('B_PROLOG_INCLUDED') || exit;

/** Workflow templates. They are imported with autorun off: otherwise they would start on records imported later. */
final class WorkflowTemplates extends Gateway
{
    private const TREES = ['TEMPLATE', 'PARAMETERS', 'VARIABLES', 'CONSTANTS'];
    private const NEVER = 0;
    protected const TABLE = WorkflowTemplateTable::class;
    protected const LOSSES = [
        'AUTO_EXECUTE' => 'Templates are imported with autorun off. Turn it on in the designer after the migration.',
    ];
    protected const FIELDS = [
        'text' => 'MODULE_ID ENTITY DOCUMENT_TYPE NAME DESCRIPTION',
        'id' => 'USER_ID',
        'moment' => 'MODIFIED',
    ];

    public function create(string $key, array $fields): string
    {
        $document = [$fields['MODULE_ID'], $fields['ENTITY'], $fields['DOCUMENT_TYPE']];
        self::mustBeAdministrator($fields);
        // As a system import, because activities may name what arrives later; people check them in the designer.
        $id = \CBPWorkflowTemplateLoader::importTemplateFromArray(
            0,
            $document,
            self::NEVER,
            $fields['NAME'],
            (string)($fields['DESCRIPTION'] ?? ''),
            $this->trees($fields) + array_fill_keys(self::TREES, []) + ['DOCUMENT_FIELDS' => null],
            null,
            true
        );
        $id ?: throw self::refusal('the box does not take this template');
        $this->setAuthor((int)$id, $fields);
        return (string)$id;
    }

    public function update(string $id, array $fields): void
    {
        self::mustBeAdministrator($fields);
        self::mustExist(self::findRow(WorkflowTemplateTable::class, ['ID'], $id));
        $row = array_intersect_key($fields, array_flip(['NAME', 'DESCRIPTION'])) + $this->trees($fields);
        \CBPWorkflowTemplateLoader::update((int)$id, $row, true);
        $this->setAuthor((int)$id, $fields);
    }

    public function delete(string $id): void
    {
        \CBPWorkflowTemplateLoader::delete((int)$id);
    }

    protected function toFields(array $row): array
    {
        $spell = CrmNumbers::numbered(...);
        $trees = array_map(fn($tree) => (array)($tree ?: []), array_intersect_key($row, array_flip(self::TREES)));
        return parent::toFields($row) + array_map(fn(array $tree) => self::mapTexts($tree, $spell), $trees);
    }

    /** The kernel requires this for code that is saved in the designer, but not for a system import. */
    private static function mustBeAdministrator(array $fields): void
    {
        if (Activities::forbidden($fields) === []) {
            return;
        }
        if (!(new \CBPWorkflowTemplateUser(\CBPWorkflowTemplateUser::CurrentUser))->isAdmin()) {
            throw new ItemFault('VALIDATION', 'TEMPLATE', 'TEMPLATE: only an administrator may save such activities');
        }
    }

    /**
     * The kernel itself writes down the first administrator, now. That its table takes others is to be checked on
     * a real box.
     */
    private function setAuthor(int $id, array $fields): void
    {
        $row = array_filter([
            'USER_ID' => (int)($fields['USER_ID'] ?? 0),
            'MODIFIED' => Dates::moment($fields['MODIFIED'] ?? null),
        ]);
        $row === [] || self::mustSucceed(WorkflowTemplateTable::update($id, $row));
    }

    private function trees(array $fields): array
    {
        $trees = [];
        foreach (array_intersect(self::TREES, array_keys($fields)) as $name) {
            $trees[$name] = self::mapTexts((array)($fields[$name] ?? []), CrmNumbers::plain(...));
        }
        return $trees;
    }

    private static function mapTexts(array $tree, \Closure $spell): array
    {
        return array_map(static fn(mixed $node): mixed => match (true) {
            is_array($node) => self::mapTexts($node, $spell),
            $node instanceof \stdClass => self::mapTexts((array)$node, $spell),
            is_string($node) => $spell($node),
            default => $node,
        }, $tree);
    }
}
