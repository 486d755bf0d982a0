<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

final class ActivitiesTest extends RouterCase
{
    private const TEMPLATE = ['MODULE_ID' => 'crm', 'ENTITY' => 'Deal', 'DOCUMENT_TYPE' => 'DEAL', 'NAME' => 'Bill'];

    /** @dataProvider refused */
    public function testWhatIsNotStandardIsRefusedByName(mixed $template, string $name): void
    {
        $fields = ['TEMPLATE' => $template] + self::TEMPLATE;
        foreach ([false, true] as $dry) {
            [$answer] = $this->batch('workflow_templates', [self::item('w', $fields)], $dry);
            $this->assertSame('failed', $answer['status']);
            $this->assertSame('VALIDATION', $answer['error']['code']);
            $this->assertStringContainsString("not allowed on this box: $name.", $answer['error']['message']);
        }
        $this->assertSame(0, $this->listed('workflow_templates')['count']);
    }

    /** @return array<string, array{mixed, string}> */
    public function refused(): array
    {
        $branch = static fn (string $name): array => self::within(self::one('IfElseBranchActivity', [$name => 'exit']));
        return [
            'code' => [[self::one('CodeActivity')], 'CodeActivity'],
            'any case' => [self::within(self::one('cOdEaCtIvItY')), 'cOdEaCtIvItY'],
            'the prefix that the kernel takes off' => [self::within(self::one('CBPCodeActivity')), 'CBPCodeActivity'],
            'of a vendor' => [self::within(self::one('AcmeSyncActivity')), 'AcmeSyncActivity'],
            'deep' => [array_reduce(range(1, 90), static fn ($tree) => self::within($tree[0]), [
                self::one('CodeActivity'),
            ]), 'CodeActivity'],
            'a list with gaps' => [['3' => self::one('CodeActivity')], 'CodeActivity'],
            'a condition' => [$branch('codecondition'), 'codecondition'],
            'a condition in any case' => [$branch('CBPCodeCondition'), 'CBPCodeCondition'],
            'a condition of a vendor' => [$branch('acmecheck'), 'acmecheck'],
            'inside properties' => [
                [self::one('SetFieldActivity', ['Inner' => [self::one('CodeActivity')]])],
                'CodeActivity',
            ],
            'inside properties, spelled otherwise' => [
                [self::one('SetFieldActivity', ['Inner' => ['type' => 'codeactivity']])],
                'codeactivity',
            ],
            'of no type' => [[['Name' => 'A', 'Properties' => ['ExecuteCode' => 'exit']]], '(unreadable)'],
            'no activity' => [[self::one('SequenceActivity') + ['Children' => ['x']]], '(unreadable)'],
            'an empty type' => [[self::one('')], ''],
            'of an application that cannot be' => [[self::one('rest_../x')], 'rest_../x'],
        ];
    }

    public function testStandardActivitiesAndThoseOfApplicationsArrive(): void
    {
        $tree = [self::one('SequentialWorkflowActivity') + ['Children' => [
            self::one('setfieldACTIVITY', ['FieldValue' => ['TITLE' => '{{=round({=Document:ID})}}', 'Type' => 'a']]),
            self::one('rest_4f1c3a9d7e'),
            self::one('IfElseBranchActivity', ['Title' => 'x', 'fieldcondition' => [['ID', '=', '1', '0']]]),
        ]]];
        $this->make('workflow_templates', 'w', ['TEMPLATE' => $tree] + self::TEMPLATE);
        $this->make('workflow_templates', 'v', ['TEMPLATE' => [], 'VARIABLES' => ['a' => ['Type' => 'user']]]
            + self::TEMPLATE);
    }

    public function testTheBoxAllowsByName(): void
    {
        $fields = ['TEMPLATE' => self::within(self::one('CodeActivity'))] + self::TEMPLATE;
        $this->box->set('allow_activities', ['acme']);
        $this->assertSame('failed', $this->send('workflow_templates', 'w', $fields)['status']);
        $this->box->set('allow_activities', ['acme', 'codeactivity']);
        $this->assertSame('created', $this->send('workflow_templates', 'w', $fields)['status']);
        $this->box->set('allow_activities', []);
        $renamed = $this->send('workflow_templates', 'w', ['NAME' => 'Other'] + $fields);
        $this->assertSame('failed', $renamed['status']);
    }

    /** @return array<string, mixed> */
    private static function one(string $type, array $properties = ['ExecuteCode' => 'exit;']): array
    {
        return ['Type' => $type, 'Name' => 'A1', 'Properties' => $properties];
    }

    /** @return list<array<string, mixed>> */
    private static function within(array $activity): array
    {
        return [self::one('SequenceActivity', []) + ['Children' => [$activity]]];
    }
}
