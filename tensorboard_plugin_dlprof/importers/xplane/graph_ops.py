"""Ops of compiled programs: what each piece of device work says of the HLO op or TensorFlow node that launched it.

An execution of an op is a maximal run, in the order of launches on one GPU within one run of a module, of work of the
same op; it also begins anew where its first kernel comes again.
"""

from __future__ import annotations

import json
import re
from collections import Counter

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import GraphOp, Int64s, MarkedIterations, Strings
from tensorboard_plugin_dlprof.importers.xplane import hlo
from tensorboard_plugin_dlprof.importers.xplane.host import Host
from tensorboard_plugin_dlprof.importers.xplane.paths import OpPath, read_jax_path, read_tensorflow_path
from tensorboard_plugin_dlprof.importers.xplane.planes import Plane, bytes_stat
from tensorboard_plugin_dlprof.importers.xplane.wire import Source
from tensorboard_plugin_dlprof.importers.xplane.work import TEXTS, Work, blit_type

_PROGRAM = re.compile(r"\((-?\d+)\)\Z")
_JIT_PREFIX = re.compile(r"(?:jit_|pjit_|pmap_)+")
_PRODUCTS = frozenset(("gemm", "conv", "attention"))
_PRODUCT_PATHS = frozenset(("dot_general", "conv_general_dilated", "ragged_dot", "dot"))
_MOST_OPERANDS = 16


class Modules:
    """The compiled modules of a profile, each read when it is first asked for."""

    def __init__(self, source: Source, planes: list[Plane]) -> None:
        self._source = source
        self._places: dict[int, tuple[int, int]] = {}
        self._read: dict[int, hlo.Module | None] = {}
        for plane in planes:
            for key, each in plane.metadata.items():
                place = bytes_stat(source, each)
                if place is not None:
                    found = _PROGRAM.search(each.name)
                    self._places[int(found[1]) if found else key] = place

    def __len__(self) -> int:
        return len(self._places)

    def get(self, program: int) -> hlo.Module | None:
        """The module with a number; None if the profile does not carry it."""
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
    module: hlo.Module | None
    instruction: hlo.Instruction | None
    path: str = ""
    is_tensorflow: bool = False
    by_kernel_name: bool = False


def graph_ops(work: Work, modules: Modules, strings: Strings) -> list[GraphOp | None]:
    """The op of each of ``work.descriptions``; None where it tells of none."""
    found = [_described(each, modules, strings) for each in work.descriptions]
    differentiated = {_owner(each) for each in found if "jvp(" in each.path}
    differentiated |= {
        _owner(each)
        for each in found
        if each.module is not None and any("jvp(" in other.op_name for other in each.module.by_name.values())
    }
    return [_graph_op(each, _owner(each) in differentiated) for each in found]


def _owner(each: _Described) -> tuple[int, str]:
    return each.program, each.texts["hlo_module"]


def _described(description: dict[str, int], modules: Modules, strings: Strings) -> _Described:
    texts = {name: strings[description[name]] for name in TEXTS}
    module = modules.get(description["program_id"])
    kernel = strings[description["kernel"]]
    instruction = module.by_name.get(texts["hlo_op"]) if module is not None else None
    found = _Described(texts, description["program_id"], description["cuda_graph_id"], kernel, module, instruction)
    if kernel and module is not None:
        # A kernel of a fusion is named after it, with dots replaced.
        fits = [each for name, each in module.by_name.items() if name.replace(".", "_").replace("-", "_") == kernel]
        if len(fits) == 1:
            found.instruction, found.by_kernel_name = fits[0], True
            texts["hlo_op"] = fits[0].name
    found.path, found.is_tensorflow = _path(texts, found.instruction)
    return found


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
        return texts["tf_op"], True
    annotation = (texts["annotation"] or texts["level 0"]).partition("#")[0]
    return annotation, bool(annotation)


def _graph_op(each: _Described, differentiated: bool) -> GraphOp | None:
    hlo_op = each.texts["hlo_op"]
    if each.is_tensorflow:
        return _tensorflow_op(each.path)
    if not hlo_op and not each.path:
        return _command_buffer(each)
    kind = hlo.op_type(each.module, each.instruction) if each.module and each.instruction else ""
    stack = each.instruction.source if each.instruction is not None else ""
    key = f"{each.program}:{hlo_op}"
    title = f" {hlo_op}" if hlo_op else ""
    if each.instruction is not None and hlo.is_collective(each.instruction):
        groups = each.instruction.replica_groups or "all"
        return GraphOp(f"/collectives/{groups}/{kind}{title}", kind, "", key, stack)
    root = _JIT_PREFIX.sub("", each.texts["hlo_module"])
    if "/" not in each.path:
        # What moves or converts a parameter has the parameter's name.
        path = "/".join(["", *filter(None, (root, "parameters" if each.path else "", each.path))])
        return _with_work(GraphOp(f"{path}/{kind or 'op'}{title}", kind or "op", "", key, stack), each)
    told = read_jax_path(each.path)
    op_type = _op_type(told, kind)
    path = "/".join(("", *filter(None, (told.module or root, *told.groups)), op_type)).replace("//", "/")
    again = " (recomputed)" if told.recomputed else ""
    matched = " (matched by name)" if each.by_kernel_name else ""
    direction = "bprop" if told.backward else "fprop" if told.forward or not differentiated else ""
    return _with_work(GraphOp(f"{path}{title}{again}{matched}", op_type, direction, key, stack), each)


