"""Prints what TensorBoard's data provider lists for our plugin: ``list_metadata.py LOGDIR fast|slow``.

A program of its own, because the data server that it starts lives as long as the process.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.data import server_ingester
from tensorboard.util.grpc_util import ChannelCredsType


def fast_provider(logdir: str) -> Any:
    """The Rust data server."""
    ingester = server_ingester.SubprocessServerDataIngester(
        server_binary=server_ingester.get_server_binary(),
        logdir=logdir,
        reload_interval=1,
        channel_creds_type=ChannelCredsType.LOCAL,
    )
    ingester.start()
    return ingester.data_provider


def slow_provider(logdir: str) -> Any:
    """The Python multiplexer."""
    multiplexer = EventMultiplexer()
    multiplexer.AddRunsFromDirectory(logdir)
    multiplexer.Reload()
    return MultiplexerDataProvider(multiplexer, logdir)


def main() -> None:
    """Waits until something is listed, for a minute at most."""
    logdir, mode = sys.argv[1:]
    provider = fast_provider(logdir) if mode == "fast" else slow_provider(logdir)
    listed: Any = {}
    for _ in range(60):
        listed = provider.list_tensors(RequestContext(), experiment_id="", plugin_name="dlprof")
        if listed:
            break
        time.sleep(1)
    print(json.dumps({run: {tag: it.plugin_content.hex() for tag, it in tags.items()} for run, tags in listed.items()}))


if __name__ == "__main__":
    main()
