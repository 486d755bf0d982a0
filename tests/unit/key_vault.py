"""A key vault on loopback, and beside it the endpoint where a managed identity gets its token, as App Service has it."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import trustme

TOKEN = "t0ken-of-the-identity"


class KeyVault(ThreadingHTTPServer):
    """`secrets` by name; a number instead of a text is the HTTP status that refuses it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.secrets: dict[str, str | int] = {}
        self.inner_code = ""
        self.identity_known = True
        self.is_vault = True
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: KeyVault
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/identity":
            return self._token()
        if not self.server.is_vault:
            return self._reply(200, b"<html>Welcome</html>")
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self._challenge()
        return self._secret(path.split("/")[2])

    def _token(self) -> None:
        if not self.server.identity_known:
            return self._json(400, {"message": "no identity", "statusCode": 400})
        return self._json(
            200, {"access_token": TOKEN, "expires_on": "4102444800", "resource": "x", "token_type": "Bearer"}
        )

    def _challenge(self) -> None:
        # The client insists that the vault's host lies below the resource that it names.
        resource = f"https://0.0.1:{self.server.server_port}"
        challenge = f'Bearer authorization="https://login.example/tenant", resource="{resource}"'
        return self._reply(401, b"", {"WWW-Authenticate": challenge})

    def _secret(self, name: str) -> None:
        self.server.asked.append(name)
        value = self.server.secrets.get(name, 404)
        if isinstance(value, str):
            return self._json(200, {"value": value, "id": f"{self.server.address}/secrets/{name}/1", "attributes": {}})
        error = {"code": "Refused", "message": f"hidden words, {TOKEN}", "innererror": {"code": self.server.inner_code}}
        return self._json(value, {"error": error})

    def _json(self, status: int, value: Any) -> None:
        self._reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it is called by
        """Says nothing."""


@contextmanager
def open_vault(folder: Path) -> Iterator[tuple[KeyVault, dict[str, str]]]:
    """The vault, and the environment in which the product knows its certificate and has an identity."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with KeyVault() as vault:
        vault.socket = tls.wrap_socket(vault.socket, server_side=True)
        thread = Thread(target=vault.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield (
                vault,
                {
                    "REQUESTS_CA_BUNDLE": str(folder / "authority.pem"),
                    "IDENTITY_ENDPOINT": f"{vault.address}/identity",
                    "IDENTITY_HEADER": "header",
                    "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
                },
            )
        finally:
            vault.shutdown()
            thread.join()
