<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Which activities of a workflow template are standard. The kernel evaluates the properties of some others as PHP, and
 * a system import skips its own check of who may save those; so whatever is not on this list is refused, unless the
 * administrator of this box has allowed it by its name. The client keeps the same list.
 */
final class Activities
{
    /** The folders in `install/activities/bitrix` of the modules of a box, without those that run code. */
    private const STANDARD = 'absenceactivity approveactivity calendaractivity createdocumentactivity delayactivity'
        . ' deletedocumentactivity emptyblockactivity eventdrivenactivity fixresultactivity foreachactivity'
        . ' forumreviewactivity getuseractivity getuserinfoactivity handleexternaleventactivity ifelseactivity'
        . ' ifelsebranchactivity listenactivity lockdocumentactivity logactivity mailactivity mathoperationactivity'
        . ' parallelactivity publishdocumentactivity randomstringactivity requestinformationactivity'
        . ' requestinformationoptionalactivity reviewactivity robotdelayactivity savehistoryactivity'
        . ' sequenceactivity sequentialworkflowactivity setfieldactivity setglobalvariableactivity'
        . ' setpermissionsactivity setstateactivity setstatetitleactivity setvariableactivity socnetlogactivity'
        . ' socnetmessageactivity startscriptactivity startworkflowactivity stateactivity statefinalizationactivity'
        . ' stateinitializationactivity statemachineworkflowactivity terminateactivity unlockdocumentactivity'
        . ' unpublishdocumentactivity waitworkdayactivity webhookactivity whileactivity'
        // crm
        . ' createcrmcompanydocumentactivity createcrmcontactdocumentactivity createcrmdealdocumentactivity'
        . ' createcrmleaddocumentactivity crmaddproductrow crmchangedealcategoryactivity'
        . ' crmchangedynamiccategoryactivity crmchangerelationsactivity crmchangerequisiteactivity'
        . ' crmchangeresponsibleactivity crmchangestatusactivity crmcompletetaskactivity crmcontrolnotifyactivity'
        . ' crmconvertdocumentactivity crmcopydealactivity crmcopydynamicactivity crmcopymoveproductrow'
        . ' crmcreateadsactivityfb crmcreateadsactivityga crmcreateadsactivityvk crmcreateadsactivityya'
        . ' crmcreatecallactivity crmcreatedynamicactivity crmcreateleadcontactactivity crmcreatemeetingactivity'
        . ' crmcreaterequestactivity crmcreatereturnleadactivity crmcreatetodoactivity crmdealstagelistenactivity'
        . ' crmdeletedynamicactivity crmeventaddactivity crmexcludeactivity crmgenerateentitydocumentactivity'
        . ' crmgenerateqr crmgetdataentityactivity crmgetdynamicinfoactivity crmgetpaymentinfoactivity'
        . ' crmgetpaymenturlactivity crmgetproductrowactivity crmgetrelationsinfoactivity'
        . ' crmgetrequisitesinfoactivity crmgotochat crmgotochatwhatsapp crmleadstatuslistenactivity'
        . ' crmorderpayactivity crmremoveproductrow crmresourcebooking crmresourcebookingcancel crmsendemailactivity'
        . ' crmsendsmsactivity crmsendwhatsappmessageactivity crmsetcompanyfield crmsetcontactfield'
        . ' crmsetobserverfield crmsetorderallowdelivery crmsetordercanceled crmsetorderdeducted crmsetorderpaid'
        . ' crmsetshipmentfield crmsetshipmentstatus crmtimelinecommentadd crmupdatedynamicactivity crmwaitactivity'
        // calendar, disk, im, imopenlines, lists, rpa, sign, socialnetwork, tasks, voximplant
        . ' calendar2activity createlistsdocumentactivity createworkgroup diskaddfolderactivity diskcopymoveactivity'
        . ' diskdetailactivity diskremoveactivity diskuploadactivity diskuploadversionactivity'
        . ' getlistsdocumentactivity imaddmembertogroupchatactivity imaddmessagetogroupchatactivity'
        . ' imcreategroupchatactivity immessageactivity imnotifyactivity imopenlinesmessageactivity'
        . ' rpaapproveactivity rpachangestageactivity rpamoveactivity rparequestactivity rpareviewactivity'
        . ' signdocumentactivity socnetblogpostactivity task2activity taskschangeresponsibleactivity'
        . ' taskschangestageactivity taskschangestatusactivity tasksdeletetaskactivity tasksgetdocumentactivity'
        . ' tasksupdatetaskactivity updatelistsdocumentactivity voximplantcallactivity';
    /** Of an application, which the kernel finds in a table of its own. */
    private const OF_AN_APPLICATION = '/^rest_[0-9a-z]+$/Di';
    /** Every property of these may name a condition: the kernel tries to load a class of that name. */
    private const BRANCHES = ['ifelsebranchactivity', 'whileactivity'];
    private const PROPERTIES = [
        'fieldcondition', 'mixedcondition', 'propertyvariablecondition', 'truecondition', 'title', 'condition',
        'editorcomment',
    ];
    /** Looked for everywhere, also where the kernel looks for no activities today. */
    private const EVALUATED = ['codeactivity', 'codecondition'];
    private const PARTS = ['TEMPLATE' => self::LIST, 'PARAMETERS' => '', 'VARIABLES' => '', 'CONSTANTS' => ''];
    private const LIST = 'list';
    private const ONE = 'activity';
    private const UNREADABLE = '(unreadable)';

