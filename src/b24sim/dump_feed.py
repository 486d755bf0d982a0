"""The truth about the feed and the workflow templates."""

from collections.abc import Iterator

from b24sim.company.feed import PUBLISHED
from b24sim.company.workflows import ROBOTS
from b24sim.portal import Portal
from b24sim.table import Row, shown


def posts(portal: Portal, user: int | None) -> Iterator[Row]:
    """Drafts and what waits for a moderator too, unless the question is what a user sees."""
    company = portal.company
    codes = None if user is None else company.access_codes(user)
    for post in company.feed.posts.values():
        if codes is None or (post.status == PUBLISHED and post.rights & codes):
            yield {"id": str(post.id), "fields": _all(company.feed_rows.posts.row(post.id))}


def comments(portal: Portal, user: int | None) -> Iterator[Row]:
    """With a user: what he may ask for; `told` says whether he would get the text."""
    rows = portal.company.feed_rows.comments
    for number in rows:
        fields = _all(rows.row(number))
        author = fields["hidden"]["author_id"]
        if user is None or user == author or user in portal.admins:
            key = f"{fields['hidden']['post_id']}:{fields['comment_id']}"
            yield {"id": key, "fields": fields, "told": user in {None, author}}


def templates(portal: Portal, user: int | None) -> Iterator[Row]:
    """Robots too, unless the question is what a user sees: nothing, if he is no administrator."""
    rows = portal.company.workflows.templates
    for number in rows:
        row = rows.row(number)
        if user is None or (user in portal.admins and int(row["AUTO_EXECUTE"]) < ROBOTS):
            yield {"id": str(number), "fields": row}


def _all(row: Row) -> Row:
    hidden = {name.removeprefix("_"): value for name, value in row.items() if name.startswith("_")}
    return shown(row) | {"hidden": hidden}
