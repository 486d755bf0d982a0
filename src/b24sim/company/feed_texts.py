"""Texts of the feed: for each kind of post, and for comments."""

from collections.abc import Callable
from dataclasses import dataclass

from b24sim.company.chance import chance
from b24sim.company.feed import Feed, Post

TAGS = ("новости", "отпуск2026", "HR", "правила", "it_support", "«Север»")
LONG_LENGTH = 70_000
PLUS_ONE = "+1"


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a post. Without a title the portal takes one from the text."""

    text: str
    title: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hand:
    """The data for a text: the post, its files, IDs to mention, and the portal's address."""

    feed: Feed
    post: Post
    files: list[int]
    portal_url: str

    @property
    def luck(self) -> int:
        return chance(self.feed.plan.seed, "post text", self.post.place)

    def user(self, shift: int = 0) -> int:
        return self.feed.staff[(self.luck >> shift) % len(self.feed.staff)]

    def other_post(self, shift: int = 0) -> Post | None:
        """Texts keep naming a post that is deleted."""
        place = (self.luck >> shift) % self.feed.count
        return self.feed.at(place) or self.feed.deleted.get(self.feed.id_at(place))

    def group(self) -> int:
        return self.feed.groups[self.luck % len(self.feed.groups)].id if self.feed.groups else 404


def content(hand: Hand) -> Content:
    return _WRITERS.get(hand.post.case, _plain)(hand)


def _plain(hand: Hand) -> Content:
    return Content(f"Коллеги, добрый день! Заметка №{hand.post.place}: обед в 13:00.")


def _titled(hand: Hand) -> Content:
    text = "Текст с [B]жирным[/B], [I]курсивом[/I] и [URL=https://example.org/a?b=1&c=2]ссылкой[/URL].\n[LIST][*]раз[*]два[/LIST]"
    return Content(text, f'Правила Q{hand.post.place % 4 + 1} <черновик> & "итоги"')


def _important(hand: Hand) -> Content:
    return Content("[B]Прочитать всем[/B] до конца недели.", f"Важно: приказ №{hand.post.place}")


def _hashtags(hand: Hand) -> Content:
    first, second = TAGS[hand.luck % 5], TAGS[(hand.luck + 2) % 5]
    return Content(f"Собрались и решили #{first} и ещё #{second}, а C# и #1 это не метки.", tags=(first, second))


def _tags(hand: Hand) -> Content:
    name = TAGS[hand.luck % len(TAGS)]
    return Content(f"Тема недели: [TAG]{name}[/TAG]\nПодробности позже.", "С меткой в тексте", (name,))


def _inline_file(hand: Hand) -> Content:
    first, *rest = hand.files
    shown = f"Смотрите схему: [DISK FILE ID={first}] и снова [disk file id={first} width=300 height=200]."
    # A file somebody took off again leaves its mark in the text.
    return Content(shown + f"\nСтарая: [DISK FILE ID={first + 7_000_000}]" if rest else shown)


def _poll(_hand: Hand) -> Content:
    return Content("Где проводим корпоратив?\n[VOTE ID=n0]", "Голосуем!")


def _gratitude(hand: Hand) -> Content:
    return Content(f"Спасибо [USER={hand.user(6)}]коллеге[/USER] за проект!")


def _links(hand: Hand) -> Content:
    """Links to where this portal keeps things, absolute and relative, and to what is gone."""
    other = hand.other_post(5) or hand.post
    personal = f"/company/personal/user/{other.author}/blog/{other.id}/"
    group = hand.group()
    return Content(
        f"Начало тут: {hand.portal_url}{personal}\n"
        f"[URL={personal}?commentId=99#com99]обсуждение[/URL], группа [URL=/workgroups/group/{group}/]тут[/URL], "
        f"её пост {hand.portal_url}/workgroups/group/{group}/blog/{other.id}/, "
        f"задача {hand.portal_url}/company/personal/user/{other.author}/tasks/task/view/17/, "
        f"сделка {hand.portal_url}/crm/deal/details/12/, профиль /company/personal/user/{hand.user()}/ "
        f"и чужое https://other.example/company/personal/user/1/blog/5/",
        "Ссылки",
    )


def _mentions(hand: Hand) -> Content:
    gone = hand.feed.strangers[0]
    return Content(
        f"[USER={hand.user()}]Анна <А.>[/USER], [user={hand.user(9)}]Олег[/user] и [USER={gone}]Уволенный[/USER]: "
        f"просьба ответить. [PROJECT={hand.group()}]проект[/PROJECT] [DEPARTMENT=1]отдел[/DEPARTMENT]"
    )


def _emoji(_hand: Hand) -> Content:
    return Content(
        "Ура 🎉🚀👩‍👩‍👧 и \u2028 разделитель :) [IMG]https://example.org/smile.png[/IMG] ﷽ \u200b", "🎂 День рождения"
    )


def _long(hand: Hand) -> Content:
    times = LONG_LENGTH if hand.post.place == 11 else 3_000
    sentence = "Протокол <совещания> & итоги: решили, что решим позже. "
    return Content((sentence * (times // len(sentence) + 1)).strip(), "Протокол")


def _shared_file(_hand: Hand) -> Content:
    return Content("Тот же файл, что и в прошлый раз.")


def _odd(_hand: Hand) -> Content:
    return Content(
        "<script>alert('x')</script> $result[c0][0][ID] 100% \\ [CODE]if (a < b && c > d)[/CODE]\r\n"
        "[QUOTE]цитата[/QUOTE]\t[TABLE][TR][TD]1[/TD][/TR][/TABLE] [VIDEO WIDTH=400]https://youtu.be/x[/VIDEO]"
    )


def _categorised(_hand: Hand) -> Content:
    """The text does not name the tag, so that nobody can tell what it is called."""
    return Content("До свидания, коллеги!", "Прощание", (TAGS[-1],))


_WRITERS: dict[str, Callable[[Hand], Content]] = {
    "titled": _titled,
    "important": _important,
    "important until": _important,
    "hashtags": _hashtags,
    "tags": _tags,
    "inline file": _inline_file,
    "poll": _poll,
    "gratitude": _gratitude,
    "links": _links,
    "mentions": _mentions,
    "emoji": _emoji,
    "long": _long,
    "shared file": _shared_file,
    "odd signs": _odd,
    "dismissed author": _categorised,
}

_COMMENTS = (
    PLUS_ONE,
    "Согласен 👍",
    "А когда срок?",
    "[QUOTE]обед в 13:00[/QUOTE]\nПоддерживаю, <i>если</i> без опозданий & шума",
    PLUS_ONE,
    "Готово: [B]сделал[/B], см. [URL=https://example.org/?a=1&b=2]отчёт[/URL]",
)


def comment_text(hand: Hand, luck: int, files: int) -> str:
    if files:
        return "" if luck % 2 else "Файл во вложении"
    if luck % 11 == 4:
        return f"[USER={hand.feed.staff[luck % len(hand.feed.staff)]}]Коллега[/USER], посмотри"
    if luck % 17 == 4:
        return f"Уже обсуждали: {hand.portal_url}/company/personal/user/{hand.post.author}/blog/{hand.post.id}/"
    return _COMMENTS[luck % len(_COMMENTS)]
