"""The activities of a workflow: a tree, whose properties contain IDs of other records."""

from typing import Any

from b24sim.company.crm_fields import CHOICE, EMPLOYEE, TEXT
from b24sim.company.crm_ids import DEAL
from b24sim.company.workflows_names import GONE_FIELD, GONE_GROUP, GONE_TEMPLATE, Names

Activity = dict[str, Any]
DEEPEST = 30


def tree(names: Names, place: int, luck: int) -> Activity:
    """Most are sequences, some machines of states; a few are nested very deep or do nothing."""
    permission = {"W": [f"user_{names.user(luck)}", f"group_hr{names.departments[0]}"], "R": [], "S": ["author"]}
    properties = {"Title": "Последовательный бизнес-процесс", "Permission": permission}
    if place % 10 == 9:
        return _activity("SequentialWorkflowActivity", "Template", {"Title": "Пусто", "Permission": []}, [])
    if place % 6 == 4:
        states = [
            _state(names, luck, name, following) for name, following in (("A1_1_1_1", "A2_2_2_2"), ("A2_2_2_2", ""))
        ]
        return _activity(
            "StateMachineWorkflowActivity", "Template", properties | {"InitialStateName": "A1_1_1_1"}, states
        )
    steps = _steps(names, place, luck)
    if place % 7 == 3:
        steps = [_nested(names, luck, DEEPEST)]
    return _activity("SequentialWorkflowActivity", "Template", properties, steps)


def _steps(names: Names, place: int, luck: int) -> list[Activity]:
    smart = names.smart_type(place)
    return [
        _message(names, luck),
        _choice(names, luck),
        _set_fields(names, luck),
        _smart_item(names, smart, luck),
        _task(names, luck),
        _list_element(names),
        _other_template(names, place),
        _approval(names, luck),
        *([_unknown(names, luck), _outgoing(luck)] if place % 3 == 0 else []),
    ]


def _message(names: Names, luck: int) -> Activity:
    field = names.field(DEAL, TEXT)
    text = (
        f"[USER={names.user(luck)}]Коллега[/USER], договор {{=Document:{field}}} ждёт, группа /workgroups/group/"
        f"{names.group(luck)}/, сделка [url=/crm/deal/details/{{=Document:ID}}/]тут[/url], "
        f"{{=Variable:Approver > friendly}} и {{{{=Template:Sum}}}} & <b>{{=Constant:Boss}}</b>"
    )
    properties = {"MessageText": text, "MessageFormat": "", "MessageUserFrom": [f"user_{names.user(luck >> 3)}"],
                  "MessageUserTo": names.users(luck), "Title": "Сообщение"}  # fmt: skip
    return _activity("SocNetMessageActivity", _name(luck, 1), properties, [])


def _choice(names: Names, luck: int) -> Activity:
    pipeline, stage = names.pipeline(DEAL, luck)
    conditions = [
        ["STAGE_ID", "=", stage, "0"],
        ["CATEGORY_ID", "=", str(pipeline), "0"],
        [names.field(DEAL, CHOICE), "in", [names.option(DEAL)], "0"],
        ["ASSIGNED_BY_ID", "=", f"user_{names.user(luck)}", "1"],
    ]
    gone = [["STAGE_ID", "=", names.gone_stage(), "0"], [GONE_FIELD, "!empty", "", "0"]]
    branches = [
        _activity("IfElseBranchActivity", _name(luck, 3), {"Title": "Да", "fieldcondition": conditions}, [_log(luck)]),
        _activity("IfElseBranchActivity", _name(luck, 4), {"Title": "Было", "fieldcondition": gone}, []),
        _activity("IfElseBranchActivity", _name(luck, 5), {"Title": "Иначе", "truecondition": "1"}, []),
    ]
    return _activity("IfElseActivity", _name(luck, 2), {"Title": "Условие"}, branches)


def _set_fields(names: Names, luck: int) -> Activity:
    pipeline, stage = names.pipeline(DEAL, luck >> 2)
    values = {
        "STAGE_ID": stage, "CATEGORY_ID": pipeline, "ASSIGNED_BY_ID": [f"user_{names.user(luck >> 5)}"],
        names.field(DEAL, TEXT): "№{=Document:ID}", names.field(DEAL, CHOICE): names.option(DEAL),
        names.field(DEAL, EMPLOYEE): f"user_{names.user(luck >> 7)}", GONE_FIELD: "было",
        f"PARENT_ID_{names.smart_type(0)}": "{=Variable:Parent}",
    }  # fmt: skip
    properties = {"FieldValue": values, "ModifiedBy": [f"user_{names.user(luck)}"], "Title": "Изменить"}
    return _activity("SetFieldActivity", _name(luck, 6), properties, [])


