"""Words a company is made of."""

MALE = ("Алексей", "Борис", "Виктор", "Глеб", "Дмитрий", "Егор", "Иван", "Кирилл", "Oleg", "Пётр", "Роман", "Семён")
FEMALE = ("Анна", "Вера", "Галина", "Дарья", "Елена", "Жанна", "Ирина", "Ксения", "Mary-Ann", "Нина", "Ольга", "Юлия")
SURNAMES = (
    "Орлов", "Соколов", "Лебедев", "Козлов", "Новиков", "Морозов", "Волков", "Зайцев", "Павлов", "Беляев", "Громов",
    "Титов", "Фролов", "O'Neil", "Жуков", "Ершов", "Щукин", "Носов", "Гусев", "Панов", "Юдин", "Ильин", "Чайка",
)  # fmt: skip
PATRONYMICS = ("", "Иванович", "Петровна", "Сергеевич", "Олеговна")
POSITIONS = (
    "Инженер",
    "Менеджер по продажам",
    "Бухгалтер",
    "Юрист",
    "Аналитик",
    "Head of R&D",
    "Дизайнер",
    "Кладовщик",
)
CITIES = ("Москва", "Казань", "Санкт-Петербург", "Новосибирск", "Тула", "")
DEPARTMENTS = ("Продажи", "Закупки", "Разработка", "Бухгалтерия", "Склад", "Маркетинг", "Кадры", "Поддержка", "Юристы")
GROUPS = (
    "Запуск сайта", "Ремонт офиса", "Переезд", "Клуб чтения", "R&D <alpha>", "Тендер", "Выставка", "Обучение новичков",
    "Бюджет", 'Проект "Север"',
)  # fmt: skip
CHATS = ("Обед", "Срочно!", "Дежурные", "Q&A", "Новости отдела", "Закупка 'кофе'", "Релизы 🚀", "Футбол", "Архив")
COLORS = ("#4ba984", "#df532d", "#64a513", "#3e99ce", "#ba9c7b", "#e8a441", "#728f7a", "#1eb4aa")

# English -> German: portals have labels of custom fields in more languages than these two.
GERMAN = {
    "Staff no.": "Personalnummer", "Level": "Stufe", "Hired": "Eingestellt am", "Mentor": "Betreuer",
    "Remote": "Fernarbeit", "Rate": "Satz", "Contract no.": "Vertragsnummer", "Floors": "Etagen", "Area": "Fläche",
    "Urgent": "Eilig", "Channel": "Kanal", "Interests": "Interessen", "Contract": "Vertrag", "Team": "Mannschaft",
    "Budget": "Budget", "Site": "Objekt", "Review at": "Prüfen am", "Key words": "Stichwörter",
}  # fmt: skip


def labels(russian: str, english: str) -> dict[str, str]:
    """The name of a custom field in each language; some fields lack some of them."""
    return {"ru": russian, "en": english} | (
        {"de": GERMAN[english]} if english in GERMAN else {"tr": f"{english} (TR)"}
    )