    /** @return list<string> of a template, the names of everything that is not standard, as they are spelled */
    public static function forbidden(array $fields): array
    {
        $found = [];
        foreach (self::PARTS as $name => $role) {
            self::collect($fields[$name] ?? null, $role, $found);
        }
        return array_map('strval', array_keys($found));
    }

    /** @param array<string, true> $found by name */
    private static function collect(mixed $part, string $role, array &$found): void
    {
        $part = $part instanceof \stdClass ? (array)$part : $part;
        if (!is_array($part)) {
            $empty = $role === '' || ($role === self::LIST && in_array($part, [null, '', 0, false], true));
            $found += $empty ? [] : [self::UNREADABLE => true];
            return;
        }
        $isOne = $role === self::ONE
            || ($role === '' && array_key_exists('Type', $part) && array_key_exists('Properties', $part));
        $found += array_fill_keys($isOne ? self::inActivity($part) : self::evaluated($part), true);
        foreach ($part as $name => $one) {
            self::collect($one, match (true) {
                $role === self::LIST => self::ONE,
                $isOne && $name === 'Children' => self::LIST,
                default => '',
            }, $found);
        }
    }

    private static function inActivity(array $activity): array
    {
        $type = is_string($activity['Type'] ?? null) ? $activity['Type'] : self::UNREADABLE;
        $standard = in_array(strtolower($type), explode(' ', self::STANDARD), true);
        if (!$standard && preg_match(self::OF_AN_APPLICATION, $type) !== 1) {
            return [$type];
        }
        $isBranch = in_array(strtolower($type), self::BRANCHES, true);
        $names = array_map('strval', array_keys($isBranch ? (array)($activity['Properties'] ?? []) : []));
        return array_filter($names, static fn ($name) => !in_array(strtolower($name), self::PROPERTIES, true));
    }

    /** PHP under any other key, however it is spelled. */
    private static function evaluated(array $part): array
    {
        $names = [];
        foreach ($part as $name => $value) {
            $names[] = (string)$name;
            $names[] = strtolower((string)$name) === 'type' && is_string($value) ? $value : '';
        }
        return array_filter($names, static fn ($name) => in_array(
            preg_replace('/^cbp/', '', strtolower(trim($name))),
            self::EVALUATED,
            true
        ));
    }
}
