<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Tests\Kernel\KernelCase;

final class DepartmentsTest extends KernelCase
{
    private const SALES = ['NAME' => 'Sales', 'PARENT' => '1', 'SORT' => 20];

    public function testADepartmentArrivesBelowItsParentAndGetsItsHeadLater(): void
    {
        $id = $this->made('departments', self::SALES);
        self::assertHolds(self::SALES + ['UF_HEAD' => null], $this->now('departments', $id));
        $head = $this->person();
        $this->records('departments')->update($id, self::SALES + ['UF_HEAD' => $head]);
        self::assertHolds(self::SALES + ['UF_HEAD' => $head], $this->now('departments', $id));
    }

    public function testTheRootIsTheOneWithoutAParent(): void
    {
        $this->made('departments', self::SALES);
        self::assertSame('1', $this->box->rootDepartment());
    }

    public function testWhatAnAttemptLeftBehindIsFoundByItsKey(): void
    {
        $departments = $this->records('departments');
        self::assertFalse($departments->isAtomic());
        self::assertNull($departments->findLeftover('source:departments:5', self::SALES));
        $id = $departments->create('source:departments:5', self::SALES);
        self::assertSame($id, $departments->findLeftover('source:departments:5', self::SALES));
        self::assertNull($departments->findLeftover('source:departments:6', self::SALES));
    }

    public function testOneWithPeopleOrDepartmentsInItIsNeeded(): void
    {
        $departments = $this->records('departments');
        $sales = $this->made('departments', self::SALES);
        self::assertNull($departments->reasonToKeep($sales));
        $below = $this->made('departments', ['PARENT' => $sales] + self::SALES, 'source:departments:6');
        self::assertSame('it has departments below it', $departments->reasonToKeep($sales));
        self::assertNull($departments->reasonToKeep($sales, [$below]));
        $departments->delete($below);
        $this->made('users', ['NAME' => 'Ann', 'EMAIL' => 'a@example.org', 'UF_DEPARTMENT' => [$sales]]);
        self::assertSame('people work in it', $departments->reasonToKeep($sales));
    }
}
