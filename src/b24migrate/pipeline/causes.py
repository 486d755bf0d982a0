"""Why records failed, grouped by cause, each cause with what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from b24migrate.phases.work import Work
from b24migrate.records import Json, Status

AGAIN = "then run `b24migrate retry`."
FIXES = {
    "VALIDATION": f"A field has a value that cannot be imported. Mend the record on the source, run `get`, {AGAIN}",
    "DUPLICATE_EMAIL": "Two users share one e-mail. Give one of them another on the source, or link it by hand: "
    "`b24migrate users export`, fill in target_id, `b24migrate users load`; " + AGAIN,
    "OWNER_NOT_FOUND": f"Its owner was not imported. Mend the owner first, or set mapping.placeholder_user; {AGAIN}",
    "USER_NOT_FOUND": f"A user it refers to was not imported. Mend that user first, {AGAIN}",
    "CHAT_NOT_FOUND": f"Its chat was not imported. Mend the chat first, {AGAIN}",
    "PARENT_NOT_FOUND": f"What it belongs to was not imported. Mend that first, {AGAIN}",
    "REFERENCE_MISSING": "It refers to a record that failed or does not exist. Mend that record first, or choose "
    "another policy for the field in [mapping.policy]; " + AGAIN,
    "FILE_NOT_FOUND": f"A file of it did not reach the target. See the failed files in this list, {AGAIN}",
    "FILE_MISSING": "The file was fetched once and is gone from the store's folder. Run `get` again, " + AGAIN,
    "DOWNLOAD_FAILED": f"The source did not give the file. Check that it opens on the portal, {AGAIN}",
    "NO_DOWNLOAD_LINK": "The source gives no link to the file: it was deleted there, or the webhook lacks the scope "
    "`disk`. Tick it, " + AGAIN,
    "UPLOAD_FAILED": f"The target did not take the file. Check the box's disk space and upload limits, {AGAIN}",
    "TYPE_NOT_FOUND": f"Its type is not on the target. Run the CRM structure first, {AGAIN}",
    "STAGE_NOT_FOUND": f"Its stage is not on the target. Run the CRM structure first, {AGAIN}",
    "TOO_LARGE": f"It is larger than the target takes. Raise the limit of the import module, {AGAIN}",
    "LOCKED": f"The target was busy with it. Nothing to mend: {AGAIN}",
    "INTERNAL": f"The target failed inside. Look into the box's log, {AGAIN}",
    "TIMEOUT": f"No answer came in time. When the portal is well, {AGAIN}",
}
OTHER = f"Read the message, mend the record on the source or the target, {AGAIN}"


@dataclass(frozen=True, slots=True)
class Cause:
    """So many records of one stream, or parts of one mini-task, failed alike."""

    place: str
    code: str
    count: int
    status: str
    example: str  # the id of one of them
    message: str
    fix: str

    def to_json(self) -> Json:
        return asdict(self)


def causes(work: Work) -> list[Cause]:
    """Failed records and files by stream, then dead letters that are no records. Those to be retried come last."""
    found = [cause for stream in work.streams for cause in _records(work, stream)]
    found += _letters(work)
    return sorted(found, key=lambda cause: (cause.status == Status.ERROR_RETRY, -cause.count))


def _records(work: Work, stream: str) -> list[Cause]:
    table = work.streams[stream].table
    found = []
    for (status, code), count in work.store.error_counts(table).items():
        samples = work.store.failed(table, 1, code=code)
        example, message = (samples[0].row_key, samples[0].last_error or "") if samples else ("", "")
        waiting = "Nothing to do: it is tried again by itself." if status == Status.ERROR_RETRY else ""
        found.append(Cause(stream, code, count, status, example, message, waiting or FIXES.get(code, OTHER)))
    return found


def _letters(work: Work) -> list[Cause]:
    found: dict[tuple[str, str], Cause] = {}
    for letter in work.queue.dead():
        if "record" in letter.job.args:
            continue  # counted with the records
        key = letter.job.scope, letter.code
        count = found[key].count + 1 if key in found else 1
        fix = "When its cause is gone, run the same command again."
        found[key] = Cause(letter.job.scope, letter.code, count, "dead", str(letter.job), letter.reason, fix)
    return list(found.values())
