<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class WorkflowsTest extends KernelCase
{
    private const CODE = [['Type' => 'SequentialWorkflowActivity', 'Properties' => [], 'Children' => [
        ['Type' => 'CodeActivity', 'Name' => 'A1', 'Properties' => ['ExecuteCode' => 'exit;'], 'Children' => []],
    ]]];
    private const TEMPLATE = [
        'MODULE_ID' => 'crm', 'ENTITY' => 'CCrmDocumentDeal', 'DOCUMENT_TYPE' => 'DEAL', 'NAME' => 'Согласование',
        'DESCRIPTION' => null, 'USER_ID' => '12', 'MODIFIED' => '2019-01-02T03:04:05Z',
        'TEMPLATE' => [['Type' => 'SetFieldActivity', 'Properties' => ['To' => 'DT1030_10300000000005:NEW', 'N' => 3]]],
        'PARAMETERS' => [], 'VARIABLES' => ['a' => ['Type' => 'user', 'Default' => 'user_12']], 'CONSTANTS' => [],
    ];

    public function testATemplateArrivesSwitchedOffWithItsAuthorAndDate(): void
    {
        $templates = (new KernelBox())->records('workflow_templates');
        $this->assertSame(['AUTO_EXECUTE'], array_keys($templates->losses()));
        $id = $templates->create('a', self::TEMPLATE);
        $this->assertSame(self::TEMPLATE, $templates->read([$id])[$id]);
        $this->assertSame(0, World::row('templates', $id)['AUTO_EXECUTE']);
        $this->assertSame('DT1030_5:NEW', World::row('templates', $id)['TEMPLATE'][0]['Properties']['To']);
    }

    public function testAnObjectThatLooksLikeAListIsAnArrayForTheKernel(): void
    {
        $templates = (new KernelBox())->records('workflow_templates');
        $id = $templates->create('a', ['CONSTANTS' => new \stdClass()] + self::TEMPLATE);
        $this->assertSame([], World::row('templates', $id)['CONSTANTS']);
    }

    public function testCodeIsRefusedUnlessTheBoxAllowsItByName(): void
    {
        $box = new KernelBox();
        $fields = array_diff_key(['TEMPLATE' => self::CODE] + self::TEMPLATE, ['USER_ID' => 1]);
        $item = ['key' => 'a', 'digest' => str_repeat('0', 64), 'fields' => $fields];
        $send = static fn (): array => (new Router($box, ['workflows']))->answer(
            'import.workflows.batch',
            Json::encode(['stream' => 'workflow_templates', 'items' => [$item]])
        )['items'][0];
        $this->assertStringContainsString('not allowed on this box: CodeActivity.', $send()['error']['message']);
        $this->assertSame('TEMPLATE', $send()['error']['field']);
        $this->assertSame([], World::$tables['templates'] ?? []);
        World::$options['b24migrate.import'] = ['allow_activities' => 'Other,CODEActivity'];
        $made = $send();
        $this->assertSame('created', $made['status']);
        $this->assertSame(0, World::row('templates', $made['id'])['AUTO_EXECUTE']);
    }

    public function testASystemImportDoesNotSkipTheQuestionWhoMaySaveCode(): void
    {
        $templates = (new KernelBox())->records('workflow_templates');
        $id = $templates->create('a', self::TEMPLATE);
        \CRestUtil::$admin = false;
        try {
            $refused = 0;
            $writes = [
                static fn () => $templates->create('b', ['TEMPLATE' => self::CODE] + self::TEMPLATE),
                static fn () => $templates->update($id, ['TEMPLATE' => self::CODE]),
            ];
            foreach ($writes as $write) {
                try {
                    $write();
                } catch (ItemFault) {
                    $refused++;
                }
            }
            $this->assertSame(2, $refused);
            $this->assertCount(1, World::$tables['templates']);
            $this->assertSame('SetFieldActivity', World::row('templates', $id)['TEMPLATE'][0]['Type']);
        } finally {
            \CRestUtil::$admin = true;
        }
    }

    public function testAnUpdateSetsWhatIsSentAndKeepsTheRest(): void
    {
        $templates = (new KernelBox())->records('workflow_templates');
        $id = $templates->create('a', self::TEMPLATE);
        $templates->update($id, ['NAME' => 'Другое', 'USER_ID' => '13', 'MODIFIED' => '2020-01-02T03:04:05Z']);
        $this->assertSame(
            ['NAME' => 'Другое', 'USER_ID' => '13', 'MODIFIED' => '2020-01-02T03:04:05Z'],
            array_intersect_key($templates->read([$id])[$id], ['NAME' => 1, 'USER_ID' => 1, 'MODIFIED' => 1])
        );
        $this->assertSame(self::TEMPLATE['TEMPLATE'], $templates->read([$id])[$id]['TEMPLATE']);
    }
}
