"""Which names a request may call this server by: the defence against DNS rebinding.

A page of another site can have its own name resolve to 127.0.0.1; the browser then lets it read whatever a server
of this machine answers, because to the browser both are one site. Only the ``Host`` header tells the two apart. A page
cannot do that with ``localhost`` or with an IP address, nor with the name of this machine.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.routes.requests import Forbidden

VARIABLE = "DLPROF_ALLOWED_HOSTS"
"""Names to answer to, for servers that nobody starts with flags: those of notebooks."""

PROXY_URL_VARIABLE = "TENSORBOARD_PROXY_URL"
"""TensorBoard's own, for notebooks: where the proxy serves it."""

_BEHIND_A_LOGIN = ("JUPYTERHUB_SERVICE_PREFIX", "COLAB_RELEASE_TAG", PROXY_URL_VARIABLE)
"""Set where the server is reached through a proxy that asks who it is, and whose name nobody here knows."""

_MOST_LETTERS_SHOWN = 80


class ForeignHost(Forbidden):
    """The request calls the server by a name that it does not answer to."""

    code = "foreign_host"


class Hosts(msgspec.Struct, frozen=True):
    """The names to answer to. ``names`` is None for any; ``remedy`` ends the sentence of a refusal."""

    names: frozenset[str] | None = None
    remedy: str = ""

    def check(self, environ: Mapping[str, Any]) -> None:
        """Does nothing for a name that is allowed.

        Raises:
            ForeignHost: another one.
        """
        name = _name(str(environ.get("HTTP_HOST", "")))
        if self.names is None or name in self.names or is_loopback(name) or _address(name) is not None:
            return
        called = f"the name {shown(Path(name[:_MOST_LETTERS_SHOWN]))}" if name else "a request without a name"
        raise ForeignHost(
            f"This server answers only under names of its own machine, not under {called}; {self.remedy}."
        )


def allowed_hosts(is_local: bool, listed: str, flag: str, environment: Mapping[str, str] | None = None) -> Hosts:
    """The names that a server answers to.

    Args:
        is_local: it listens on loopback addresses only, so that its names are known; of others only the list says them.
        listed: names with commas between, as the user gave them; ``*`` is any.
        flag: how the user gives them.
        environment: variables of the process, which may list more names or tell of a proxy.
    """
    variables = os.environ if environment is None else environment
    given = [name.strip() for name in f"{listed},{variables.get(VARIABLE, '')}".split(",")]
    names = {_name(name) for name in given if name}
    is_behind_a_login = any(variables.get(name) for name in _BEHIND_A_LOGIN)
    if "*" in names or (not names and (not is_local or is_behind_a_login)):
        return Hosts()
    own = socket.gethostname().lower()
    proxy = urllib.parse.urlsplit(variables.get(PROXY_URL_VARIABLE, "")).netloc.rpartition("@")[2]
    names |= {own, own.partition(".")[0], _name(proxy)}
    remedy = f"if you trust that name, give it to {flag}, or to the environment variable {VARIABLE}, and start again"
    return Hosts(frozenset(names - {""}), remedy)


def is_loopback(name: str) -> bool:
    """Whether a name or an address can only mean this machine."""
    address = _address(name)
    return name == "localhost" or name.endswith(".localhost") or (address is not None and address.is_loopback)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _name(header: str) -> str:
    """Name in a ``Host`` header, without the port."""
    name = header[1:].partition("]")[0] if header.startswith("[") else header.partition(":")[0]
    return name.lower().rstrip(".")