def _smart_item(names: Names, smart: int, luck: int) -> Activity:
    pipeline, stage = names.pipeline(smart, luck)
    values = {
        "TITLE": "Из {=Document:TITLE}", "CATEGORY_ID": str(pipeline), "STAGE_ID": stage,
        names.field(smart, TEXT): "{=Document:TITLE}", "OBSERVERS": [f"user_{names.user(luck)}"],
    }  # fmt: skip
    properties = {"DynamicTypeId": str(smart), "entityTypeId": smart, "DynamicEntitiesFields": values,
                  "DocumentType": ["crm", "Bitrix\\Crm\\Integration\\BizProc\\Document\\Dynamic", f"DYNAMIC_{smart}"],
                  "Title": "Создать элемент"}  # fmt: skip
    return _activity("CrmCreateDynamicActivity", _name(luck, 7), properties, [])


def _task(names: Names, luck: int) -> Activity:
    fields = {
        "TITLE": "Проверить {=Document:TITLE}", "CREATED_BY": [f"user_{names.user(luck)}"],
        "RESPONSIBLE_ID": [f"user_{names.user(luck >> 4)}"], "ACCOMPLICES": [f"user_{names.stranger}"],
        "GROUP_ID": str(names.group(luck)) if luck % 3 else str(GONE_GROUP), "UF_CRM_TASK": ["D_12", "CO_3"],
        "AUDITORS": [],
    }  # fmt: skip
    properties = {"Fields": fields, "HoldToClose": "0", "AsChildTask": 0, "CheckListItems": ["раз", "два"]}
    return _activity("Task2Activity", _name(luck, 8), properties | {"Title": "Задача"}, [])


def _list_element(names: Names) -> Activity:
    fields = {"NAME": "Запись", "IBLOCK_ID": str(names.iblock), "PROPERTY_71": ["n0", "{=Document:ID}"]}
    lists = ["lists", "Bitrix\\Lists\\BizprocDocumentLists", f"iblock_{names.iblock}"]
    properties = {"Fields": fields, "DocumentType": lists, "Title": "В список"}
    return _activity("CreateListsDocumentActivity", _name(names.iblock, 9), properties, [])


def _other_template(names: Names, place: int) -> Activity:
    """Some call one that comes later, some themselves, some one that is gone."""
    other = GONE_TEMPLATE if place % 5 == 2 else names.template(0 if place % 5 == 3 else place + (place % 2))
    properties = {"DocumentId": "{=Document:ID}", "TemplateId": str(other), "UseSubscription": "N",
                  "TemplateParameters": {"Approver": [f"user_{names.user(place)}"]}, "Title": "Запуск"}  # fmt: skip
    return _activity("StartWorkflowActivity", _name(place, 10), properties, [])


def _approval(names: Names, luck: int) -> Activity:
    properties = {"ApproveType": "any", "Users": names.users(luck >> 1)[:4], "Name": "Согласуйте", "Description": "",
                  "Parameters": [], "StatusMessage": "", "TimeoutDuration": "0", "DelegationType": "0"}  # fmt: skip
    ways = [
        _activity("SequenceActivity", _name(luck, 12 + way), {"Title": "Путь"}, [_log(luck + way)]) for way in (0, 1)
    ]
    return _activity("ApproveActivity", _name(luck, 11), properties | {"Title": "Утверждение"}, ways)


def _unknown(names: Names, luck: int) -> Activity:
    """An activity that some application brought along: the meaning of its properties is not known."""
    properties = {
        "AuthUserId": [f"user_{names.user(luck)}"],
        "SetStatusMessage": "Y",
        "deal": "12",
        "who": names.user(luck),
    }
    return _activity("rest_4f1c3a9d7e", _name(luck, 14), properties | {"Title": "Отправить в 1С"}, [])


def _outgoing(luck: int) -> Activity:
    properties = {"Handler": "https://partner.example/hook?deal={=Document:ID}", "Title": "Вебхук"}
    return _activity("WebHookActivity", _name(luck, 16), properties, [])


# ---------------------------------------------------------------- code


