"""The rows of calls and activities (crm-activity-list.md, voximplant-statistic-get.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from b24sim.table import Row

NEVER = "9999-12-31T00:00:00+03:00"  # the portal's value for no deadline
MEETING, CALL, TASK, MAIL, PROVIDER = 1, 2, 3, 4, 6
ACTIVITY = 6  # as the owner of files
INCOMING, OUTGOING = 1, 2
PLAIN, CODES, HTML = 1, 2, 3
TYPE_WORDS = {1: "LEAD", 3: "CONTACT", 4: "COMPANY"}
CALL_PLACES = (0, 5, 12)
SETTINGS_OF_ENTITY = {
    "HONORIFIC": "", "NAME": "Анна", "SECOND_NAME": "", "LAST_NAME": "Ким", "COMPANY_TITLE": "", "COMPANY_ID": "0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of activity: its type, provider, direction and text."""

    type: int
    provider: str
    sort: str = ""
    direction: int = 0
    subject: str = ""
    text: str = ""
    form: int = PLAIN
    orphan: bool = False
    incoming: bool = False


KINDS = (
    Kind(CALL, "VOXIMPLANT_CALL", "CALL", INCOMING, "Входящий звонок", incoming=True),
    Kind(MAIL, "CRM_EMAIL", "EMAIL", INCOMING, "Re: счёт № 417", "письмо", HTML, incoming=True),
    Kind(MAIL, "CRM_EMAIL", "EMAIL", OUTGOING, "Коммерческое предложение", "письмо", HTML),
    Kind(MEETING, "CRM_MEETING", "MEETING", 0, "Встреча в офисе", "Обсудить [B]договор[/B]", CODES),
    Kind(PROVIDER, "CRM_TODO", "TODO", 0, "Перезвонить", "Уточнить сроки у [USER=%user%]коллеги[/USER]", CODES),
    Kind(CALL, "VOXIMPLANT_CALL", "CALL", OUTGOING, "Исходящий звонок"),
    Kind(PROVIDER, "CRM_WEBFORM", "7", INCOMING, "Заявка с сайта", "Имя: Пётр\nТелефон: +7", incoming=True),
    Kind(MAIL, "CRM_EMAIL", "EMAIL_COMPRESSED", OUTGOING, "Рассылка робота", "Здравствуйте! Напоминаем о…"),
    Kind(TASK, "CRM_TASKS_TASK", "TASK", 0, "Задача"),
    Kind(PROVIDER, "IMOPENLINES_SESSION", "LINE", INCOMING, "Диалог открытой линии"),
    Kind(MAIL, "CRM_EMAIL", "EMAIL", INCOMING, "Документы", "письмо", HTML, incoming=True),
    Kind(PROVIDER, "CRM_TODO", "TODO", 0, "Отправить образцы"),
    Kind(CALL, "VOXIMPLANT_CALL", "CALL", INCOMING, "Пропущенный звонок", incoming=True),
    Kind(PROVIDER, "CRM_SMS", "SMS", OUTGOING, "SMS"),
    Kind(PROVIDER, "CONFIGURABLE_REST_APP", "CONFIGURABLE", 0, "Карточка приложения"),
    Kind(PROVIDER, "CRM_REQUEST", "REQUEST", 0, "Обработать обращение", "Ждёт ответа"),
    Kind(PROVIDER, "CRM_TODO", "TODO", 0, "Осталось без сделки", orphan=True),
    Kind(PROVIDER, "PARTNER_WIDGET", "WIDGET", 0, "Неизвестно что"),
    Kind(PROVIDER, "VISIT_TRACKER", "VISIT", INCOMING, "Посещение", "Был в магазине"),
    Kind(PROVIDER, "CRM_WHATSAPP", "WHATSAPP", OUTGOING, "Сообщение", "Ваш заказ готов"),
)


def files_of_place(place: int) -> Sequence[int]:
    """The numbers of the files that hang on the activity at a place."""
    return {1: (0,), 10: (0, 1), 3: (0,) if place % 40 == 3 else ()}.get(place % len(KINDS), ())


def activity_row(
    number: int,
    place: int,
    *,
    owner: tuple[int, int],
    author: int,
    luck: int,
    created: str,
    updated: str,
    origin: str,
    files: Sequence[int],
    portal_url: str,
) -> Row:
    kind = KINDS[place % len(KINDS)]
    done = kind.incoming or kind.type == MAIL or luck % 3 == 0
    text = kind.text.replace("%user%", str(author))
    text = text if kind.form != HTML else _letter(number, owner, files, portal_url)
    row: Row = {
        "ID": str(number), "OWNER_ID": str(owner[1]), "OWNER_TYPE_ID": str(owner[0]), "TYPE_ID": str(kind.type),
        "PROVIDER_ID": kind.provider, "PROVIDER_TYPE_ID": kind.sort, "PROVIDER_GROUP_ID": None,
        "ASSOCIATED_ENTITY_ID": str(luck % 900 if kind.type == TASK else 0), "SUBJECT": kind.subject,
        "CREATED": created, "LAST_UPDATED": updated, "START_TIME": created, "END_TIME": created,
        "DEADLINE": NEVER if kind.incoming else created, "COMPLETED": "Y" if done else "N",
        "STATUS": "2" if done else "1", "RESPONSIBLE_ID": str(author), "PRIORITY": "2", "NOTIFY_TYPE": "0",
        "NOTIFY_VALUE": "0", "DESCRIPTION": text,
        "DESCRIPTION_TYPE": str(kind.form), "DIRECTION": str(kind.direction),
        "LOCATION": "Переговорная" if kind.type == MEETING else "", "SETTINGS": _settings(kind, number, author),
        "ORIGINATOR_ID": "VOXIMPLANT" if origin else None, "ORIGIN_ID": origin or None, "AUTHOR_ID": str(author),
        "EDITOR_ID": str(author), "PROVIDER_PARAMS": _params(kind), "PROVIDER_DATA": None, "RESULT_MARK": "0",
        "RESULT_VALUE": None, "RESULT_SUM": None, "RESULT_CURRENCY_ID": None, "RESULT_STATUS": "0",
        "RESULT_STREAM": "0", "RESULT_SOURCE_ID": None, "AUTOCOMPLETE_RULE": "0",
        "IS_INCOMING_CHANNEL": "Y" if kind.incoming else "N",
    }  # fmt: skip
    # No method shows the attachments of compressed letters.
    shown = [] if kind.sort == "EMAIL_COMPRESSED" else list(files)
    return row | {"_FILES": shown, "_COMMUNICATIONS": _communications(kind, number, owner)}


