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
from typing import TYPE_CHECKING

from tensorboard.backend.http_util import Respond
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, reason_of
from tensorboard_plugin_dlprof.routes import responses
from tensorboard_plugin_dlprof.routes.app import PREFIX
from tensorboard_plugin_dlprof.routes.hosts import Hosts, allowed_hosts, is_loopback

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from werkzeug.wrappers import Response

    from tensorboard_plugin_dlprof.routes.app import App


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
<base href="{PREFIX[1:]}/">
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


_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_IDLE_SECONDS = 60.0
_BACKLOG = 128


def site(app: App) -> WSGIApplication:
    """The whole server as one WSGI application: the plugin's, and the page. The page itself is anybody's: it holds
    nothing, and shows that the rest refuses foreign host names."""

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        if request.path.startswith(f"{PREFIX}/"):
            return app(environ, start_response)
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

    return respond


def bind(address: str, port: int, names: str = "") -> tuple[socket.socket, str, Hosts]:
    """A socket that listens, the URL of a server behind it, and the host names that requests to it may use.

    Args:
        address: Name or address of this machine.
        port: 0 is any free one.
        names: Further names, with commas between them.

    Raises:
        BadRequest: The port is taken, or the address is none of this machine.
    """
    bound = _bind(address, port)
    host, port = bound.getsockname()[:2]
    hosts = allowed_hosts(is_loopback(host.partition("%")[0]), names, "--allowed-hosts")
    return bound, f"http://{_shown(address, host)}:{port}/", hosts


def make_viewer(app: App, bound: socket.socket) -> BaseWSGIServer:
    """A server on a socket from ``bind``, which it takes over."""
    host, port = bound.getsockname()[:2]
    # Werkzeug would end the process where the port is taken.
    return make_server(host, port, site(app), threaded=True, request_handler=_Quiet, fd=bound.detach())


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