def _op_type(told: OpPath, kind: str) -> str:
    """The type by the path, as users know it; where that is a product, but the HLO op is not, by the HLO op."""
    if not told.op_type:
        return kind or "op"
    if kind and told.op_type in _PRODUCT_PATHS and kind not in _PRODUCTS:
        return kind
    return told.op_type


def _tensorflow_op(annotation: str) -> GraphOp:
    told = read_tensorflow_path(annotation)
    node = annotation.partition("#")[0].rpartition(":")
    last = (node[0] or node[2]).rstrip("/").rpartition("/")[2]
    path = "/".join(("", *told.groups, last))
    return GraphOp(path, told.op_type, "bprop" if told.backward else "fprop", path, "")


def _command_buffer(each: _Described) -> GraphOp | None:
    if each.graph < 0:
        return None
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
        op.products.append((product.function, shapes, json.dumps([product.data_type] * 2, separators=(",", ":"))))
    return op


class Executions(msgspec.Struct):
    """Executions of ops: one row each, by GPU, then in the order of launches."""

    start_ns: Int64s
    """Start of the first launch call; of the first work if no call was recorded."""
    end_ns: Int64s
    thread: Int64s
    """Row of ``Host.threads``."""
    op: Int64s
    """Index into the ops; all rows have one."""
    of_work: Int64s
    """Row of the execution for each piece of device work; -1 for none."""


class Launches(msgspec.Struct):
    """The call of each piece of device work. Times are those of the work where no call was recorded."""

    call: Int64s
    """Row of ``Host.calls``; -1 for none."""
    start_ns: Int64s
    end_ns: Int64s
    run: Int64s
    """Number of the run of a module that it is in, counted in the order of time; -1 for none."""
    module: Int64s
    """Name (text id) of that module; 0 for none."""


def find_launches(work: Work, host: Host, strings: Strings) -> Launches:
    """Matches device work with the calls that launched it, and these with the runs of modules."""
    correlation = work.table.correlation
    order = np.argsort(host.calls.correlation, kind="stable")
    known = host.calls.correlation[order]
    place = np.searchsorted(known, correlation)
    place[place == len(known)] = 0
    hit = (correlation > 0) & (known[place] == correlation) if len(known) else np.zeros(len(correlation), np.bool_)
    call = np.where(hit, order[place] if len(known) else -1, -1)
    start = np.where(hit, host.calls.start_ns[call], work.table.start_ns) if len(known) else work.table.start_ns
    end = np.where(hit, host.calls.end_ns[call], work.table.start_ns) if len(known) else work.table.start_ns
    run, module = _runs(work, host, start, strings)
    return Launches(call, start, end, run, module)


def _runs(work: Work, host: Host, start: Int64s, strings: Strings) -> tuple[Int64s, Int64s]:
    """The run of a module around each launch, by the recorded runs, else by what the work says of its module."""
    hlo_module = np.array([each["hlo_module"] for each in work.descriptions], np.int64)[work.described]
    recorded = np.flatnonzero(host.module > 0)
    if len(recorded):
        recorded = recorded[np.argsort(host.start_ns[recorded], kind="stable")]
        run = np.searchsorted(host.start_ns[recorded], start, side="right") - 1
        inside = (run >= 0) & (start <= host.end_ns[recorded[np.maximum(run, 0)]])
        inside &= (hlo_module == 0) | (hlo_module == host.module[recorded[np.maximum(run, 0)]])
        if inside.any():
            return np.where(inside, run, -1), np.where(inside, host.module[recorded[run]], 0)
    hlo_op = np.array([each["hlo_op"] for each in work.descriptions], np.int64)[work.described]
    run = np.full(len(start), -1, np.int64)
    rows = np.flatnonzero(hlo_module > 0)
    rows = rows[np.lexsort((work.table.start_ns[rows], start[rows], work.table.device[rows]))]
    if not len(rows):
        return run, hlo_module
    device, module, op = work.table.device[rows], hlo_module[rows], hlo_op[rows]
    stretch = np.append(True, (device[1:] != device[:-1]) | (module[1:] != module[:-1]))
    head = np.maximum.accumulate(np.where(stretch, np.arange(len(rows)), 0))
    again = (op == op[head]) & np.append(True, op[1:] != op[:-1])
    run[rows] = np.cumsum(stretch | again) - 1
    return run, hlo_module


