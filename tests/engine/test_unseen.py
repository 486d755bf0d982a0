"""What `sync --explain` says that a delta pass does not see, against how the streams are read."""

from __future__ import annotations

from tests.engine.world import World

from b24migrate.engine.phases.delta import ASKED, find_way
from b24migrate.model.streams import Stream

COUNTED, VERSIONS, LINKS = "delta.unseen.counted", "delta.unseen.drive_files", "delta.unseen.crm_links"
# Files that are objects of the Drive, where a user may upload a new version of one.
WITH_DRIVE_FILES = {
    *("tasks", "task_checklists", "task_comments", "feed_posts", "feed_comments", "chat_messages"),
    *("crm_activities", "crm_comments", "crm_quotes"),
}


def keys(stream: Stream) -> set[str]:
    return {getattr(one, "key", "") for one in stream.unseen}


def test_streams_that_are_counted_say_what_cancels_out_in_a_count(whole: World) -> None:
    with whole.app() as app:
        streams = app.context.streams.values()
        counted = {one.name for one in streams if one.read and find_way(app.context, one) == ASKED}
        said = {one.name for one in streams if COUNTED in keys(one)}
    assert "crm_deals" in counted
    assert said == counted


def test_streams_with_files_on_the_drive_say_what_happens_to_new_versions(whole: World) -> None:
    with whole.app() as app:
        assert {one.name for one in app.context.streams.values() if VERSIONS in keys(one)} == WITH_DRIVE_FILES


def test_only_companies_and_contacts_are_linked_in_the_card_of_a_company(whole: World) -> None:
    with whole.app() as app:
        assert {one.name for one in app.context.streams.values() if LINKS in keys(one)} == {
            "crm_companies",
            "crm_contacts",
        }
