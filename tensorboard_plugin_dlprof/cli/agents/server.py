"""The server of the Model Context Protocol, of the official package ``mcp``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, get_args

import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from tensorboard_plugin_dlprof.cli.agents.profiles import Profiles
from tensorboard_plugin_dlprof.cli.agents.tools import INSTRUCTIONS, Tools
from tensorboard_plugin_dlprof.errors import ProfileError, reason_of
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.routes.responses import to_json

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def make_server(logdir: str, url: str) -> MCPServer:
    """The server over a log directory.

    Args:
        logdir: As for TensorBoard.
        url: Address of a TensorBoard of this log directory, for links.

    Raises:
        NotFound: There is no such folder.
    """
    profiles = Profiles(logdir, url)
    server = MCPServer("dlprof", title="GPU profiles", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING")
    for method in Tools(profiles).all():
        name = method.__name__
        server.add_tool(_in_thread(profiles, name), name=name, annotations=READS, structured_output=False)
    return server


def _in_thread(profiles: Profiles, name: str) -> Callable[..., Awaitable[str]]:
    """The tool as the package takes it: asynchronous, with a context that tells progress, and JSON as its result."""
    method = getattr(Tools, name)

    async def tool(ctx: Context, **given: Any) -> str:
        def progress(stage: str, fraction: float) -> None:
            anyio.from_thread.run(ctx.report_progress, fraction, 1.0, stage)

        bound = getattr(Tools(profiles, progress), name)
        reported: str = await anyio.to_thread.run_sync(functools.partial(_asked, bound, given))
        return reported

    signature = inspect.signature(method, eval_str=True)
    own = [_described(each) for each in signature.parameters.values() if each.name != "self"]
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    tool.__signature__ = signature.replace(parameters=[*own, context], return_annotation=str)  # type: ignore[attr-defined]
    tool.__annotations__ = {**{each.name: each.annotation for each in own}, "ctx": Context, "return": str}
    tool.__name__, tool.__doc__ = name, inspect.getdoc(method)
    return tool


def _described(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter with the text of its annotation as its description."""
    kind, text = get_args(parameter.annotation)
    return parameter.replace(annotation=Annotated[kind, Field(description=text)])


def _asked(method: Callable[..., dict[str, Any]], given: dict[str, Any]) -> str:
    """The answer as JSON. Errors that users can act on are told, others are logged."""
    try:
        return to_json(method(**given)).decode()
    except ProfileError as error:
        raise ToolError(str(error)) from None
    except OSError as error:
        raise ToolError(f"The profile cannot be read: {reason_of(error)}.") from None
    except MemoryError:
        raise ToolError("There is not enough memory for this profile; record fewer iterations.") from None
