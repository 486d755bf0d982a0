<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

final class DeletionTest extends RouterCase
{
    public function testWhatPeopleChangedIsKeptUntilItIsAsItWas(): void
    {
        $id = $this->group();
        $this->box->records('groups')->update($id, ['DESCRIPTION' => 'by hand']);
        $this->assertSame('changed after its import', $this->delete('groups', 'g1')['reason']);
        $this->box->records('groups')->update($id, ['DESCRIPTION' => null]);
        $this->assertSame('deleted', $this->delete('groups', 'g1')['status']);
    }

    public function testWhatTheBoxChangesByItselfIsNobodysChange(): void
    {
        $this->box->records('groups')->update($this->group(), ['DATE_ACTIVITY' => self::NOON]);
        $this->assertSame('deleted', $this->delete('groups', 'g1')['status']);
    }

    public function testAnUpdateByImportIsNoChangeOfPeople(): void
    {
        $this->group();
        $this->send('groups', 'g1', ['NAME' => 'Sold', 'OWNER_ID' => '1']);
        $this->assertSame('deleted', $this->delete('groups', 'g1')['status']);
    }

    public function testWhatTheImportChangesUnderAnotherKeyIsNoChangeOfPeople(): void
    {
        $id = $this->make('crm_types', 't1', ['title' => 'Claims']);
        $this->make('crm_types', 't2', ['title' => 'Claims', 'code' => 'A']);
        $this->send('crm_types', 't2', ['title' => 'Claims', 'code' => 'B']);
        $this->assertSame('B', $this->box->records('crm_types')->read([$id])[$id]['code']);
        $this->assertSame('another key stands for it too', $this->delete('crm_types', 't1')['reason']);
        $this->assertSame('deleted', $this->delete('crm_types', 't2')['status']);
        $this->assertSame('deleted', $this->delete('crm_types', 't1')['status']);
        $this->assertSame([], $this->box->records('crm_types')->all());
    }

    public function testWhatPeopleChangedIsKeptWhateverComesUnderAnotherKey(): void
    {
        $id = $this->make('crm_types', 't1', ['title' => 'Claims']);
        $this->box->records('crm_types')->update($id, ['isStagesEnabled' => true]);
        $this->make('crm_types', 't2', ['title' => 'Claims', 'code' => 'A']);
        $this->delete('crm_types', 't2');
        $this->assertSame('changed after its import', $this->delete('crm_types', 't1')['reason']);
    }

    public function testWhatWasNeverReadBackIsKept(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['before-seal', 1];
        $this->group();
        $this->assertSame('kept', $this->delete('groups', 'g1')['status']);
    }

    public function testWhatAnAttemptThatDiedMayHaveLeftIsNotSaidToBeAbsent(): void
    {
        [$this->mishap->point, $this->mishap->times] = ['after-create', 1];
        $anna = ['NAME' => 'Anna', 'EMAIL' => 'anna@example.org'];
        $this->assertSame('failed', $this->send('users', 'u1', $anna)['status']);
        $this->assertSame('kept', $this->delete('users', 'u1')['status']);
        $this->make('users', 'u1', $anna);
        $this->assertSame('deleted', $this->delete('users', 'u1')['status']);
        $this->assertCount(1, $this->box->records('users')->all());
    }

    public function testARecordThatIsGoneAlreadyIsAbsentAndForgotten(): void
    {
        $this->box->records('groups')->delete($this->group());
        $this->assertSame('absent', $this->delete('groups', 'g1')['status']);
        $this->assertSame(0, $this->box->map()->count('groups'));
    }

    public function testWhatTheBoxDoesNotDeleteIsKeptWithItsReason(): void
    {
        $this->group();
        [$this->mishap->point, $this->mishap->times] = ['after-delete', 1];
        $answer = $this->delete('groups', 'g1');
        $this->assertSame('kept', $answer['status']);
        $this->assertSame('the box did not delete it: TypeError: broken after-delete', $answer['reason']);
        $this->assertSame('deleted', $this->delete('groups', 'g1')['status']);
    }

    public function testARehearsalTakesChildrenForGone(): void
    {
        $task = ['title' => 'Do it', 'createdBy' => '1', 'responsibleId' => '1'];
        $parent = $this->make('tasks', 't1', $task);
        $this->make('tasks', 't2', $task + ['parentId' => $parent]);
        foreach ([true, false] as $dry) {
            $body = ['stream' => 'tasks', 'keys' => ['t1', 't2', 't1'], 'dry_run' => $dry];
            $statuses = array_column($this->ask('tasks.delete', $body)['items'], 'status');
            $this->assertSame(['kept', 'deleted', 'deleted'], $statuses);
        }
    }
}
