"""Texts of messages, encoded once."""

from b24sim.phpjson import encode

_PLAIN = (
    "Добрый день!",
    "Ок",
    "Смотрю, минуту…",
    "Согласовано, спасибо 👍",
    "Кто возьмёт заявку № 4417?",
    "Перенесём встречу на 15:00, вторник?",
    "Отчёт готов: https://portal.example/disk/42?x=1&y=2",
    "It's done, \"really\" done.",
    "[B]Важно[/B]: завтра [I]всех[/I] ждём к 9:00",
    "[URL=https://example.org/a?b=1&c=2]ссылка[/URL]",
    "Строка один\nСтрока два\n\tс табуляцией",
    "------\nИван [10:15]\nцитата\n------\nответ",
    ">>быстрая цитата\nи ответ",
    "Эмодзи: 😀 🚀 👩‍👩‍👧 и \u2028 разделитель",
    "<script>alert('x')</script> & <b>жирный</b>",
    "Шаблон $result[c0][0][ID] и $total[c0] как текст",
    "100% + 50% = ? #tag \\ обратный слэш",
    "[CODE]if (a < b && c > d) { return \"x\"; }[/CODE]",
    "Поставил на паузу, вернусь после обеда. Если что-то срочное, звоните на мобильный.",
    "По договору: сроки не меняем, штрафы обсуждаем отдельно, счёт выставим в понедельник.",
)  # fmt: skip
TEXTS = tuple(encode(text) for text in _PLAIN)
EMPTY = b'""'
DELETED = encode("Сообщение удалено")
# Ids are filled in where the texts are used, hence the places for them.
CREATED_CHAT = encode("[USER=%d REPLACE]Автор[/USER] создал чат")
LEFT_CHAT = encode("[USER=%d REPLACE]Коллега[/USER] вышел")
MENTION = encode("[USER=%d]Коллега[/USER], посмотри, пожалуйста")
CHAT_LINK = encode("См. [CHAT=%d]чат[/CHAT]")
DISK_LINK = encode("Файл [DISK=%d] в приложении")
LONG_LENGTH = 70_000


def long_text() -> bytes:
    """More than a table property or a 64 KB column takes."""
    return encode(("Протокол <совещания> & итоги. " + "lorem ipsum dolor sit amet, " * 20) * (LONG_LENGTH // 560 + 1))
