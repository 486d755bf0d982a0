"""A box takes posts and comments in anybody's name for an administrator, but as of now."""

import base64
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Running


@pytest.fixture
def colleague(box: Running) -> int:
    return int(result(box, "user.add", {"EMAIL": "a@company.example", "UF_DEPARTMENT": [1], "NAME": "A"}))


def post(box: Running, **fields: Any) -> int:
    return int(result(box, "log.blogpost.add", {"POST_MESSAGE": "Text", "DEST": ["UA"]} | fields))


def post_of(box: Running, number: int) -> Any:
    return result(box, "log.blogpost.get", {"POST_ID": number})[0]


def test_a_post_is_its_authors_and_of_now(box: Running, colleague: int) -> None:
    number = post(box, USER_ID=colleague, POST_TITLE="Title", IMPORTANT="Y", DATE_PUBLISH="2020-01-01")
    row = post_of(box, number)
    assert (row["AUTHOR_ID"], row["TITLE"], row["MICRO"]) == (str(colleague), "Title", "N")
    assert row["DATE_PUBLISH"] == result(box, "server.time")
    assert row["UF_BLOG_POST_IMPRTNT"]["VALUE"] == "1"
    record = control(box, "native?kind=posts")["records"][0]
    assert (record["fields"]["DEST"], record["made"]) == (["UA"], 1)
    assert control(box, "native")["noise"]["notification"] == 1


def test_an_author_writes_only_to_groups_he_is_in(box: Running, colleague: int) -> None:
    group = result(box, "sonet_group.create", {"NAME": "Team"})
    body = {"POST_MESSAGE": "x", "USER_ID": colleague, "DEST": [f"SG{group}"]}
    assert call(box, "log.blogpost.add", body).json["error_description"] == "No destination specified"
    result(box, "sonet_group.user.add", {"GROUP_ID": group, "USER_ID": [colleague]})
    assert result(box, "log.blogpost.add", body) > 0


def test_what_others_write_to_one_another_is_not_shown_even_to_an_administrator(box: Running, colleague: int) -> None:
    number = post(box, USER_ID=colleague, DEST=[f"U{colleague}"])
    assert result(box, "log.blogpost.get", {"POST_ID": number}) == []
    assert control(box, "native?kind=posts")["records"][0]["fields"]["DETAIL_TEXT"] == "Text"


def test_files_hang_on_a_post_and_can_be_marked_for_deletion(box: Running, colleague: int) -> None:
    file = ["a.txt", base64.b64encode(b"bytes").decode()]
    number = post(box, USER_ID=colleague, FILES=[file, ["b.txt", file[1]]])
    first, second = post_of(box, number)["FILES"]
    attached = result(box, "disk.attachedObject.get", {"id": first})
    assert (attached["NAME"], attached["CREATED_BY"]) == ("a.txt", str(colleague))
    assert send(attached["DOWNLOAD_URL"], None, {"User-Agent": "t/1"}).body == b"bytes"
    result(box, "log.blogpost.update", {"POST_ID": number, "FILES": {str(first): "del"}})
    assert post_of(box, number)["FILES"] == [second]


def test_an_update_of_the_text_alone_takes_the_title_away(box: Running) -> None:
    number = post(box, POST_TITLE="Title")
    result(box, "log.blogpost.update", {"POST_ID": number, "POST_MESSAGE": "New words"})
    assert (post_of(box, number)["TITLE"], post_of(box, number)["MICRO"]) == ("New words", "Y")


def test_comments_are_made_now_and_never_twice(box: Running, colleague: int) -> None:
    number = post(box)
    body = {"POST_ID": number, "TEXT": "+1", "USER_ID": colleague}
    made = result(box, "log.blogcomment.add", body)
    assert call(box, "log.blogcomment.add", body).json["error_description"] == "Duplicate comment"
    file = {"FILES": [["a.txt", base64.b64encode(b"bytes").decode()]]}
    result(box, "log.blogcomment.add", body | file)
    assert post_of(box, number)["NUM_COMMENTS"] == "2"
    rows = result(box, "log.blogcomment.user.get", {"USER_ID": colleague, "FIRST_ID": 0})["COMMENTS"]
    assert [(row["comment_id"] == made, row["text"], len(row["attach"])) for row in rows] == [
        (True, "", 0),
        (False, "", 1),
    ]
    assert {row["date"] for row in rows} == {result(box, "server.time")}
    assert result(box, "log.blogcomment.delete", {"COMMENT_ID": made}) is True
    assert call(box, "log.blogcomment.add", body | {"POST_ID": 5}).json["error_description"] == "No post found"


def test_a_deleted_post_takes_its_comments_along(box: Running) -> None:
    number = post(box)
    result(box, "log.blogcomment.add", {"POST_ID": number, "TEXT": "x"})
    assert result(box, "log.blogpost.delete", {"POST_ID": number}) is True
    assert result(box, "log.blogpost.get", {"POST_ID": number}) == []
    records = control(box, "native")["records"]
    assert {(record["kind"], record["deleted"]) for record in records} == {("posts", True), ("comments", True)}


def test_workflow_templates_want_an_application(box: Running) -> None:
    reply = call(box, "bizproc.workflow.template.add", {"NAME": "x"})
    assert (reply.status, reply.json["error"]) == (403, "ACCESS_DENIED")
    assert reply.json["error_description"] == "Application context required"


def test_a_post_for_nobody_is_refused_and_does_not_go_to_everybody(box: Running) -> None:
    for wrong in (["nobody"], ["G12"], "x"):
        reply = call(box, "log.blogpost.add", {"POST_MESSAGE": "x", "DEST": wrong})
        assert reply.json["error_description"] == "No destination specified"
    number = result(box, "log.blogpost.add", {"POST_MESSAGE": "x"})
    assert post_of(box, number)["HAS_SOCNET_ALL"] == "Y"
