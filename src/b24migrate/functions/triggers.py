"""The bindings: the functions that the host may call, and when. They contain no logic."""

from __future__ import annotations

import json

import azure.functions as func

from b24migrate.app_cache import AppCache
from b24migrate.functions import http, queue
from b24migrate.functions.dashboard import Dashboard
from b24migrate.functions.http import Reply

STORAGE = "Storage"  # the app settings `Storage__queueServiceUri` and so on: by identity, without a key
EVERY_MINUTE = "0 * * * * *"


def blueprint(keeper: AppCache) -> func.Blueprint:
    functions = func.Blueprint()  # type: ignore[no-untyped-call]

    @functions.route("api/start", methods=["POST"])
    def start(req: func.HttpRequest) -> func.HttpResponse:
        return _response(http.start(keeper, req.get_body()))

    @functions.route("api/do/{mini_task}", methods=["POST"])
    def do(req: func.HttpRequest) -> func.HttpResponse:
        return _response(http.do(keeper, req.route_params["mini_task"], req.get_body()))

    @functions.route("api/retry", methods=["POST"])
    def retry(req: func.HttpRequest) -> func.HttpResponse:
        return _response(http.retry(keeper, req.get_body()))

    @functions.route("api/pause", methods=["POST"])
    def pause(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 (the host passes it by name)
        return _response(http.pause(keeper))

    @functions.route("api/resume", methods=["POST"])
    def resume(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 (the host passes it by name)
        return _response(http.resume(keeper))

    @functions.route("api/status", methods=["GET"])
    def status(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 (the host passes it by name)
        return _response(http.status(keeper))

    @functions.route("api/errors", methods=["GET"])
    def errors(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 (the host passes it by name)
        return _response(http.errors(keeper))

    pages = Dashboard(keeper)

    @functions.route("{*path}", methods=["GET", "HEAD", "POST"], auth_level=func.AuthLevel.ANONYMOUS)  # its own token
    async def dashboard(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
        return await pages.answer(req, context)

    @functions.queue_trigger("message", "work", STORAGE)
    def work(message: func.QueueMessage) -> None:
        queue.work(keeper, message.get_body(), message.dequeue_count or 1)

    @functions.queue_trigger("message", "work-poison", STORAGE)
    def bury(message: func.QueueMessage) -> None:
        queue.bury(keeper, message.get_body())

    @functions.timer_trigger("timer", EVERY_MINUTE)
    def tend(timer: func.TimerRequest) -> None:  # noqa: ARG001
        queue.tend(keeper)

    return functions


def _response(reply: Reply) -> func.HttpResponse:
    body = json.dumps(reply.body, ensure_ascii=False)
    return func.HttpResponse(body, status_code=reply.status, mimetype="application/json", charset="utf-8")
