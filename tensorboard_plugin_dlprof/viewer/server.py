"""The standalone server: a thread for each request, on an address of this machine unless another one is asked for.

Its page loads the frontend under the content security policy that TensorBoard's own pages have.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorboard.backend.http_util import Respond
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, reason_of
from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.routes import responses
from tensorboard_plugin_dlprof.routes.hosts import ForeignHost, Hosts, allowed_hosts, is_loopback

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from werkzeug.wrappers import Request, Response

    from tensorboard_plugin_dlprof.routes.app import App


BASE = "data/plugin/dlprof/"
"""Path of the routes in TensorBoard, so that links are the same in both servers."""

_SCRIPT = 'import("./static/index.js").then((module) => void module.render());'

_ICON = "data:image/svg+xml;base64," + base64.b64encode(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path fill="#34a853" d="M2 4h16v3H2z"/>'
    b'<path fill="#f28b00" d="M2 8.5h10v3H2z"/><path fill="#4080e0" d="M8 13h9v3H8z"/></svg>'
).decode("ascii")
"""The logo in the page's header; without an icon, browsers request a file that does not exist."""

_HTML = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>DLProf Viewer</title>
<base href="{BASE}">
<link rel="icon" href="{_ICON}">
</head>
<body><script type="module">{_SCRIPT}</script></body>
</html>
"""


def serve_page(request: Request) -> Response:
    """Respond with the only page; what it shows depends on the fragment of the URL, which browsers do not send."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode("ascii")
    response: Response = Respond(request, _HTML, "text/html", csp_scripts_sha256s=[digest])
    return response


PREFIX = f"/data/plugin/{PLUGIN_NAME}"
_STATIC = f"{PREFIX}/static/"
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_IDLE_SECONDS = 60.0
_BACKLOG = 128


class Site:
    """The whole server as one WSGI application.

    Args:
        app: the plugin's routes.
        hosts: the names that it answers to. The page itself is anybody's: it holds nothing, and shows the refusal.
    """

    def __init__(self, app: App, hosts: Hosts) -> None:
        self._hosts = hosts
        self._routes = {f"{PREFIX}{path}": application for path, application in app.routes().items()}

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Respond to a request."""
        request = Request(environ)
        application = self._application(request.path)
        if application is not None:
            try:
                if not request.path.startswith(_STATIC):
                    self._hosts.check(environ)
            except ForeignHost as foreign:
                application = responses.failure(request, foreign)
            return application(environ, start_response)
        if request.path != "/":
            response = responses.failure(
                request, NotFound(f"There is no page {request.path[:80]!r}; the viewer is at /.")
            )
        elif request.method not in ("GET", "HEAD"):
            error = responses.MethodNotAllowed("This address takes GET and HEAD only.")
            response = responses.failure(request, error, allowed="GET, HEAD")
        else:
            response = serve_page(request)
        return response(environ, start_response)

    def _application(self, path: str) -> WSGIApplication | None:
        for route, application in self._routes.items():
            if path == route or (route.endswith("*") and path.startswith(route[:-1])):
                return application
        return None


def make_viewer(app: App, address: str, port: int, names: str = "") -> tuple[BaseWSGIServer, str]:
    """A server that is bound and does not serve yet, and its URL. Port 0 is any free one.

    It answers to ``names`` (comma between) beside those of this machine.

    Raises:
        BadRequest: the port is taken, or the address is none of this machine.
    """
    bound = _bind(address, port)
    host, port = bound.getsockname()[:2]
    site = Site(app, allowed_hosts(is_loopback(host.partition("%")[0]), names, "--allowed-hosts"))
    # Werkzeug would end the process where the port is taken; it takes the socket over.
    server = make_server(host, port, site, threaded=True, request_handler=_Quiet, fd=bound.detach())
    return server, f"http://{_shown(address, host)}:{port}/"


def _bind(address: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # a name with an empty or too long part cannot be asked for
        reason = f" ({reason_of(error)})" if isinstance(error, OSError) else ""
        raise BadRequest(f"{address} is not an address of this machine{reason}; give another with -b.") from None
    # localhost is often both; browsers try IPv4 as well, and many machines have no IPv6.
    family, kind, protocol, _, place = sorted(addresses, key=lambda item: item[0] != socket.AF_INET)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise BadRequest(f"Port {port} of {address} is taken; give another with -p, or -p 0 for any.") from None
        if error.errno == errno.EACCES:
            raise BadRequest(f"Port {port} needs administrator rights; give one from 1024 up with -p.") from None
        raise BadRequest(f"{address} is not an address of this machine; give another with -b.") from None
    return bound


def _shown(address: str, host: str) -> str:
    name = address if address in _LOOPBACK_NAMES else host
    return f"[{name}]" if ":" in name else name


class _Quiet(WSGIRequestHandler):
    """Logs no requests, because important messages would get lost among them."""

    timeout = _IDLE_SECONDS

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Do nothing."""
