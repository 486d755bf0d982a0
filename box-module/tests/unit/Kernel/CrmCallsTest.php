<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Tests\Kernel\OwnersCase;
use B24migrate\Import\Tests\Kernel\World;

/** Calls, and schedules of recurring deals. */
final class CrmCallsTest extends OwnersCase
{
    private const CALL = [
        'CALL_ID' => 'callid.12@example', 'CALL_TYPE' => 2, 'PORTAL_USER_ID' => '12', 'PHONE_NUMBER' => '+74951234567',
        'CALL_DURATION' => 65, 'CALL_START_DATE' => '2019-02-03T04:05:06Z', 'CALL_FAILED_CODE' => '200',
        'owner' => self::CONTACT, 'CRM_ACTIVITY_ID' => null, 'COST' => 1.5, 'CALL_VOTE' => 4, 'COMMENT' => 'ок',
        'PORTAL_NUMBER' => 'sip1',
    ];
    private const TEMPLATE = [
        'DEAL_ID' => '5', 'BASED_ID' => null, 'CATEGORY_ID' => '3', 'START_DATE' => '2024-01-01',
        'NEXT_EXECUTION' => '2024-02-01', 'LAST_EXECUTION' => null, 'IS_LIMIT' => 'T', 'LIMIT_REPEAT' => 12,
        'COUNTER_REPEAT' => 3, 'LIMIT_DATE' => null,
        'PARAMS' => ['MODE' => 'multiple', 'MULTIPLE_TYPE' => 'month', 'MULTIPLE_INTERVAL' => 2],
    ];

    public function testACallIsReadBackAndItsActivityComesLater(): void
    {
        $call = ['RECORD_FILE' => $this->file('call.mp3')] + self::CALL;
        $id = $this->made('crm_calls', $call);
        $this->assertKept('crm_calls', $id, $call);
        $row = World::row('calls', $id);
        $blob = World::row('objects', (int)$call['RECORD_FILE'])['FILE_ID'];
        $this->assertSame(['2', 'CONTACT', 7, $blob], [
            $row['INCOMING'], $row['CRM_ENTITY_TYPE'], $row['CRM_ENTITY_ID'], $row['CALL_RECORD_ID'],
        ]);
        $this->records('crm_calls')->update($id, ['CRM_ACTIVITY_ID' => '99'] + $call);
        $this->assertKept('crm_calls', $id, ['CRM_ACTIVITY_ID' => '99'] + $call);
        $this->records('crm_calls')->update($id, ['RECORD_FILE' => null, 'owner' => null]);
        $this->assertKept('crm_calls', $id, ['RECORD_FILE' => null, 'owner' => null, 'CRM_ACTIVITY_ID' => '99']);
        $this->records('crm_calls')->update($id, ['COST' => null, 'CALL_VOTE' => null]);
        $this->assertKept('crm_calls', $id, ['COST' => null, 'CALL_VOTE' => null, 'CALL_DURATION' => 65]);
        $this->records('crm_calls')->delete($id);
        $this->assertFalse($this->records('crm_calls')->has($id));
        $this->assertArrayHasKey($blob, World::$tables['blobs'], 'a recording is a file of its own');
    }

    public function testANumberThatIsTooLongForTheTelephonyIsCutAndTold(): void
    {
        $gateway = $this->records('crm_calls');
        $number = 'sip:' . str_repeat('7', 30);
        $id = $gateway->create('a', ['PHONE_NUMBER' => $number] + self::CALL);
        $this->assertSame(['PHONE_NUMBER'], $gateway->leftOut());
        $this->assertKept('crm_calls', $id, ['PHONE_NUMBER' => substr($number, 0, 20)]);
        $bare = $gateway->create('b', ['CALL_ID' => 'x', 'CALL_START_DATE' => '2019-02-03T04:05:06Z']);
        $this->assertKept('crm_calls', $bare, ['CALL_TYPE' => 1, 'CALL_DURATION' => 0, 'owner' => null]);
    }

    public function testARecurringDealIsATemplateThatIsSwitchedOff(): void
    {
        $template = self::TEMPLATE;
        $id = $this->made('crm_recurring', ['ACTIVE' => true] + $template);
        $this->assertKept('crm_recurring', $id, ['ACTIVE' => false] + $template);
        $this->assertSame(['MODE' => 2, 'MULTIPLE_TYPE' => 5, 'MULTIPLE_CUSTOM_TYPE' => 3] + [
            'MULTIPLE_CUSTOM_INTERVAL_VALUE' => 2,
        ], World::row('crm_deal_recur', $id)['PARAMS']);
        $this->assertSame('Y', World::row('crm_2', 5)['IS_RECURRING'], 'nobody sees it among the deals');
        $changed = ['PARAMS' => null, 'IS_LIMIT' => 'N', 'LIMIT_REPEAT' => null, 'CATEGORY_ID' => '0'] + $template;
        $this->records('crm_recurring')->update($id, ['ACTIVE' => true] + $changed);
        $this->assertKept('crm_recurring', $id, ['ACTIVE' => false] + $changed);
        $this->assertArrayHasKey('ACTIVE', $this->records('crm_recurring')->losses());
        try {
            $this->made('crm_recurring', $template);
            self::fail('two schedules of a deal');
        } catch (ItemFault $fault) {
            $this->assertSame('DEAL_ID', $fault->field);
        }
        $this->records('crm_recurring')->delete($id);
        $this->assertFalse($this->records('crm_recurring')->has($id));
        $this->assertSame('N', World::row('crm_2', 5)['IS_RECURRING']);
    }

    public function testAScheduleMovesToAnotherDeal(): void
    {
        World::put('crm_2', ['ID' => 6, 'IS_RECURRING' => 'N']);
        $id = $this->made('crm_recurring', self::TEMPLATE);
        $this->records('crm_recurring')->update($id, ['DEAL_ID' => '6']);
        $this->assertSame(['N', 'Y'], array_column(World::$tables['crm_2'], 'IS_RECURRING'));
        $this->records('crm_recurring')->delete($id);
        unset(World::$tables['crm_2'][6]);
    }
}
