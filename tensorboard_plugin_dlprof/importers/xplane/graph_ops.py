"""Ops of compiled programs: what each piece of device work says of the HLO op or TensorFlow node that launched it.

An execution of an op is a maximal run, in the order of launches on one GPU within one run of a module, of work of the
same op; it also begins anew where its first kernel comes again.
"""

from __future__ import annotations

import json
import re

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import GraphOp, Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.importers.xplane import hlo
from tensorboard_plugin_dlprof.importers.xplane.host import Host
from tensorboard_plugin_dlprof.importers.xplane.paths import OpPath, is_jax_path, read_jax_path, read_tensorflow_path
from tensorboard_plugin_dlprof.importers.xplane.planes import Plane, as_int64, bytes_stat, read_stats
from tensorboard_plugin_dlprof.importers.xplane.runs import Launches, first_of_each
from tensorboard_plugin_dlprof.importers.xplane.wire import Source
from tensorboard_plugin_dlprof.importers.xplane.work import RUNTIMES_KERNELS, TEXTS, Work

_PROGRAM = re.compile(r"\((-?\d+)\)\Z")
_JIT_PREFIX = re.compile(r"(?:jit_|pjit_|pmap_)+")
_PRODUCTS = frozenset(("gemm", "conv", "attention"))
_PRODUCT_PATHS = frozenset(("dot_general", "conv_general_dilated", "ragged_dot", "dot"))
_MOST_OPERANDS = 16
_MOST_LETTERS = 4_096
"""Longer paths are cut: each of a path's scopes becomes a group with a path of its own."""
_COMMAND_BUFFER = re.compile(r"(?:command_buffer|call|CommandBuffer)?(?:[._]\d+)*\Z")
"""What work in a command buffer may give as its op: nothing, or the command buffer."""


class Modules:
    """The compiled modules of a profile, each read when it is first asked for."""

    def __init__(self, source: Source, planes: list[Plane]) -> None:
        self._source = source
        self._places: dict[int, tuple[int, int]] = {}
        self._programs: dict[str, set[int]] = {}
        self._read: dict[int, hlo.Module | None] = {}
        for plane in planes:
            for key, each in plane.metadata.items():
                place = bytes_stat(source, each)
                if place is not None:
                    match = _PROGRAM.search(each.name)
                    program_id = read_stats(source, each.stats, plane.stat_names).get("program_id")
                    program = int(match[1]) if match else program_id if isinstance(program_id, int) else key
                    self._places[as_int64(program)] = place
                    self._programs.setdefault(_PROGRAM.sub("", each.name), set()).add(as_int64(program))

    def get(self, program: int, name: str) -> hlo.Module | None:
        """The module with a number, or the only one of a name; None if the profile does not carry it."""
        named = self._programs.get(name, set())
        if program == -1 and len(named) == 1:
            (program,) = named
        if program not in self._read:
            place = self._places.get(program)
            self._read[program] = hlo.read_module(self._source, *place) if place else None
        return self._read[program]


class _Described(msgspec.Struct):
    """A description of device work in texts, and what the module knows of its op."""

    texts: dict[str, str]
    program: int
    graph: int
    kernel: str
    line: int
    module: hlo.Module | None
    instruction: hlo.Instruction | None
    path: str = ""
    is_tensorflow: bool = False
    is_in_buffer: bool = False
    """Whether it tells only the command buffer that it is in."""
    is_matched: bool = False
    """Whether its instruction in the command buffer was found by names or places."""


def graph_ops(work: Work, modules: Modules, strings: Strings) -> list[GraphOp | None]:
    """The op of each of ``work.descriptions``; None where it tells of none.

    Work of libraries in command buffers gets descriptions of its own, by its place among them.
    """
    described = [_described(each, modules, strings) for each in work.descriptions]
    _find_library_calls(work, described, strings)
    for each in described:
        each.path = each.path[:_MOST_LETTERS]
    differentiated = {_owner(each) for each in described if "jvp(" in each.path}
    differentiated |= {
        _owner(each)
        for each in described
        if each.module is not None and any("jvp(" in other.op_name for other in each.module.by_name.values())
    }
    return [_graph_op(each, _owner(each) in differentiated) for each in described]


def _owner(each: _Described) -> tuple[int, str]:
    return each.program, each.texts["hlo_module"]


def _described(description: dict[str, int], modules: Modules, strings: Strings) -> _Described:
    texts = {name: strings[description[name]] for name in TEXTS}
    module = modules.get(description["program_id"], texts["hlo_module"])
    kernel, line = strings[description["kernel"]], description["source_line"]
    instruction = module.by_name.get(texts["hlo_op"]) if module is not None else None
    result = _Described(
        texts, description["program_id"], description["cuda_graph_id"], kernel, line, module, instruction
    )
    if result.graph >= 0 and (instruction.opcode == "call" if instruction else _COMMAND_BUFFER.match(texts["hlo_op"])):
        result.is_in_buffer, texts["hlo_op"] = True, ""
    if result.is_in_buffer and module is not None:
        fits = module.by_kernel.get(kernel, [])
        if len(fits) == 1:
            _take(result, fits[0])
    if not result.is_matched:
        result.path, result.is_tensorflow = _path(texts, None if result.is_in_buffer else instruction)
    return result


