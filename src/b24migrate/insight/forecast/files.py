"""Files: how many there are, how large, and what fetching them takes, from the sampled records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from statistics import median

from b24migrate.engine.phases.context import NO_LIMIT, RunContext
from b24migrate.engine.phases.files import AT_ONCE
from b24migrate.insight.forecast.meter import Meter
from b24migrate.insight.forecast.model import Estimate, FileFacts, LargeFile
from b24migrate.insight.forecast.sample import Ask, Sampled, ask_patiently, scale_calls
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Stop
from b24migrate.model.source_records import FileRef

USUAL_BYTES = 100_000  # of a file of unknown size: a picture
TRIED = 5  # are downloaded, to see how long it takes
TRIED_BYTES = 5_000_000
USUAL_S = 0.3
SLOWEST_BYTE_S = 1e-6  # for bytes beyond the size of the files that were tried
USUAL_LIMIT = 1 << 30  # the limit of the import module, for a target that does not answer yet


@dataclass(slots=True)
class FoundFiles:
    """The files of one entity. `links`: what asking for the links of a job's files takes."""

    facts: FileFacts
    uncertain: float
    links: Ask
    counted: float = 1.0  # of so many the portal counts the download as a request
    each_s: float = USUAL_S
    tried: int = 0


def find_files(
    context: RunContext, meter: Meter, entity: str, streams: Sequence[Sampled], known: Collection[str]
) -> FoundFiles | None:
    """`known`: files that other records referred to before; each is moved once."""
    refs: dict[str, FileRef] = {}
    count = variance = 0.0
    for sampled in streams:
        part = max(1.0, sampled.kept_count / sampled.in_use) if sampled.in_use else 1.0
        fresh = {key: ref for key, ref in sampled.files.items() if key not in known and key not in refs}
        met = len(fresh)
        count += met * part
        variance += met * part * (part - 1) + (met * part * sampled.uncertain) ** 2
        refs |= fresh
    if not refs:
        return None
    sizes = [int(ref.size) for ref in refs.values() if ref.size is not None]
    error = float(variance**0.5 / count)
    tries = _try_downloads(context, meter, list(refs.values()))
    mean = sum(sizes) / len(sizes) if sizes else sum(tries.bytes) / len(tries.bytes) if tries.bytes else USUAL_BYTES
    files = Estimate.from_error(count, error, exact=not variance, basis=say("forecast.met", count=len(refs)))
    known = (
        say("forecast.sizes", count=len(sizes))
        if sizes
        else f"{len(tries.bytes)} downloaded"
        if tries.bytes
        else "assumed"
    )
    exact = not variance and len(sizes) == len(refs)
    size = Estimate.from_error(count * mean, max(error, 0.0 if sizes else 0.5), exact=exact, basis=known)
    facts = FileFacts(entity, files, size, len(refs) - len(sizes))
    return FoundFiles(facts, error, tries.links, tries.counted, tries.each_s(mean), len(tries.bytes))


def size_limit(context: RunContext) -> int:
    limit = context.largest_file()
    return limit if limit < NO_LIMIT else USUAL_LIMIT


def list_too_large(entity: str, streams: Sequence[Sampled], known: Collection[str], limit: int) -> list[LargeFile]:
    """Files that are too large to migrate. If the source gives no size, the download shows it."""
    refs = {key: ref for sampled in streams for key, ref in sampled.files.items() if key not in known}
    sizes = ((key, ref.name, int(ref.size or 0)) for key, ref in refs.items())
    return [LargeFile(entity, key, name, size) for key, name, size in sizes if size > limit]


@dataclass(slots=True)
class _Tries:
    links: Ask
    counted: float
    seconds: list[float]
    bytes: list[int]

    def each_s(self, size: float) -> float:
        """The time for a file of this size. The shortest download is the minimum of any. Small files do not predict the
        speed of large ones: extrapolated, it could be days."""
        if not self.seconds:
            return USUAL_S
        least, usual = min(self.seconds), median(self.seconds)
        mean = max(1.0, sum(self.bytes) / max(1, len(self.bytes)))
        byte_s = (usual - least) / mean
        return least + byte_s * min(size, mean) + min(byte_s, SLOWEST_BYTE_S) * max(0.0, size - mean)


def _try_downloads(context: RunContext, meter: Meter, refs: Sequence[FileRef]) -> _Tries:
    """Requests some links as a fetch does, and downloads a few."""
    some = refs[:: max(1, len(refs) // AT_ONCE)][:AT_ONCE]
    before = meter.used
    urls: dict[str, str] = {}
    for kind in sorted({ref.kind for ref in some}):
        mine = [ref for ref in some if ref.kind == kind]
        links = context.file_kinds[kind].links
        urls |= _links(context, mine) if links else {ref.key: ref.url for ref in mine}
    used = meter.used.since(before)
    counted = sum("/rest/" in url for url in urls.values()) / len(some)
    began, sizes = len(meter.downloads_s), list[int]()
    for url in list(filter(None, urls.values()))[:TRIED]:
        try:
            sizes.append(ask_patiently(context.clock, partial(_download, context, url)))
        except Stop:
            raise
        except MigrationError:
            continue
    # A job with fewer files requests fewer links, in as many requests.
    links_asked = Ask(used.requests, scale_calls(used.calls, AT_ONCE / len(some)))
    return _Tries(links_asked, counted, meter.downloads_s[began:], sizes)


def _download(context: RunContext, url: str) -> int:
    return context.source.download(url, BytesIO(), limit=TRIED_BYTES)[0]


def _links(context: RunContext, refs: Sequence[FileRef]) -> dict[str, str]:
    links = context.file_kinds[refs[0].kind].links
    assert links is not None  # noqa: S101 (the caller checked it)
    try:
        return ask_patiently(context.clock, lambda: links(context.source, refs))
    except Stop:
        raise
    except MigrationError:
        return {}
