"""The TensorBoard plugin: its routes, whether it is active, and its tab. All other modules are loaded when needed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME, TAB_NAME

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from tensorboard_plugin_dlprof.routes.app import App, Services

_LOG = logging.getLogger(__name__)


class DlprofPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The plugin behind the tab GPU SUMMARY."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: Any) -> None:
        """Keep the context. Nothing is read or started before TensorBoard calls another method."""
        self._context = context
        self._lock = threading.Lock()
        self._services: Services | None = None
        self._app: App | None = None

    def get_plugin_apps(self) -> dict[str, WSGIApplication]:
        """One WSGI application for all paths: which ones there are is known when the first request loads them."""
        return {"/*": self._respond}

    def is_active(self) -> bool:
        """Whether any profile is known. The first call starts the search in the background and does not wait for it."""
        try:
            return self._started().catalog.any_profiles()
        except Exception:  # noqa: BLE001 - logged; TensorBoard would show an error about all plugins
            _LOG.exception("The GPU profiles cannot be searched for.")
            return False

    def frontend_metadata(self) -> Any:
        """The title and the frontend module of the tab."""
        return base_plugin.FrontendMetadata(es_module_path="/static/index.js", tab_name=TAB_NAME)

    def _respond(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond to a request. The first one loads SQLite and more."""
        services = self._started()
        with self._lock:
            if self._app is None:
                from tensorboard_plugin_dlprof.routes.app import App

                self._app = App(services)
        return self._app(environ, start_response)

    def _started(self) -> Services:
        with self._lock:
            if self._services is None:
                from tensorboard_plugin_dlprof.routes.services import services_of_tensorboard

                self._services = services_of_tensorboard(self._context)
            return self._services