def _take(described: _Described, instruction: hlo.Instruction) -> None:
    """Let work in a command buffer belong to an instruction."""
    described.instruction, described.is_matched = instruction, True
    described.texts["hlo_op"] = instruction.name
    described.path, described.is_tensorflow = _path(described.texts, instruction)


def _find_library_calls(work: Work, described: list[_Described], strings: Strings) -> None:
    """Names of libraries' kernels tell nothing: they are their calls in order, where a replay has as many of both."""
    waiting = [each.is_in_buffer and not each.is_matched and each.module is not None for each in described]
    rows = np.flatnonzero(np.array(waiting, np.bool_)[work.described])
    if not len(rows):
        return
    table = work.table
    rows = rows[np.lexsort((table.start_ns[rows], table.correlation[rows], table.device[rows]))]
    calls = [hlo.library_calls(each.module, each.instruction) if each.module else [] for each in described]
    known = np.array([len(each) for each in calls], np.int64)[work.described[rows]]
    first = np.append(True, np.diff(table.correlation[rows]) != 0)
    first[1:] |= table.device[rows[1:]] != table.device[rows[:-1]]
    begin = np.flatnonzero(first)
    replay = np.cumsum(first) - 1
    place = np.arange(len(rows)) - begin[replay]
    count = np.diff(np.append(begin, len(rows)))[replay]
    matching = (count == known) & (known > 0)
    pairs, number = np.unique(
        np.stack((work.described[rows[matching]], place[matching])), axis=1, return_inverse=True
    )  # fmt: skip
    work.described[rows[matching]] = len(described) + number.reshape(-1)
    for description, which in pairs.T.tolist():
        each = msgspec.structs.replace(described[description], texts=dict(described[description].texts))
        _take(each, calls[description][which])
        described.append(each)
        hlo_op = strings.intern(each.texts["hlo_op"])
        work.descriptions.append({**work.descriptions[description], "hlo_op": hlo_op})


def _path(texts: dict[str, str], instruction: hlo.Instruction | None) -> tuple[str, bool]:
    """The op's path, and whether it is TensorFlow's: the first of the places where one may be that has one."""
    if texts["op_name"]:
        return texts["op_name"], False
    if instruction is not None and "/" in instruction.op_name:
        return instruction.op_name, False
    name, prefix = texts["name"], texts["prefix"]
    if prefix and not name.startswith(prefix):
        name = f"{prefix}/{name}" if name else prefix
    if "/" in name:
        return name, False
    if instruction is not None and instruction.op_name:
        return instruction.op_name, False
    if name:
        return name, False
    if texts["tf_op"] and texts["tf_op"].rstrip(":") != "XlaModule":
        return texts["tf_op"], not is_jax_path(texts["tf_op"])
    annotation = (texts["annotation"] or texts["level 0"]).partition("#")[0]
    return annotation, bool(annotation)


def _graph_op(each: _Described, differentiated: bool) -> GraphOp | None:
    hlo_op = each.texts["hlo_op"]
    if each.is_tensorflow:
        return _tensorflow_op(each.path)
    if not hlo_op and not each.path:
        return _command_buffer(each) if each.is_in_buffer else _of_runtime(each.kernel)
    kind = hlo.op_type(each.module, each.instruction) if each.module and each.instruction else ""
    stack = each.instruction.source if each.instruction is not None else ""
    if not stack and each.texts["source_file"]:
        stack = f"{each.texts['source_file']}({max(each.line, 0)}): "
    # Old collectors tell no program, and each module numbers its ops from one.
    key = f"{each.program}:{each.texts['hlo_module']}:{hlo_op or each.path}"
    title = f" {hlo_op}" if hlo_op else ""
    if each.module and each.instruction and (collective := hlo.collective(each.module, each.instruction)):
        groups = collective.replica_groups or "all"
        return GraphOp(f"/collectives/{groups}/{kind}{title}", kind, "", key, stack)
    root = _JIT_PREFIX.sub("", each.texts["hlo_module"])
    if "/" not in each.path and not is_jax_path(each.path):
        # What moves or converts a parameter has the parameter's name.
        path = "/".join(["", *filter(None, (root, "parameters" if each.path else "", each.path))])
        direction = "" if differentiated or not each.path else "fprop"
        return _with_work(GraphOp(f"{path}/{kind or 'op'}{title}", kind or "op", direction, key, stack), each)
    op_path = read_jax_path(each.path)
    op_type = _op_type(op_path, kind)
    path = "/".join(("", *filter(None, (op_path.module or root, *op_path.groups)), op_type)).replace("//", "/")
    again = " (recomputed)" if op_path.recomputed else ""
    matched = " (matched by name)" if each.is_matched else ""
    direction = "bprop" if op_path.backward else "fprop" if op_path.forward or not differentiated else ""
    return _with_work(GraphOp(f"{path}{title}{again}{matched}", op_type, direction, key, stack), each)


