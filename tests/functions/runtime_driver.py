"""Run by a Python that has `azure-functions-runtime`: the worker of the real host, told what the host would tell it.

The folder of the function app is the working directory. The first argument is the store's address; what became of the
run is printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import azure_functions_runtime as runtime  # type: ignore[import-not-found]

Json = Any


class _Names(type):
    """Constants of an enumeration, such as `StatusResult.Success`, are their own names."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return name


class Said(metaclass=_Names):
    """A message of the protocol: whatever it is made of."""

    def __init__(self, **fields: Json) -> None:
        self.__dict__.update(fields)

    def WhichOneof(self, _: str) -> str | None:  # noqa: N802 (the protocol's name)
        return next(iter(self.__dict__), None)


class BindingInfo(Said):
    out, inout, undefined = 1, 2, 0


class Protocol:
    BindingInfo = BindingInfo

    def __getattr__(self, _: str) -> type[Said]:
        return Said


class Parameter(Said):
    def WhichOneof(self, _: str) -> str:  # noqa: N802
        return "data"


def request(**fields: Json) -> Said:
    return Said(request=Said(**fields), properties={"host": "127.0.0.1", "protos": Protocol()})


class Worker:
    """Indexes the folder as it starts, then does what it is asked to."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self.bindings: dict[str, Json] = {}

    async def start(self) -> None:
        init = Said(capabilities={}, function_app_directory=os.getcwd())  # noqa: PTH109 (as the host tells it)
        answer = await runtime.worker_init_request(request(worker_init_request=init))
        assert answer.result.status == "Success", answer.result.exception.message
        indexed = await runtime.functions_metadata_request(request())
        for one in indexed.function_metadata_results:
            self._ids[one.name] = one.function_id
            self.bindings[one.name] = [json.loads(raw) for raw in one.raw_bindings]
        runtime.start_threadpool_executor()

    async def invoke(self, name: str, parameter: str, data: Said, **metadata: Said) -> Json:
        wanted = Said(
            invocation_id=os.urandom(4).hex(),
            function_id=self._ids[name],
            input_data=[Parameter(name=parameter, data=data)],
            trigger_metadata=metadata,
            trace_context=Said(trace_parent="", trace_state="", attributes={}),
            retry_context=Said(retry_count=0, max_retry_count=0, exception=None),
        )
        answer = await runtime.invocation_request(request(invocation_request=wanted))
        assert answer.result.status == "Success", answer.result.exception.message
        return answer

    async def ask(self, name: str, method: str) -> tuple[str, Json]:
        http = Said(method=method, url=f"https://host/api/{name}", headers={}, params={}, query={}, body=Said())
        answer = await self.invoke(name, "req", Said(http=http))
        return answer.return_value.http.status_code, json.loads(answer.return_value.http.body.bytes)

    async def deliver(self, job_id: str) -> None:
        body = Said(string=json.dumps({"job": job_id}))
        await self.invoke("work", "message", body, DequeueCount=Said(json="1"), Id=Said(string="1"))

    async def tick(self) -> None:
        await self.invoke("tend", "timer", Said(json='{"IsPastDue": false}'))


async def migrate(store: str) -> Json:
    from b24migrate.clock import SystemClock
    from b24migrate.entities import catalog
    from b24migrate.stores import open_store

    worker = Worker()
    await worker.start()
    begun = await worker.ask("start", "POST")
    opened = open_store(store, catalog().tables, SystemClock())
    for _ in range(500):
        waiting = opened.queue.jobs()
        for one in waiting:
            await worker.deliver(one.job.id)
        await worker.tick()
        if not waiting:
            break
    opened.store.close()
    status = await worker.ask("status", "GET")
    return {"bindings": worker.bindings, "begun": begun, "status": status}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(migrate(sys.argv[1]))))
