"""A server of S3 on loopback, ``moto``'s, that misbehaves where a test wants it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from werkzeug.serving import make_server

_DENIED = b"<Error><Code>AccessDenied</Code><Message>secret-in-a-message</Message></Error>"

BUCKET = "bucket"
REGION = "us-east-1"


class Unruly:
    """The server. Keys are below ``BUCKET``."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.address = ""
        self.requests: list[tuple[str, str]] = []
        self.denied = ""
        """Part of the paths of requests that are refused."""
        self.before_get: Callable[[str], None] = lambda _path: None
        """Called before an object is sent, with its path."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """As WSGI wants it."""
        path = environ["PATH_INFO"]
        self.requests.append((environ["REQUEST_METHOD"], f"{path}?{environ['QUERY_STRING']}"))
        if self.denied and self.denied in f"{path}?{environ['QUERY_STRING']}":
            # An answer to HEAD has no body: what is left of one would be taken for the next answer.
            content = b"" if environ["REQUEST_METHOD"] == "HEAD" else _DENIED
            length = ("Content-Length", str(len(content)))
            start_response("403 Forbidden", [("Content-Type", "application/xml"), length])
            return [content]
        if environ["REQUEST_METHOD"] == "GET" and path.count("/") > 1:
            self.before_get(path)
        answer: Iterable[bytes] = self._app(environ, start_response)
        return answer

    def put(self, key: str, content: bytes) -> None:
        """Write an object without a request."""
        from moto.core import DEFAULT_ACCOUNT_ID
        from moto.s3.models import s3_backends

        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(BUCKET, key, content)

    def delete(self, key: str) -> None:
        """Delete an object without a request."""
        from moto.core import DEFAULT_ACCOUNT_ID
        from moto.s3.models import s3_backends

        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].delete_object(BUCKET, key)


@contextmanager
def serving() -> Iterator[Unruly]:
    """The server with an empty bucket."""
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends
    from moto.server import DomainDispatcherApplication, create_backend_app

    unruly = Unruly(DomainDispatcherApplication(create_backend_app))
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(BUCKET, REGION)
    server = make_server("127.0.0.1", 0, unruly, threaded=True)
    unruly.address = f"http://127.0.0.1:{server.port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield unruly
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()
