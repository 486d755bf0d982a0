"""Every answer that is not an answer becomes one of our errors."""

from __future__ import annotations

import pytest

from b24migrate.bitrix.faults import FAULTS, Caller, Fault, to_error
from b24migrate.model.errors import GateUnmet, Halted, Limited, MigrationError, Permanent, Transient

# The table of bitrix24-rest-1 §A4, code by code.
DOCUMENTED = [
    "QUERY_LIMIT_EXCEEDED",
    "OPERATION_TIME_LIMIT",
    "OVERLOAD_LIMIT",
    "INTERNAL_SERVER_ERROR",
    "ERROR_UNEXPECTED_ANSWER",
    "ERROR_CORE",
    "ERROR_ARGUMENT",
    "ERROR_NOT_FOUND",
    "INVALID_CREDENTIALS",
    "NO_AUTH_FOUND",
    "insufficient_scope",
    "INVALID_REQUEST",
    "ACCESS_DENIED",
    "WRONG_AUTH_TYPE",
    "insufficient_auth_type",
    "ACCESS_ERROR",
    "expired_token",
    "invalid_token",
    "APPLICATION_NOT_FOUND",
    "PAYMENT_REQUIRED",
    "authorization_error",
    "user_access_error",
    "METHOD_CONFIRM_WAITING",
    "METHOD_CONFIRM_DENIED",
    "ERROR_METHOD_NOT_FOUND",
    "ERROR_BATCH_LENGTH_EXCEEDED",
    "ERROR_BATCH_METHOD_NOT_ALLOWED",
    "ERROR_MANIFEST_IS_NOT_AVAILABLE",
    "PORTAL_DELETED",
    "DIALOG_ID_EMPTY",
    "CHAT_ID_EMPTY",
    "FIRST_ID_STRING",
    "LAST_ID_STRING",
    "WRONG_ENCODING",
    "SONET_CONTROLLER_WORKGROUP_EMPTY",
    "SONET_CONTROLLER_WORKGROUP_NOT_FOUND",
]


@pytest.mark.parametrize("code", DOCUMENTED)
def test_every_documented_code_is_in_the_table(code: str) -> None:
    assert code in FAULTS
    error = to_error(200, b'{"error":"%s","error_description":"x"}' % code.encode(), "user.get")
    assert error is not None
    assert error.code == code
    assert error.hint


