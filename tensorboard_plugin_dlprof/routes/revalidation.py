"""Answers that the browser may have already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment
    from werkzeug.datastructures import Headers


class _NotModified(Response):
    """Keeps its ``Content-Type``, which Werkzeug takes off a 304: TensorBoard warns of every answer without."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """Those of Werkzeug, with the type."""
        headers = super().get_wsgi_headers(environ)
        headers.setdefault("Content-Type", self.headers["Content-Type"])
        return headers


def conditional(request: Request, response: Response) -> Response:
    """The response, or an empty 304 where its ETag is one of those that the request names."""
    response.make_conditional(request)
    return _NotModified(status=304, headers=response.headers) if response.status_code == 304 else response
