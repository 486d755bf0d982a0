<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

final class FieldsTest extends RouterCase
{
    /** @param list<array<string, mixed>> $fields */
    private function declare(array $fields, string $stream = 'crm_deals'): array
    {
        return $this->ask('crm.fields', ['stream' => $stream, 'type' => null, 'fields' => $fields])['fields'];
    }

    /** @param list<array<string, string>> $options */
    private static function channel(array $options): array
    {
        return ['code' => 'UF_CRM_1', 'type' => 'enumeration', 'multiple' => false, 'options' => $options];
    }

    public function testListValuesSpelledAlikeStayTwoHoweverOftenTheyAreDeclared(): void
    {
        $twins = [['id' => '1', 'value' => 'Site'], ['id' => '2', 'value' => 'Site']];
        $first = $this->declare([self::channel($twins)])[0];
        $second = $this->declare([self::channel($twins)])[0];
        $this->assertSame(['created', 'exists'], [$first['status'], $second['status']]);
        $this->assertCount(2, array_unique((array)$first['options']));
        $this->assertEquals($first['options'], $second['options']);
        $this->assertCount(2, $this->box->customFields()->of('crm_deals', null)['UF_CRM_1']['options']);
    }

    /** @dataProvider zeros */
    public function testAZeroIsAListValueLikeAnyOther(array $zero): void
    {
        $first = $this->declare([self::channel([$zero])])[0];
        $this->assertCount(1, (array)$first['options']);
        $this->assertEquals($first['options'], $this->declare([self::channel([$zero])])[0]['options']);
        $this->assertCount(1, $this->box->customFields()->of('crm_deals', null)['UF_CRM_1']['options']);
    }

    public function zeros(): array
    {
        return [[['id' => '0', 'value' => '0']], [['id' => '7', 'value' => 'None', 'xml_id' => '0']]];
    }

    public function testACodeOfTheBoxIsWhatTheBoxSays(): void
    {
        $type = $this->make('crm_types', 't', ['title' => 'Contracts']);
        $field = ['code' => 'UF_CRM_12_77', 'type' => 'string'];
        $body = ['stream' => 'crm_spitems', 'type' => $type, 'fields' => [$field]];
        $this->assertSame("UF_CRM_{$type}_77", $this->ask('crm.fields', $body)['fields'][0]['target']);
    }

    public function testAFieldThatCannotBeMadeHasItsOwnError(): void
    {
        $answers = $this->declare([
            ['code' => 'uf_crm_1', 'type' => 'string'],
            ['code' => 'UF_CRM_2', 'type' => 'hologram'],
            ['code' => 'UF_CRM_3', 'type' => 'string'],
            ['code' => 'UF_CRM_3', 'type' => 'double'],
        ]);
        $codes = array_map(static fn ($answer) => $answer['error']['code'] ?? null, $answers);
        $this->assertSame(['VALIDATION', 'TYPE_UNSUPPORTED', null, 'TYPE_MISMATCH'], $codes);
    }
}
