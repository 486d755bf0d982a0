"""Files of the feed: on posts they are attachments, on comments the files of the Drive themselves."""

from dataclasses import dataclass, field

from b24sim.company.attachments import OBJECT_BASE, Attachment, Attachments, Family, attachment_id, own_object
from b24sim.company.chance import chance
from b24sim.company.feed import CASES, Feed, Post
from b24sim.company.messages import Correspondence

MOST_ON_A_POST = 4
MOST_ON_A_COMMENT = 2
TASK_FILES = range(60)
# A shared file comes from the post with an inline file that was written so many places earlier.
BACK_TO_INLINE = CASES.index("shared file") - CASES.index("inline file")


@dataclass(slots=True)
class FeedFiles:
    """Which file hangs where. A file may hang on two posts, and on a task or a message of a chat as well."""

    feed: Feed
    attachments: Attachments
    correspondence: Correspondence
    shared: dict[int, int] = field(default_factory=dict)  # by post: its file stays when others are deleted

    def of_post(self, place: int) -> list[int]:
        """The attachment ids of a post."""
        return [attachment_id(Family.POST, place * MOST_ON_A_POST + turn) for turn in range(self.feed.files_of(place))]

    def of_post_at(self, ordinal: int, number: int) -> Attachment | None:
        place, turn = divmod(ordinal, MOST_ON_A_POST)
        if place >= self.feed.count or turn >= self.feed.files_of(place):
            return None
        post = self.feed.at(place)
        if post is None:
            return None
        guarded = ordinal % 5 == 3 and post.case != "shared file"
        file = self._file(post, turn, number)
        if OBJECT_BASE < file != own_object(number):
            self.attachments.shared.add(file)
        return Attachment(number, file, "blog", "blog_post", post.id, post.author, post.published, guarded)

    def of_comment(self, number: int) -> list[int]:
        """The ids on the Drive of the files of a comment."""
        luck = chance(self.feed.plan.seed, "comment file", number)
        count = 0 if luck % 8 != 3 else 2 if luck % 64 == 3 else 1
        ordinals = range(number * MOST_ON_A_COMMENT, number * MOST_ON_A_COMMENT + count)
        return [own_object(attachment_id(Family.POST_COMMENT, ordinal)) for ordinal in ordinals]

    def of_comment_at(self, ordinal: int, number: int) -> Attachment | None:
        comment, _ = divmod(ordinal, MOST_ON_A_COMMENT)
        if comment >= self.feed.first_comments[-1] or own_object(number) not in self.of_comment(comment):
            return None
        place, turn = self.feed.post_of_comment(comment)
        post = self.feed.at(place)
        at = self.feed.comment_at(place, turn)
        return (
            Attachment(number, own_object(number), "blog", "blog_comment", post.id, post.author, at) if post else None
        )

    def _file(self, post: Post, turn: int, number: int) -> int:
        if post.case != "shared file":
            return own_object(number)
        if turn == 0:
            return own_object(attachment_id(Family.POST, (post.place - BACK_TO_INLINE) * MOST_ON_A_POST))
        if post.id not in self.shared:
            self.shared[post.id] = (self._of_task(post) if post.place % 2 else self._of_chat(post)) or own_object(
                number
            )
        return self.shared[post.id]

    def _of_chat(self, post: Post) -> int | None:
        return self.correspondence.some_file(post.id) if self.correspondence.files else None

    def _of_task(self, post: Post) -> int | None:
        """One of the first tasks' files, another for every post; none where no task has one."""
        found = filter(None, (self.attachments.find(attachment_id(Family.TASK, ordinal)) for ordinal in TASK_FILES))
        objects = [attachment.object_id for attachment in found]
        return objects[post.id % len(objects)] if objects else None
