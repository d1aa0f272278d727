"""The TensorBoard plugin: its routes, whether it is active, and its tab. All other modules are loaded when needed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME, TAB_NAME

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from tensorboard_plugin_dlprof.routes.app import Services

_LOG = logging.getLogger(__name__)

ROUTES = (
    "/profiles",
    "/dashboard",
    "/compare",
    "/compare_series",
    "/compare_row",
    "/table",
    "/groups",
    "/iterations",
    "/diagnosis",
    "/findings",
    "/efficiency",
    "/memory",
    "/memory_curve",
    "/memory_segments",
    "/memory_block",
    "/memory_at",
    "/throughput",
    "/timeline",
    "/timeline_item",
    "/launches",
    "/trace",
    "/job",
    "/job_rank",
    "/job_cells",
    "/job_collectives",
    "/job_collective",
    "/export",
    "/import",
    "/cancel",
    "/aggregate",
    "/delete_aggregation",
    "/cancel_aggregation",
    "/aggregation_jobs",
    "/static/*",
)


class DlprofPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The plugin behind the tab GPU SUMMARY."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: Any) -> None:
        """Keep the context. Nothing is read or started before TensorBoard calls another method."""
        self._context = context
        self._lock = threading.Lock()
        self._services: Services | None = None
        self._apps: dict[str, WSGIApplication] | None = None

    def get_plugin_apps(self) -> dict[str, WSGIApplication]:
        """The WSGI application of each route."""
        return {route: self._late(route) for route in ROUTES}

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

    def _late(self, route: str) -> WSGIApplication:
        """An application that loads the real one, and SQLite and more with it, at the first request."""

        def application(environ: Any, start_response: Any) -> Iterable[bytes]:
            return self._app_routes()[route](environ, start_response)

        return application

    def _app_routes(self) -> dict[str, WSGIApplication]:
        services = self._started()
        with self._lock:
            if self._apps is None:
                from tensorboard_plugin_dlprof.routes.app import App

                self._apps = App(services).routes()
            return self._apps

    def _started(self) -> Services:
        with self._lock:
            if self._services is None:
                from tensorboard_plugin_dlprof.routes.services import services_of_tensorboard

                self._services = services_of_tensorboard(self._context)
            return self._services
