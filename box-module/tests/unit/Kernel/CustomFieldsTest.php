<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class CustomFieldsTest extends KernelCase
{
    /** @param array<string, mixed> $more */
    private function field(string $type, array $more = []): string
    {
        $wish = ['code' => 'UF_USR_' . strtoupper($type), 'type' => $type, 'label' => ['ru' => 'Поле']];
        return $this->box->customFields()->create('users', null, $more + $wish);
    }

    public function testAFieldIsKnownOnceItIsMade(): void
    {
        $fields = $this->box->customFields();
        self::assertSame([], $fields->of('users', null));
        self::assertSame('UF_USR_STRING', $this->field('string', ['multiple' => true]));
        $known = ['type' => 'string', 'multiple' => true, 'options' => []];
        self::assertSame(['UF_USR_STRING' => $known], $this->box->customFields()->of('users', null));
        self::assertSame([], $this->box->customFields()->of('tasks', null));
    }

    public function testOptionsAreAddedToThoseThatAreThere(): void
    {
        $this->field('enumeration');
        $fields = $this->box->customFields();
        foreach (['web' => 'Site', 'tel' => 'Call'] as $code => $name) {
            $option = ['id' => '26', 'value' => $name, 'xml_id' => $code, 'sort' => 10, 'default' => false];
            $fields->addOptions('users', null, 'UF_USR_ENUMERATION', [$option]);
        }
        $options = $fields->of('users', null)['UF_USR_ENUMERATION']['options'];
        self::assertSame(['web', 'tel'], array_column($options, 'xml_id'));
        self::assertCount(2, array_unique(array_column($options, 'id')));
    }

    public function testATypeThatTheBoxDoesNotHaveIsRefused(): void
    {
        try {
            $this->field('hologram');
            self::fail();
        } catch (ItemFault $fault) {
            self::assertSame('TYPE_UNSUPPORTED', $fault->fault);
        }
    }

    public function testWhereNobodyWritesCustomValuesNoFieldIsMade(): void
    {
        foreach (['groups', 'departments', 'feed_posts', 'chats'] as $stream) {
            try {
                $this->box->customFields()->create($stream, null, ['code' => 'UF_X', 'type' => 'string']);
                self::fail($stream);
            } catch (ItemFault $fault) {
                self::assertSame('TYPE_UNSUPPORTED', $fault->fault);
            }
        }
        self::assertArrayNotHasKey('fields', World::$tables);
    }

    public function testAFieldOfUsersIsNeverMandatory(): void
    {
        $this->field('string', ['mandatory' => true]);
        self::assertSame(['N'], array_column(World::$tables['fields'], 'MANDATORY'));
    }

    public function testValuesOfEveryTypeComeBackAsTheyWere(): void
    {
        foreach (['string', 'double', 'boolean', 'date', 'datetime', 'file'] as $type) {
            $this->field($type);
        }
        $this->field('file', ['code' => 'UF_USR_FILES', 'multiple' => true]);
        $values = [
            'UF_USR_STRING' => 'text',
            'UF_USR_DOUBLE' => 2.5,
            'UF_USR_BOOLEAN' => false,
            'UF_USR_DATE' => '2024-03-31',
            'UF_USR_DATETIME' => '2024-03-31T00:30:00Z',
            'UF_USR_FILE' => $this->file('one.txt'),
            'UF_USR_FILES' => [$this->file('two.txt'), $this->file('three.txt')],
        ];
        $id = $this->made('users', ['NAME' => 'Ann', 'EMAIL' => 'ann@example.org'] + $values);
        self::assertHolds($values, $this->now('users', $id));

        $fewer = ['UF_USR_FILES' => [$values['UF_USR_FILES'][1]], 'UF_USR_FILE' => null, 'UF_USR_DATE' => null];
        $this->records('users')->update($id, $fewer);
        self::assertHolds($fewer + $values, $this->now('users', $id));
    }

    public function testANumberThatIsNoneDoesNotHideTheRecordThatHasIt(): void
    {
        $this->field('double', ['multiple' => true]);
        $sent = ['UF_USR_DOUBLE' => ['2.5', 'many']];
        $id = $this->made('users', ['NAME' => 'Ann', 'EMAIL' => 'ann@example.org'] + $sent);
        self::assertSame([2.5, 'many'], $this->now('users', $id)['UF_USR_DOUBLE']);
    }

    public function testACodeThatTheBoxRefusesIsToldInItsWords(): void
    {
        $this->expectExceptionObject(new ItemFault('VALIDATION', 'code', 'Wrong name of a field'));
        $this->field('string', ['code' => 'X']);
    }
}
