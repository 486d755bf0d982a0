<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\Groups;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class GroupsTest extends KernelCase
{
    /** @param array<string, mixed> $more @return array<string, mixed> */
    private function sales(array $more = []): array
    {
        return $more + [
            'NAME' => 'Sales',
            'DESCRIPTION' => 'All of it',
            'OWNER_ID' => '1',
            'ACTIVE' => true,
            'VISIBLE' => false,
            'OPENED' => true,
            'CLOSED' => false,
            'PROJECT' => true,
            'TYPE' => 'project',
            'SUBJECT_NAME' => 'Customers',
            'KEYWORDS' => 'a,b',
            'DATE_CREATE' => '2024-03-01T09:00:00Z',
            'DATE_UPDATE' => '2024-07-01T09:00:00Z',
            'DATE_ACTIVITY' => '2024-07-02T09:00:00Z',
            'PROJECT_DATE_START' => '2024-03-31T00:30:00Z',
            'PROJECT_DATE_FINISH' => null,
            'SCRUM_MASTER_ID' => null,
        ];
    }

    public function testAGroupArrivesWithItsOwnerAndAllItsDates(): void
    {
        $sales = $this->sales(['OWNER_ID' => $this->person(), 'IMAGE' => $this->file('logo.png')]);
        $id = $this->made('groups', $sales);
        self::assertHolds($sales, $this->now('groups', $id));
        self::assertSame(['files', 'tasks', 'blog', 'calendar'], World::row('groups', $id)['FEATURES']);
    }

    public function testAnArchivedGroupStaysInactiveThoughTheKernelMakesAllActive(): void
    {
        $id = $this->made('groups', $this->sales(['ACTIVE' => false, 'CLOSED' => true]));
        self::assertHolds(['ACTIVE' => false, 'CLOSED' => true], $this->now('groups', $id));
    }

    public function testAGroupThatIsRefusedInTheEndIsNotThere(): void
    {
        World::$options['socialnetwork']['refuses'] = 'ACTIVE';
        try {
            $this->made('groups', $this->sales(['ACTIVE' => false]));
            self::fail();
        } catch (ItemFault $fault) {
            self::assertSame('ACTIVE is refused', $fault->getMessage());
        }
        self::assertSame([], World::$tables['groups']);
    }

    public function testTwoGroupsOfOneNameArriveAndTheBoxChecksNamesAgainAfterwards(): void
    {
        $this->made('groups', $this->sales());
        $id = $this->made('groups', $this->sales(['OWNER_ID' => $this->person()]), 'source:groups:2');
        self::assertSame('Sales', $this->now('groups', $id)['NAME']);
        $this->records('groups')->update($id, $this->sales(['DESCRIPTION' => 'Other']));
        self::assertSame('Other', $this->now('groups', $id)['DESCRIPTION']);
        self::assertSame('Y', World::$options['socialnetwork']['check_group_name_enable']);
        self::assertSame([], World::$options['b24migrate.import']);
    }

    public function testNamesAreCheckedAgainAfterACallThatDied(): void
    {
        World::$options['socialnetwork']['check_group_name_enable'] = 'N';
        World::$options['b24migrate.import']['check_group_name_enable'] = 'Y';
        (new KernelBox())->finalize('');
        self::assertSame('Y', World::$options['socialnetwork']['check_group_name_enable']);
    }

    public function testWhatTheBoxCannotMakeOfAGroupIsTold(): void
    {
        $groups = (new KernelBox())->records('groups');
        $groups->create('a', $this->sales(['TYPE' => 'collab', 'IMAGE' => $this->file('logo.heic')]));
        self::assertEqualsCanonicalizing(['IMAGE', 'TYPE'], $groups->leftOut());
        $groups->create('b', $this->sales(['NAME' => 'x']));
        self::assertSame([], $groups->leftOut());
        self::assertArrayHasKey('TYPE', $groups->approximations());
    }

    public function testASubjectIsMadeOnceAndAGroupWithoutOneGetsSome(): void
    {
        $this->made('groups', $this->sales());
        $this->made('groups', $this->sales(['NAME' => 'Other']), 'source:groups:2');
        self::assertCount(1, World::$tables['subjects']);
        $id = $this->made('groups', ['NAME' => 'Bare', 'OWNER_ID' => '1'], 'source:groups:3');
        self::assertSame('Customers', $this->now('groups', $id)['SUBJECT_NAME']);
    }

    public function testWhatAnAttemptLeftBehindIsKnownByItsContentAndByHavingNoKey(): void
    {
        $groups = $this->records('groups');
        self::assertFalse($groups->isAtomic());
        self::assertNull($groups->findLeftover('k', $this->sales()));
        $id = $this->made('groups', $this->sales());
        self::assertSame($id, $groups->findLeftover('k', $this->sales()));
        self::assertNull($groups->findLeftover('k', $this->sales(['DATE_CREATE' => '2024-03-01T09:00:01Z'])));
        $this->box->map->put(new Entry('source:groups:1', 'groups', $id, 'd'));
        self::assertNull($groups->findLeftover('k', $this->sales()));
    }

    public function testANewOwnerTakesTheRoleOver(): void
    {
        $id = $this->made('groups', $this->sales());
        $ann = $this->person();
        $this->records('groups')->update($id, $this->sales(['OWNER_ID' => $ann]));
        self::assertHolds($this->sales(['OWNER_ID' => $ann]), $this->now('groups', $id));
        $roles = array_column(World::$tables['members'], 'ROLE', 'USER_ID');
        self::assertSame([1 => 'K', (int)$ann => 'A'], $roles);
    }

    public function testWorkInAGroupDoesNotMoveItsDates(): void
    {
        $id = $this->made('groups', $this->sales());
        $done = Groups::keepingDates([$id], function () use ($id): string {
            World::$tables['groups'][(int)$id]['DATE_ACTIVITY'] = World::now();
            return 'done';
        });
        self::assertSame('done', $done);
        self::assertHolds($this->sales(), $this->now('groups', $id));
    }

    public function testAGroupWithMembersIsNeeded(): void
    {
        $id = $this->made('groups', $this->sales());
        World::put('members', ['GROUP_ID' => (int)$id, 'USER_ID' => 7, 'ROLE' => 'K']);
        self::assertSame('it has members', $this->records('groups')->reasonToKeep($id));
    }

    public function testAMemberJoinsWithItsRoleAndTheGroupKeepsItsDates(): void
    {
        $group = $this->made('groups', $this->sales());
        $ann = $this->person();
        $member = ['GROUP_ID' => $group, 'USER_ID' => $ann, 'ROLE' => 'E'];
        $id = $this->made('group_members', $member);
        self::assertHolds($member, $this->now('group_members', $id));
        $this->records('group_members')->update($id, ['ROLE' => 'K'] + $member);
        self::assertSame('K', $this->now('group_members', $id)['ROLE']);
        self::assertHolds($this->sales(), $this->now('groups', $group));
        self::assertSame($id, $this->records('group_members')->findLeftover('any', $member));
        $this->records('group_members')->delete($id);
        self::assertFalse($this->records('group_members')->has($id));
    }

    public function testMembersAreCountedOnceWhenAllAreThere(): void
    {
        $real = new KernelBox();
        $group = $this->made('groups', $this->sales());
        $real->map()->put(new Entry('k', 'groups', $group, str_repeat('0', 64)));
        foreach (['ann', 'bob', 'cid'] as $name) {
            $member = ['GROUP_ID' => $group, 'USER_ID' => $this->person($name), 'ROLE' => 'K'];
            $this->made('group_members', $member, "source:group_members:$name");
        }
        for ($told = ['cursor' => '']; $told['cursor'] !== null;) {
            $told = $real->finalize($told['cursor']);
        }
        self::assertSame([[(int)$group]], World::calls('CSocNetGroup::SetStat'));
        self::assertSame(4, World::row('groups', $group)['NUMBER_OF_MEMBERS']);
        self::assertHolds($this->sales(), $this->now('groups', $group));
    }

    public function testTheOwnerIsThereAlreadyAndLeavesWithTheGroup(): void
    {
        $group = $this->made('groups', $this->sales());
        $id = $this->made('group_members', ['GROUP_ID' => $group, 'USER_ID' => '1', 'ROLE' => 'A']);
        self::assertCount(1, World::$tables['members']);
        $this->records('group_members')->delete($id);
        self::assertTrue($this->records('group_members')->has($id));
        self::assertFalse(\B24migrate\Import\Kernel\GroupMembers::hasOthers((int)$group));
    }
}
