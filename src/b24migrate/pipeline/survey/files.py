"""Files: how many there are, how large, and what fetching them takes, from the sampled records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO

from b24migrate.errors import MigrationError
from b24migrate.phases import lanes
from b24migrate.phases.attachments import AT_ONCE
from b24migrate.phases.work import Work
from b24migrate.pipeline.survey.asking import patiently
from b24migrate.pipeline.survey.metering import Meter
from b24migrate.pipeline.survey.model import Estimate, FileFacts
from b24migrate.pipeline.survey.sampling import Load, Sampled, scaled
from b24migrate.streams import FileRef

USUAL_BYTES = 100_000  # of a file whose size nobody tells: a picture
TRIED = 5  # are downloaded, to see how long it takes
TRIED_BYTES = 5_000_000
USUAL_S = 0.3


@dataclass(slots=True)
class FoundFiles:
    """The files of one entity."""

    facts: FileFacts
    load: Load
    each_s: float = USUAL_S
    tried: int = 0
    refs: list[FileRef] = field(default_factory=list)


def look(work: Work, meter: Meter, entity: str, streams: Sequence[Sampled]) -> FoundFiles | None:
    refs: dict[str, FileRef] = {}
    count = variance = 0.0
    for sampled in streams:
        met = {ref.key: ref for one in sampled.kept for ref in (sampled.stream.files or _none)(one)}
        part = sampled.kept_count / len(sampled.kept) if sampled.kept else 0.0
        count += len(met) * part
        variance += len(met) * part * max(0.0, part - 1)
        refs |= met
    if not refs:
        return None
    sizes = [int(ref.size) for ref in refs.values() if ref.size is not None]
    mean = sum(sizes) / len(sizes) if sizes else USUAL_BYTES
    error = variance**0.5 / count
    exact = not variance
    files = Estimate.of(count, error, exact=exact, basis=f"{len(refs)} met in the sample")
    known = f"{len(sizes)} sizes told" if sizes else f"no size told: {USUAL_BYTES // 1000} kB each assumed"
    size = Estimate.of(count * mean, error, exact=exact and len(sizes) == len(refs), basis=known)
    facts = FileFacts(entity, files, size, len(refs) - len(sizes))
    found = FoundFiles(facts, Load(0.0, {}, 1), refs=list(refs.values()))
    _try(work, meter, found, count)
    return found


def _none(_: object) -> Sequence[FileRef]:
    return ()


def _try(work: Work, meter: Meter, found: FoundFiles, count: float) -> None:
    """Asks for some links as a fetch does, and downloads a few."""
    some = found.refs[:: max(1, len(found.refs) // AT_ONCE)][:AT_ONCE]
    before = meter.used
    urls: dict[str, str] = {}
    for kind in sorted({ref.kind for ref in some}):
        mine = [ref for ref in some if ref.kind == kind]
        links = work.file_kinds[kind].links
        urls |= _links(work, mine) if links else {ref.key: ref.url for ref in mine}
    used = meter.used.since(before)
    counted = sum("/rest/" in url for url in urls.values()) / len(some)  # of these the portal counts the download
    part = count / len(some)
    requests = used.requests * max(1.0, count / AT_ONCE) if len(some) == AT_ONCE else used.requests * part
    hands = lanes.hands(work.options.workers)
    found.load = Load(requests + counted * count, scaled(used.calls, part), hands)
    began = work.clock.monotonic()
    for url in list(filter(None, urls.values()))[:TRIED]:
        try:
            work.source.download(url, BytesIO(), limit=TRIED_BYTES)
        except MigrationError:
            continue
        found.tried += 1
    if found.tried:
        found.each_s = (work.clock.monotonic() - began) / found.tried


def _links(work: Work, refs: Sequence[FileRef]) -> dict[str, str]:
    links = work.file_kinds[refs[0].kind].links
    assert links is not None  # noqa: S101 (what the caller looked at)
    try:
        return patiently(work.clock, lambda: links(work.source, refs))
    except MigrationError:
        return {}
