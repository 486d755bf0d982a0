"""`python -m tests.deploy.bicep FOLDER [SCHEMAS]`: everything that is wrong with the Bicep files of the folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.bicep import privacy, rules, schemas
from tests.deploy.bicep.evaluation import Deployment, Resource

# A deployment that uses everything, beside the one with nothing but defaults.
OPEN = {
    "allowedIpRanges": ["203.0.113.7", "198.51.100.0/24"],
    "operatorId": "00000000-0000-0000-0000-000000000001",
    "moreWebhookSecrets": ["webhook-anna"],
    "fixedOutboundAddress": True,
}


def main(folder: Path, known: Path | None) -> int:
    found = rules.complaints(folder)
    if not found:
        found = list(about_deployments(folder, known))
    for one in found:
        print(one)
    return 1 if found else 0


def about_deployments(folder: Path, known: Path | None) -> Iterator[str]:
    for given in ({}, OPEN):
        resources = Deployment(folder / "main.bicep", given).resources
        yield from privacy.complaints(resources, closed=not given)
        if known:
            yield from dict.fromkeys(text for one in resources for text in _typed(one, known))


def _typed(resource: Resource, known: Path) -> Iterator[str]:
    path = known / f"{resource.type.replace('/', '_')}.json"
    if path.exists():
        yield from schemas.complaints(resource, json.loads(path.read_text("utf-8"))["results"]["BicepSchemaResult"])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else None))