def _letter(number: int, owner: tuple[int, int], files: Sequence[int], portal_url: str) -> str:
    """A link to a picture names the activity that has the file, and is shown for no other (kernel crm 24.1300,
    CCrmEMail, CCrmFileProxy::WriteDiskFileToResponse)."""
    whose = f"&amp;ownerTypeId={ACTIVITY}&amp;ownerId={number}"
    pictures = "".join(
        f'<img src="{portal_url}/bitrix/tools/crm_show_file.php?fileId={file}{whose}">' for file in files[:1]
    ) + "".join(f'<img src="bxacid:n{file}">' for file in files[1:])
    link = f'<a href="{portal_url}/crm/deal/details/{owner[1]}/">Сделка</a>' if owner[0] == 2 else ""
    return f"<div>Здравствуйте! Письмо № {number} &amp; вложения.<br>{link}{pictures}</div>"


def _settings(kind: Kind, number: int, author: int) -> Any:
    if kind.type == MAIL:
        meta = {"__email": "info@company.example", "from": "ann@client.example", "to": "info@company.example"}
        meta |= dict.fromkeys(("replyTo", "cc", "bcc"), "")
        return {
            "EMAIL_META": meta,
            "MESSAGE_HEADERS": {"Message-Id": f"<{number}@client.example>"},
            "SANITIZE_ON_VIEW": 1,
            "READ_CONFIRMED": 1_700_000_000 + number,
        }
    if kind.provider == "CRM_TODO":
        return {"COLOR": "2", "USERS": [str(author)], "CALENDAR_SECTION_ID": 7, "ADDRESS_FORMATTED": ""}
    return {"MISSED_CALL": True} if kind.subject.startswith("Пропущенный") else []


def _params(kind: Kind) -> Any:
    if kind.provider != "CRM_WEBFORM":
        return []
    return {"FIELDS": [{"caption": "Имя", "value": "Пётр"}], "FORM": {"LINK": "", "TITLE": "Обратный звонок"}}


def _communications(kind: Kind, number: int, owner: tuple[int, int]) -> list[Row]:
    if kind.type not in (CALL, MAIL):
        return []
    value = ("EMAIL", "ann@client.example") if kind.type == MAIL else ("PHONE", f"+7900{number:07d}")
    return [
        {
            "ID": str(2 * number), "TYPE": value[0], "VALUE": value[1], "ENTITY_ID": str(owner[1]),
            "ENTITY_TYPE_ID": str(owner[0]), "ENTITY_SETTINGS": SETTINGS_OF_ENTITY,
        }
    ]  # fmt: skip


def call_row(
    number: int,
    call: str,
    *,
    luck: int,
    user: int,
    at: str,
    owner: tuple[int, int],
    activity: int,
    recording: int,
) -> Row:
    """The statistic of one call. Orders and deals are never its record."""
    word, missed = TYPE_WORDS.get(owner[0], ""), luck % 5 == 1
    # Some operators keep the recording themselves, and their links expire.
    link = f"https://records.operator.example/{call}.mp3" if not recording and luck % 2 else None
    return {
        "ID": str(number), "PORTAL_USER_ID": str(user), "PORTAL_NUMBER": "reg1", "PHONE_NUMBER": f"+7900{number:07d}",
        "CALL_ID": call, "EXTERNAL_CALL_ID": None, "CALL_CATEGORY": "external", "CALL_LOG": None,
        "CALL_DURATION": str(0 if missed else luck % 600), "CALL_START_DATE": at, "CALL_RECORD_URL": link,
        "CALL_VOTE": "0", "COST": "0.0000", "COST_CURRENCY": "RUR", "CALL_FAILED_CODE": "304" if missed else "200",
        "CALL_FAILED_REASON": "", "CRM_ENTITY_TYPE": word or None, "CRM_ENTITY_ID": str(owner[1]) if word else None,
        "CRM_ACTIVITY_ID": str(activity) if activity else None, "REST_APP_ID": None, "REST_APP_NAME": None,
        "TRANSCRIPT_ID": None, "TRANSCRIPT_PENDING": "N", "SESSION_ID": None, "REDIAL_ATTEMPT": None, "COMMENT": None,
        "RECORD_DURATION": str(luck % 600) if recording else None, "RECORD_FILE_ID": recording or None,
        "CALL_TYPE": str(1 + luck % 2),
    }  # fmt: skip
