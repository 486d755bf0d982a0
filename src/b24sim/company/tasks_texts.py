"""Texts of tasks and of their comments, with IDs of records of the portal."""

TITLES = (
    "Подготовить КП", "Согласовать договор № 12/А", "Ремонт <склада> & уборка", "Позвонить клиенту 📞",
    "Prepare the Q3 report", "Обновить \"прайс\" на сайте", "Собеседование", "Закупка 'бумаги'",
    "Сверка с бухгалтерией",
)  # fmt: skip
TAGS = ("срочно", "R&D", "urgent", "Москва", "50% готово", "к проверке")
COMMENTS = (
    "Ок",
    "Готово, проверьте",
    "Сделаю завтра до 15:00",
    "[B]Внимание[/B]: срок сдвинут & согласован",
    "It's done, \"really\" <done> 👍",
    "Строка один\nСтрока два",
    "[QUOTE]цитата[/QUOTE]ответ",
    "Шаблон $result[c0][0][ID] и 100% + 50%",
)  # fmt: skip
MENTION = "[USER={user}]Коллега[/USER], посмотрите, пожалуйста"
ATTACHED = "Во вложении [DISK FILE ID={attachment}]"
TASK_LINK = "См. [URL={portal}/company/personal/user/{user}/tasks/task/view/{task}/]задачу[/URL]"
GROUP_LINK = "Тоже здесь: /workgroups/group/{group}/tasks/task/view/{task}/"
DEAL_LINK = "Сделка: {portal}/crm/deal/details/{deal}/"
DEADLINE_MOVED = "[USER={user}]Автор[/USER] изменил крайний срок"
CHAT_MADE = "[USER={user} REPLACE]Автор[/USER] создал чат задачи"
DELETED = "Сообщение удалено"
LONG = "Техническое задание. <раздел> & 'пункт': " + "lorem ipsum dolor sit amet, " * 2_700
EMOJI = "Эмодзи: 😀 🚀 👩‍👩‍👧 и \u2028 разделитель"
