<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class UsersTest extends KernelCase
{
    private const ANN = [
        'NAME' => 'Ann',
        'LAST_NAME' => 'Lee',
        'EMAIL' => 'ann@example.org',
        'ACTIVE' => false,
        'XML_ID' => '17',
        'USER_TYPE' => 'employee',
        'UF_DEPARTMENT' => ['1'],
        'DATE_REGISTER' => '2019-07-01',
        'PERSONAL_BIRTHDAY' => '1980-02-29',
        'TIME_ZONE' => 'Europe/Riga',
        'PERSONAL_CITY' => 'Riga',
        'WORK_POSITION' => 'Engineer',
    ];

    public function testAUserArrivesAsItWas(): void
    {
        self::assertHolds(self::ANN, $this->now('users', $this->made('users', self::ANN)));
    }

    public function testNobodyIsInvitedAndEverybodyGetsAPasswordOfTheirOwn(): void
    {
        $this->made('users', self::ANN);
        $this->person('bob');
        [[$ann], [$bob]] = World::calls('CUser::Add');
        self::assertSame('', $ann['CONFIRM_CODE']);
        self::assertNotSame($ann['PASSWORD'], $bob['PASSWORD']);
        self::assertGreaterThan(20, strlen($ann['PASSWORD']));
    }

    public function testWhoHasNoDepartmentIsAGuest(): void
    {
        $guest = $this->person('guest');
        self::assertSame('extranet', $this->now('users', $guest)['USER_TYPE']);
        self::assertSame([15], World::row('users', $guest)['GROUP_ID']);
        $employee = $this->made('users', self::ANN);
        self::assertSame([11], World::row('users', $employee)['GROUP_ID']);
    }

    public function testOnABoxWithoutGuestsNobodyBecomesAnEmployeeByMistake(): void
    {
        self::assertSame([], $this->records('users')->approximations());
        World::$versions['extranet'] = 'missing';
        self::assertSame([], World::row('users', $this->person('guest'))['GROUP_ID']);
        self::assertSame(['USER_TYPE'], array_keys($this->records('users')->approximations()));
    }

    public function testAnAddressThatIsLongerThanALoginArrives(): void
    {
        $long = str_repeat('a', 48) . '@example.org';
        $ann = $this->made('users', ['EMAIL' => $long] + self::ANN);
        $this->made('users', ['EMAIL' => str_replace('org', 'com', $long)] + self::ANN, 'source:users:2');
        self::assertSame($long, $this->now('users', $ann)['EMAIL']);
        self::assertSame([50], array_values(array_unique(array_map('mb_strlen', array_column(
            array_slice(World::$tables['users'], 1),
            'LOGIN'
        )))));
        $this->records('users')->update($ann, ['EMAIL' => 'ann@example.org']);
        self::assertSame('ann@example.org', World::row('users', $ann)['LOGIN'], 'whoever signs in by the address');
    }

    public function testAPhotoThatIsNoPictureToTheBoxStaysOutAndIsTold(): void
    {
        $users = (new KernelBox())->records('users');
        $id = $users->create('a', ['PERSONAL_PHOTO' => $this->file('me.heic')] + self::ANN);
        self::assertSame(['PERSONAL_PHOTO'], $users->leftOut());
        self::assertSame([], $users->leftOut(), 'once');
        self::assertHolds(['PERSONAL_PHOTO' => null] + self::ANN, $this->now('users', $id));
        $users->update($id, ['PERSONAL_PHOTO' => $this->file('me')]);
        self::assertSame(['PERSONAL_PHOTO'], $users->leftOut());
    }

    public function testWhatARefusedUserLeftOutIsNotToldOfTheNextOne(): void
    {
        $real = new KernelBox();
        MapTable::createTable();
        $photo = $this->file('me.heic');
        $items = [];
        foreach (['admin' => ['PERSONAL_PHOTO' => $photo], 'bob' => []] as $name => $more) {
            $fields = ['NAME' => $name, 'EMAIL' => "$name@example.org"] + $more;
            $items[] = ['key' => "source:users:$name", 'digest' => str_repeat('0', 64), 'fields' => $fields];
        }
        World::put('users', ['LOGIN' => 'admin@example.org', 'EMAIL' => 'other@example.org', 'UF_DEPARTMENT' => []]);
        $body = (string)json_encode(['stream' => 'users', 'items' => $items]);
        [$refused, $next] = (new Router($real))->answer('import.users.batch', $body)['items'];
        self::assertSame(['failed', 'created'], [$refused['status'], $next['status']]);
        self::assertSame([], $next['ignored']);
    }

    public function testWhoWritesByMailStaysThat(): void
    {
        $id = $this->made('users', ['USER_TYPE' => 'email', 'UF_DEPARTMENT' => []] + self::ANN);
        self::assertSame('email', $this->now('users', $id)['USER_TYPE']);
    }

    public function testAnAddressIsFoundWhateverItsCaseAndWithoutPatterns(): void
    {
        $id = $this->made('users', self::ANN);
        self::assertSame($id, $this->records('users')->find(['EMAIL' => 'ANN@Example.ORG']));
        self::assertNull($this->records('users')->find(['EMAIL' => '%@example.org']));
        self::assertNull($this->records('users')->find(['EMAIL' => '']));
    }

    public function testAPhotoIsACopyThatKnowsItsOrigin(): void
    {
        $photo = $this->file('me.jpg', 'first');
        $id = $this->made('users', ['PERSONAL_PHOTO' => $photo] + self::ANN);
        self::assertSame($photo, $this->now('users', $id)['PERSONAL_PHOTO']);

        $other = $this->file('me.jpg', 'second');
        $this->records('users')->update($id, ['PERSONAL_PHOTO' => $other]);
        self::assertSame($other, $this->now('users', $id)['PERSONAL_PHOTO']);
        self::assertTrue($this->records('files')->has($photo), 'the file itself is still there');

        $this->records('users')->update($id, ['PERSONAL_PHOTO' => null]);
        self::assertNull($this->now('users', $id)['PERSONAL_PHOTO']);
        self::assertCount(2, World::$tables['blobs'], 'of the copies nothing is left');
    }

    public function testNullClearsAndTheRestStays(): void
    {
        $id = $this->made('users', self::ANN);
        $this->records('users')->update($id, ['LAST_NAME' => null, 'PERSONAL_BIRTHDAY' => null]);
        $expected = ['LAST_NAME' => null, 'PERSONAL_BIRTHDAY' => null] + self::ANN;
        self::assertHolds($expected, $this->now('users', $id));
    }

    public function testTheWordsOfTheKernelAreToldWithoutItsMarkup(): void
    {
        $this->made('users', self::ANN);
        $this->expectExceptionObject(new ItemFault('VALIDATION', null, 'A user with this login exists.'));
        $this->made('users', self::ANN);
    }

    public function testWhoHasSignedInIsKept(): void
    {
        $id = $this->person();
        self::assertNull($this->records('users')->reasonToKeep($id));
        World::$tables['users'][(int)$id]['LAST_LOGIN'] = World::now();
        self::assertSame('the user has signed in', $this->records('users')->reasonToKeep($id));
        self::assertSame('it is the administrator', $this->records('users')->reasonToKeep('1'));
    }

    public function testAnAddressIsFoundWhateverItsCase(): void
    {
        $id = $this->made('users', ['NAME' => 'Anna', 'EMAIL' => 'Änna_1@example.org']);
        self::assertSame($id, $this->records('users')->find(['EMAIL' => ' äNNA_1@Example.org']));
        self::assertNull($this->records('users')->find(['EMAIL' => 'ännax1@example.org']));
        self::assertNull($this->records('users')->find(['EMAIL' => '']));
    }

    public function testWhoHasCommentedOnATaskIsKept(): void
    {
        $id = $this->person();
        World::put('forum_messages', ['AUTHOR_ID' => (int)$id]);
        self::assertSame('the user has written comments', $this->records('users')->reasonToKeep($id));
    }

    public function testOnlyNumbersAreIds(): void
    {
        $id = $this->person();
        self::assertTrue($this->records('users')->has($id));
        self::assertFalse($this->records('users')->has("{$id}x"));
    }

    public function testADeletedUserIsGone(): void
    {
        $id = $this->person();
        $this->records('users')->delete($id);
        self::assertFalse($this->records('users')->has($id));
    }
}
