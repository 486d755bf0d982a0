"""Rules of a kernel that refuse or bend what a box's own methods are told, without a word in the documentation."""

import json
from typing import Any

from tests.b24sim.client import call, control, result, send

from b24sim import ManualClock, Portal, Running, serve
from b24sim.native.applications import LocalApplication
from b24sim.native.box_habits import BoxHabits

PERSON = {"EMAIL": "oleg@firm.example", "NAME": "Oleg", "UF_DEPARTMENT": [1], "WORK_POSITION": "Clerk"}
DEAL = {"entityTypeId": 2, "data": [{"title": "Big", "stageId": "WON", "closedate": "2023-04-05"}]}


def test_who_is_refused_for_his_day_of_employment_is_there_without_the_rest(box: Running) -> None:
    assert "error" in call(box, "user.add", PERSON | {"UF_EMPLOYMENT_DATE": "2020-01-15"}).json
    (row,) = result(box, "user.get", {"FILTER": {"EMAIL": PERSON["EMAIL"]}, "ADMIN_MODE": True})
    assert (row["NAME"], row.get("WORK_POSITION", "")) == ("Oleg", "")
    assert "invitation" not in control(box, "native")["noise"]
    result(box, "user.update", {"ID": row["ID"], "UF_EMPLOYMENT_DATE": "15.01.2020"})


def test_no_two_groups_have_one_name_unless_the_box_is_told_otherwise(box: Running) -> None:
    first = result(box, "sonet_group.create", {"NAME": "Sales"})
    assert "error" in call(box, "sonet_group.create", {"NAME": "SALES"}).json
    result(box, "sonet_group.update", {"GROUP_ID": first, "NAME": "Sales"})
    with serve(Portal(role="box", clock=ManualClock(), box_habits=BoxHabits(unique_group_names=False))) as older:
        assert result(older, "sonet_group.create", {"NAME": "Sales"}) < result(
            older, "sonet_group.create", {"NAME": "Sales"}
        )


def test_the_forum_refuses_the_words_of_the_last_comment_whoever_says_them(box: Running) -> None:
    task = result(box, "tasks.task.add", {"fields": {"TITLE": "Call", "RESPONSIBLE_ID": 1}})["task"]["id"]
    arguments: list[Any] = [task, {"POST_MESSAGE": "+1", "AUTHOR_ID": 1}]
    result(box, "task.commentitem.add", arguments)
    assert "error" in call(box, "task.commentitem.add", arguments).json
    result(box, "task.commentitem.add", [task, {"POST_MESSAGE": "else", "AUTHOR_ID": 1}])
    result(box, "task.commentitem.add", arguments)


def test_a_record_in_a_final_stage_is_closed_today_and_changed_only_afterwards(box: Running) -> None:
    number = result(box, "crm.item.batchImport", DEAL)["items"][0]["item"]["id"]
    where = {"entityTypeId": 2, "id": number}
    assert result(box, "crm.item.get", where)["item"]["closedate"][:10] != "2023-04-05"
    result(box, "crm.item.update", where | {"fields": {"closedate": "2023-04-05"}})
    assert result(box, "crm.item.get", where)["item"]["closedate"][:10] == "2023-04-05"


def test_a_pipeline_has_one_success_and_failures_behind_it(box: Running) -> None:
    fields = {"ENTITY_ID": "DEAL_STAGE", "NAME": "x", "SORT": 5}
    assert "error" in call(box, "crm.status.add", {"fields": fields | {"STATUS_ID": "W", "SEMANTICS": "S"}}).json
    assert "error" in call(box, "crm.status.add", {"fields": fields | {"STATUS_ID": "L", "SEMANTICS": "F"}}).json
    result(box, "crm.status.add", {"fields": fields | {"STATUS_ID": "L", "SEMANTICS": "F", "SORT": 5000}})


def test_a_message_is_changed_for_three_days_and_only_with_a_push_server(box: Running) -> None:
    chat = result(box, "im.chat.add", {"TITLE": "Talk"})
    answer = result(box, "im.message.add", {"DIALOG_ID": f"chat{chat}", "MESSAGE": "hi"})
    assert result(box, "im.message.update", {"MESSAGE_ID": answer, "MESSAGE": "ho"}) is True
    control(box, "clock", {"advance": 259_300})
    assert call(box, "im.message.update", {"MESSAGE_ID": answer, "MESSAGE": "hu"}).json["error"] == "CANT_EDIT_MESSAGE"
    assert result(box, "im.message.delete", {"MESSAGE_ID": answer}) is True


def test_a_chat_under_import_keeps_authors_and_dates_in_order() -> None:
    portal = Portal(role="box", clock=ManualClock(), application=LocalApplication())
    with serve(portal) as box:
        application = portal.application
        assert application is not None
        token = {"auth": application.access_token}

        def act(name: str, params: dict[str, Any]) -> Any:
            body = json.dumps(token | params).encode()
            reply = send(f"{box.url}/rest/im.v2.Import.{name}", body, {"Content-Type": "application/json"}).json
            assert "error" not in reply, reply
            return reply["result"]

        chat = act("createGroup", {"ownerId": 1, "fields": {"title": "Old"}, "externalId": "k"})["chatId"]
        message = {"authorId": 1, "system": "N", "message": "one", "dateCreate": "2024-05-06T07:08:09+00:00"}
        early = message | {"externalId": "b", "message": "two", "dateCreate": "2023-05-06T07:08:09+00:00"}
        answer = act("Message.add", {"chatId": chat, "messages": [message | {"externalId": "a"}, early]})
        assert [one["externalId"] for one in answer["successResult"]] == ["a"]
        assert [one["errorCode"] for one in answer["errorResult"]] == ["IMPORT_CHRONOLOGY_ERROR"]
        assert act("createPrivate", {"users": [1, 2]})["chatId"] is False
        assert act("commitGroup", {"chatId": chat, "users": []}) == {"success": True}
        assert portal.native.noise().get("notification", 0) == 0