def _op_type(op_path: OpPath, kind: str) -> str:
    """The type by the path, as users know it; by the HLO op where only one of them is a product: the path is that of
    what else was fused, or of what a layout is changed for."""
    if not op_path.op_type:
        return kind or "op"
    is_product = kind in ("gemm", "conv")
    if kind and (kind not in _PRODUCTS if op_path.op_type in _PRODUCT_PATHS else is_product):
        return kind
    return op_path.op_type


def _tensorflow_op(annotation: str) -> GraphOp:
    op_path = read_tensorflow_path(annotation)
    node = annotation.partition("#")[0].rpartition(":")
    last = (node[0] or node[2]).rstrip("/").rpartition("/")[2]
    path = "/".join(("", *op_path.groups, last))
    return GraphOp(path, op_path.op_type, "bprop" if op_path.backward else "fprop", path, "")


def _of_runtime(kernel: str) -> GraphOp | None:
    """Copies and fills of AMD's runtime, which are kernels there."""
    if not kernel.startswith(RUNTIMES_KERNELS):
        return None
    path = f"/XLA runtime/{kernel}"
    return GraphOp(path, "memset" if "fill" in kernel.lower() else "copy", "", path, "")


def _command_buffer(each: _Described) -> GraphOp:
    root = _JIT_PREFIX.sub("", each.texts["hlo_module"])
    path = f"/{root}" if root else ""
    return GraphOp(f"{path}/command buffer {each.graph}", "command_buffer", "", f"buffer:{each.graph}", "")


def _with_work(op: GraphOp, each: _Described) -> GraphOp:
    """The op with what its HLO instruction says of shapes, matrix products and bytes."""
    if each.module is None or each.instruction is None:
        return op
    known = [each.module.by_id[key] for key in each.instruction.operands if key in each.module.by_id]
    operands = [shape for other in known for shape in other.shapes][:_MOST_OPERANDS]
    op.shapes = json.dumps([list(shape.lengths) for shape in operands], separators=(",", ":"))
    op.dtypes = json.dumps([shape.data_type for shape in operands], separators=(",", ":"))
    for product in hlo.products(each.module, each.instruction):
        shapes = json.dumps([list(shape) for shape in product.shapes], separators=(",", ":"))
        op.products.append(
            (product.function, shapes, json.dumps([product.data_type] * len(product.shapes), separators=(",", ":")))
        )
    return op


class Executions(msgspec.Struct):
    """Executions of ops: one row each, by GPU, then in the order of launches."""

    start_ns: Int64s
    """Start of the first launch call; of the first work if no call was recorded."""
    end_ns: Int64s
    thread: Int32s
    """Row of ``Host.threads``."""
    op: Int32s
    """Index into the ops; all rows have one."""
    of_work: Int32s
    """Row of the execution for each piece of device work; -1 for none."""


def find_executions(work: Work, launches: Launches, ops: list[GraphOp | None], host: Host) -> Executions:
    """The executions of all ops."""
    keys: dict[str, int] = {}
    of_description = [-1 if op is None else keys.setdefault(op.key, index) for index, op in enumerate(ops)]
    op = np.array(of_description, np.int32)[work.described] if ops else np.zeros(0, np.int32)
    rows = np.flatnonzero(op >= 0)
    table = work.table
    rows = rows[np.lexsort((table.start_ns[rows], launches.start_ns[rows], launches.run[rows], table.device[rows]))]
    if not len(rows):
        long, short = np.zeros(0, np.int64), np.zeros(0, np.int32)
        return Executions(long, long, short, short, np.full(len(op), -1, np.int32))
    stretch = np.zeros(len(rows), np.bool_)
    stretch[0] = True
    for column in (table.device, launches.run, op):
        stretch[1:] |= column[rows[1:]] != column[rows[:-1]]
    head = rows[first_of_each(stretch)]
    again = np.ones(len(rows), np.bool_)
    for column in (table.name, *table.grid.T, table.kind):
        again &= column[rows] == column[head]
    begins = stretch | again
    first = np.flatnonzero(begins)
    of_work = np.full(len(op), -1, np.int32)
    of_work[rows] = np.cumsum(begins) - 1
    call = launches.call[rows[first]]
    thread = np.zeros(len(first), np.int32)
    thread[call >= 0] = host.calls.thread[call[call >= 0]]
    return Executions(
        start_ns=np.minimum.reduceat(launches.start_ns[rows], first),
        end_ns=np.maximum.reduceat(launches.end_ns[rows], first),
        thread=thread,
        op=op[rows[first]],
        of_work=of_work,
    )