@pytest.mark.parametrize("message", [b"22002", b'"22002"', b'"MAIN_CONTROLLER_22002"'])
def test_a_controller_without_the_action_does_not_have_the_method(message: bytes) -> None:
    text = b"Could not find description of list in Bitrix\\\\Tasks\\\\Rest\\\\Controllers\\\\Task"
    error = to_error(400, b'{"error":%s,"error_description":"%s"}' % (message, text), "tasks.task.list")
    assert isinstance(error, Permanent)
    assert error.code == "ERROR_METHOD_NOT_FOUND"
    other = to_error(400, b'{"error":%s,"error_description":"Could save nothing"}' % message, "tasks.task.list")
    assert other is not None
    assert other.code == message.decode().strip('"')


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_says_what_it_means_and_what_to_do(fault: Fault) -> None:
    assert fault.meaning.endswith((".", "!"))
    assert fault.fix.endswith(".")


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (
            503,
            b'{"error":"QUERY_LIMIT_EXCEEDED","error_description":"Too many requests"}',
            Limited,
            "QUERY_LIMIT_EXCEEDED",
        ),
        (429, b'{"error":"OPERATION_TIME_LIMIT"}', Limited, "OPERATION_TIME_LIMIT"),
        (401, b'{"error":"OVERLOAD_LIMIT"}', Halted, "OVERLOAD_LIMIT"),
        (500, b'{"error":"INTERNAL_SERVER_ERROR"}', Transient, "INTERNAL_SERVER_ERROR"),
        (400, b'{"error":"ERROR_CORE"}', Permanent, "ERROR_CORE"),
        (500, b'{"error":"ERROR_CORE"}', Transient, "ERROR_CORE"),
        (403, b'{"error":"ACCESS_ERROR"}', Permanent, "ACCESS_ERROR"),
        (200, b'{"error":"insufficient_scope"}', GateUnmet, "insufficient_scope"),
        (401, b'{"error":"INVALID_CREDENTIALS"}', GateUnmet, "INVALID_CREDENTIALS"),
        (400, b'{"error":"","error_description":"Wrong group ID"}', Permanent, "EMPTY"),
        (500, b'{"error":"","error_description":"x"}', Transient, "EMPTY"),
        (400, b'{"error":0,"error_description":"x"}', Permanent, "0"),
        (400, b'{"error":100}', Permanent, "100"),
        (200, b'{"error":"SOMETHING_NEW"}', Permanent, "SOMETHING_NEW"),
        (502, b'{"error":"SOMETHING_NEW"}', Transient, "SOMETHING_NEW"),
        (
            400,
            b'{"error":{"code":"BITRIX_REST_V3_EXCEPTION_X","message":"m"}}',
            Permanent,
            "BITRIX_REST_V3_EXCEPTION_X",
        ),
        (
            401,
            b'{"error":{"code":"BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION"}}',
            GateUnmet,
            "BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION",
        ),
        (502, b"<html>Bad gateway", Transient, "HTTP_502"),
        (504, b"", Transient, "HTTP_504"),
        (500, b"<html>", Transient, "HTTP_500"),
        (503, b"busy", Transient, "HTTP_503"),
        (403, b"<html>Forbidden", Transient, "HTTP_403"),
        (404, b"<html>Not found", Transient, "HTTP_404"),
        (413, b"<html>Too large", Permanent, "HTTP_413"),
        (429, b"<html>Slow down", Limited, "HTTP_429"),
        (302, b"", Transient, "HTTP_302"),
        (200, b"<!DOCTYPE html><title>Log in", Transient, "HTML_ANSWER"),
        (200, b'{"result":[{"ID":"1"', Transient, "TRUNCATED_ANSWER"),
        (200, b"", Transient, "TRUNCATED_ANSWER"),
        (200, b'{"time":{}}', Transient, "STRANGE_ANSWER"),
        (200, b"[1]", Transient, "STRANGE_ANSWER"),
        (500, b'{"result":true}', Transient, "HTTP_500"),
    ],
)
def test_what_came_back_is_sorted_by_what_to_do(
    status: int, body: bytes, kind: type[MigrationError], code: str
) -> None:
    error = to_error(status, body, "user.get")
    assert type(error) is kind
    assert error.code == code


def test_a_result_that_is_null_or_false_is_an_answer() -> None:
    for body in (b'{"result":null}', b'{"result":false}', b'{"result":[],"error":null}'):
        assert to_error(200, body, "im.chat.get") is None


def test_a_stated_wait_is_honoured() -> None:
    error = to_error(503, b'{"error":"QUERY_LIMIT_EXCEEDED","retry_after":"7"}', "import.users.batch")
    assert isinstance(error, Limited)
    assert error.wait_s == 7


def test_a_refused_webhook_is_named_and_a_missing_scope_too() -> None:
    caller = Caller("the source webhook of user 7 (ab12cd)", "auth.cloud")
    refused = to_error(401, b'{"error":"INVALID_CREDENTIALS"}', "user.get", caller)
    assert "user 7 (ab12cd)" in str(refused)
    lacking = to_error(401, b'{"error":"insufficient_scope"}', "sonet_group.get", caller)
    assert "`sonet_group`" in str(lacking)
    assert isinstance(lacking, GateUnmet)
    assert lacking.exit_code == 3


@pytest.mark.parametrize(
    ("method", "scope"),
    [("catalog.product.list", "catalog"), ("voximplant.statistic.get", "telephony"), ("crm.activity.list", "crm")],
)
def test_the_scope_of_each_family_is_named(method: str, scope: str) -> None:
    assert f"`{scope}`" in str(to_error(401, b'{"error":"insufficient_scope"}', method))


def test_html_in_a_description_does_not_reach_people() -> None:
    error = to_error(400, b'{"error":"ERROR_CORE","error_description":"a<br>b &amp; c"}', "x")
    assert "a b & c" in str(error)


@pytest.mark.parametrize("body", [b'{"result":true}', b"busy"])
def test_a_bare_status_is_said(body: bytes) -> None:
    assert " HTTP 507." in str(to_error(507, body, "x"))
