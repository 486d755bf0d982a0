"""What people write to each other, encoded once."""

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
CREATED_CHAT = b'"[USER=%d REPLACE]\\u0410[\\/USER] \\u0441\\u043e\\u0437\\u0434\\u0430\\u043b \\u0447\\u0430\\u0442"'
LEFT_CHAT = b'"[USER=%d REPLACE]\\u0410[\\/USER] \\u0432\\u044b\\u0448\\u0435\\u043b"'
MENTION = b'"[USER=%d]\\u041a\\u043e\\u043b\\u043b\\u0435\\u0433\\u0430[\\/USER], \\u043f\\u043e\\u0441\\u043c\\u043e\\u0442\\u0440\\u0438"'
CHAT_LINK = b'"\\u0421\\u043c. [CHAT=%d]\\u0447\\u0430\\u0442[\\/CHAT]"'
DISK_LINK = b'"\\u0424\\u0430\\u0439\\u043b [DISK=%d] \\u0432 \\u043f\\u0440\\u0438\\u043b\\u043e\\u0436\\u0435\\u043d\\u0438\\u0438"'
LONG_LENGTH = 70_000


def long_text() -> bytes:
    """More than a table property or a 64 KB column takes."""
    return encode(("Протокол <совещания> & итоги. " + "lorem ipsum dolor sit amet, " * 20) * (LONG_LENGTH // 560 + 1))