def with_code(template: Activity, way: int, luck: int) -> Activity:
    """PHP in an activity, in one whose name is spelled otherwise, in a condition; and an activity of some vendor. Only
    the first is easy to see. Kernels find activities by names in any case (CBPRuntime::includeActivityFile) and take
    every property of a branch for a condition that it may have (CBPIfElseBranchActivity::InitializeFromArray)."""
    code = {"ExecuteCode": "$GLOBALS['DB']->Query('SELECT 1'); // <?php", "Title": "PHP код"}
    vendor = {"Url": "https://acme.example", "Title": "1С"}
    branch = {"Title": "PHP", "codecondition": "time() > 0"}
    ways = (
        _activity("CodeActivity", _name(luck, 21), code, []),
        _inside(_activity("codeACTIVITY", _name(luck, 22), code, []), luck, 7),
        _inside(_activity("AcmeSyncActivity", _name(luck, 23), vendor, []), luck, 3),
        _activity("IfElseActivity", _name(luck, 24), {"Title": "Условие"}, [
            _activity("IfElseBranchActivity", _name(luck, 25), branch, [_log(luck)]),
        ]),
    )  # fmt: skip
    return template | {"Children": [*template["Children"], ways[way % len(ways)]]}


def _inside(step: Activity, luck: int, depth: int) -> Activity:
    for level in range(depth):
        branch = _activity("IfElseBranchActivity", _name(luck, 30 + 2 * level), {"truecondition": "1"}, [step])
        step = _activity("IfElseActivity", _name(luck, 31 + 2 * level), {"Title": f"Уровень {level}"}, [branch])
    return step


def _log(luck: int) -> Activity:
    return _activity(
        "LogActivity", _name(luck, 15), {"Text": "Шаг {=Workflow:ID}", "SetVariable": False, "Title": None}, []
    )


def _nested(names: Names, luck: int, depth: int) -> Activity:
    if not depth:
        return _message(names, luck)
    inside = _nested(names, luck, depth - 1)
    branch = _activity("IfElseBranchActivity", f"A{depth}_3_0_1", {"truecondition": "1"}, [inside])
    return _activity("IfElseActivity", f"A{depth}_2_0_1", {"Title": f"Уровень {depth}"}, [branch])


def _state(names: Names, luck: int, name: str, following: str) -> Activity:
    steps = [_set_fields(names, luck)]
    if following:
        steps.append(_activity("SetStateActivity", f"{name}_n", {"TargetStateName": following}, []))
    entry = _activity("StateInitializationActivity", f"{name}_i", {"Title": "Вход"}, steps)
    properties = {"Title": "Статус", "Permission": {"R": names.users(luck)[:3], "W": [f"user_{names.user(luck)}"]}}
    return _activity("StateActivity", name, properties, [entry])


def _activity(kind: str, name: str, properties: dict[str, Any], children: list[Activity]) -> Activity:
    return {"Type": kind, "Name": name, "Activated": "Y", "Node": None, "Properties": properties, "Children": children}


def _name(luck: int, place: int) -> str:
    return f"A{luck % 90_000 + 10_000}_{(luck >> 8) % 90_000 + 10_000}_{place}_{(luck >> 20) % 90_000 + 10_000}"


def parameters(names: Names, place: int) -> Any:
    """A PHP map: `[]` where there is nothing."""
    if place % 3 == 1:
        return []
    return {
        "Approver": _property(
            "Согласующий", "user", [f"user_{names.user(place)}", f"group_d{names.departments[0]}"], "1"
        ),
        "Sum": _property("Сумма", "double", "0"),
    }


def variables(names: Names, place: int) -> Any:
    if place % 4 == 2:
        return []
    pipeline, stage = names.pipeline(DEAL, place)
    return {
        "Approver": _property(
            "Кто", "user", [f"user_{names.stranger}"] if place % 4 == 3 else f"user_{names.user(place)}"
        ),
        "Stage": _property("Стадия", "select", stage) | {"Options": {stage: "Новая", names.gone_stage(): "Старая"}},
        "Parent": _property("Элемент", "E:EList", "17") | {"Options": str(names.iblock)},
        "Deal": _property("Сделка", "UF:crm", f"D_{12 + pipeline}")
        | {"Options": {"DEAL": "Y", f"DYNAMIC_{names.smart_type(0)}": "Y"}},
    }


def constants(names: Names, place: int) -> Any:
    return (
        [] if place % 2 else {"Boss": _property("Директор", "user", ["user_1", f"group_hr{names.departments[0]}"], "1")}
    )


def _property(title: str, kind: str, default: Any, several: str = "0") -> dict[str, Any]:
    return {"Name": title, "Description": "", "Type": kind, "Required": "0", "Multiple": several, "Options": "",
            "Default": default}  # fmt: skip