def find_executions(work: Work, launches: Launches, ops: list[GraphOp | None], host: Host) -> Executions:
    """The executions of all ops."""
    keys: dict[str, int] = {}
    of_description = [-1 if op is None else keys.setdefault(op.key, index) for index, op in enumerate(ops)]
    op = np.array(of_description, np.int64)[work.described] if ops else np.zeros(0, np.int64)
    rows = np.flatnonzero(op >= 0)
    table = work.table
    rows = rows[np.lexsort((table.start_ns[rows], launches.start_ns[rows], launches.run[rows], table.device[rows]))]
    if not len(rows):
        none = np.zeros(0, np.int64)
        return Executions(none, none, none, none, np.full(len(op), -1, np.int64))
    same = np.stack((table.device[rows], launches.run[rows], op[rows]))
    stretch = np.append(True, (same[:, 1:] != same[:, :-1]).any(axis=0))
    kernel = np.stack((table.name[rows], *table.grid[rows].T, table.kind[rows]))
    head = np.maximum.accumulate(np.where(stretch, np.arange(len(rows)), 0))
    begins = stretch | (kernel == kernel[:, head]).all(axis=0)
    first = np.flatnonzero(begins)
    of_work = np.full(len(op), -1, np.int64)
    of_work[rows] = np.cumsum(begins) - 1
    call = launches.call[rows[first]]
    threads = host.calls.thread.astype(np.int64)
    thread = np.where(call >= 0, threads[call], 0) if len(threads) else np.zeros(len(first), np.int64)
    return Executions(
        start_ns=np.minimum.reduceat(launches.start_ns[rows], first),
        end_ns=np.maximum.reduceat(launches.end_ns[rows], first),
        thread=thread,
        op=op[rows[first]],
        of_work=of_work,
    )


def iterations(work: Work, launches: Launches, host: Host, strings: Strings) -> list[MarkedIterations]:
    """Steps that the program marks, then runs of each module, that with the most GPU time first."""
    end_ns = int(work.table.end_ns.max(initial=0))
    return [*_steps(work, launches, host, strings), *_module_runs(work, launches, strings, end_ns)]


def _steps(work: Work, launches: Launches, host: Host, strings: Strings) -> list[MarkedIterations]:
    rows = np.flatnonzero(host.step >= 0)
    found = []
    for name, _ in Counter(host.name[rows].tolist()).most_common():
        own = rows[host.name[rows] == name]
        own = own[np.argsort(host.start_ns[own], kind="stable")]
        start = np.unique(host.start_ns[own])
        own = own[np.searchsorted(host.start_ns[own], start)]
        last = int(host.end_ns[own[-1]])
        launched = (launches.start_ns >= start[-1]) & (launches.start_ns <= last)
        stop = np.append(start[1:], max(last, int(work.table.end_ns[launched].max(initial=0)), int(start[-1]) + 1))
        values = host.step[own]
        if (np.diff(values) <= 0).any():
            values = np.arange(len(start))
        found.append(MarkedIterations("step_annotation", strings[name], values, start, stop))
    return found


def _module_runs(work: Work, launches: Launches, strings: Strings, end_ns: int) -> list[MarkedIterations]:
    """Each run of a module ends an iteration, which began where the one before ended."""
    duration = work.table.end_ns - work.table.start_ns
    in_run = launches.run >= 0
    busy: Counter[int] = Counter()
    for module in np.unique(launches.module[in_run]).tolist():
        busy[module] = int(duration[in_run & (launches.module == module)].sum())
    found = []
    begin = int(launches.start_ns.min(initial=end_ns))
    for module, _ in busy.most_common(20):
        own = np.flatnonzero(in_run & (launches.module == module))
        runs = np.unique(launches.run[own], return_inverse=True)
        if module == 0 or len(runs[0]) < 2:
            continue
        stop = np.zeros(len(runs[0]), np.int64)
        np.maximum.at(stop, runs[1].reshape(-1), launches.end_ns[own])
        stop = np.unique(stop)
        stop[-1] = max(end_ns, int(stop[-1]))
        start = np.append(begin, stop[:-1])
        if (stop > start).all():
            found.append(MarkedIterations("module_run", strings[module], np.arange(len(stop)), start, stop))
    return found


def blit_ops(work: Work, strings: Strings) -> dict[int, str]:
    """Types of the kernels (by text id of the name) with which ROCm copies and fills memory."""
    distinct = np.unique(work.table.name).tolist()
    return {text: kind for text in distinct if (kind := blit_type(strings[text]))}
