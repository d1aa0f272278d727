"""Reads PyTorch's memory snapshots (``torch.cuda.memory._dump_snapshot``), which are pickles, without running them.

A pickle can name any function and call it. A snapshot consists of numbers, texts, lists and dictionaries only, so every
name is refused. What the pickle machine may allocate before that is limited by the process that reads.
"""

from __future__ import annotations

import pickle
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import BrokenSource, UnsafeFile
from tensorboard_plugin_dlprof.events.memory_tables import (
    EXPANDABLE,
    STACK_STEP,
    STAYS,
    Blocks,
    History,
    Phase,
    Segment,
)
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s, valid_text
from tensorboard_plugin_dlprof.memory.pairing import are_several, bridged, category_of, pair, possible
from tensorboard_plugin_dlprof.memory.trial import try_pickle
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream, plain_file
from tensorboard_plugin_dlprof.opening.memory_limit import limited_memory
from tensorboard_plugin_dlprof.opening.regular_file import shown

MEMORY_PER_BYTE = 6
"""Bytes of memory that a byte of a snapshot takes once it is read; measured 4.4."""

_LEAST_MEMORY = 64 << 20

_TUPLES = b"\x85\x86\x87t"
_STACK_PER_TUPLE = 256
"""Bytes of stack that Python takes to hash a tuple in a tuple, as the key of a dictionary may be; measured 90."""

_LEAST_STACK = 8 << 20

_MOST_DEVICES = 1_024
_MOST_US = 1 << 53
_MOST_TEXT = 300
_MOST_STACK = 4_000
_MOST_STACKS = 32 << 20
"""Letters of a stack, and of all together."""

_LONGEST_PATH = 4_096
_MOST_BYTES = 1 << 61
_ALLOC, _FREE = "alloc", "free_completed"
_IN_USE = ("active_allocated", "active_pending_free")
"""States of blocks. One that waits for a stream is freed by a later ``free_completed``, so until then it is in use."""
_TAKES, _RETURNS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
_SETTINGS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
_ATEN = "aten::"
_OP = re.compile(r"at::_ops::([a-z0-9_]+?)(?:_[A-Z]\w{0,60})?::call\(")
_NODE = re.compile(r"torch::autograd::(?:generated::)?(\w{1,100}Backward\d*|AccumulateGrad)::apply\(")
_LIBRARIES = ("torch/", "site-packages/", "/lib/python", "<frozen")


class _Unpickler(pickle.Unpickler):
    """A pickle machine that knows no name."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}"[:200])

    def persistent_load(self, pid: object) -> NoReturn:
        raise pickle.UnpicklingError("it refers to another file")


def is_snapshot(head: bytes) -> bool:
    """Whether a file begins like a snapshot: a pickle with the keys of one, and no name of a class before them."""
    if head[:1] != b"\x80" or head[1:2] not in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return False
    keys = [place for key in (b"segments", b"device_traces") if (place := head.find(key)) >= 0]
    return bool(keys) and b"torch._utils" not in head


def read_snapshot(path: Path, memory_bytes: int, folder: Path | None = None) -> list[History]:
    """The memory of each device in a snapshot.

    Args:
        path: The file, plain or compressed (gzip).
        memory_bytes: What reading may take.
        folder: For what a compressed file is expanded to; None for the system's.

    Raises:
        BrokenSource: It is damaged, or no snapshot.
        UnsafeFile: It names functions, which snapshots do not, or is too large.
    """
    most_bytes = memory_bytes // MEMORY_PER_BYTE
    with ByteStream(path) as stream:
        if stream.expanded_bytes > most_bytes:
            raise UnsafeFile(
                f"{shown(path)} would need more memory than an import may use; record with max_entries=100000 or "
                "stacks='python', or raise the limit of memory."
            )
    with plain_file(path, most_bytes, folder) as file:
        size = file.seek(0, 2)
        file.seek(0)
        try:
            more_bytes = min(size * MEMORY_PER_BYTE + _LEAST_MEMORY, memory_bytes)
            try_pickle(file, size, more_bytes)
            content = _load(file, more_bytes, memory_bytes)
        except pickle.UnpicklingError as error:
            if "it names" in str(error) or "it refers" in str(error):
                raise UnsafeFile(
                    f"{shown(path)} is refused: {error}, which no memory snapshot does, and which could run a program."
                ) from None
            raise _damaged(path) from None
        except TimeoutError:
            raise UnsafeFile(
                f"{shown(path)} is refused: to read it takes longer than any memory snapshot of its size."
            ) from None
        except MemoryError:
            raise UnsafeFile(
                f"{shown(path)} asks for more memory than it may use: it is damaged, or there is too little memory."
            ) from None
        except (EOFError, ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise _damaged(path) from None
    if not isinstance(content, dict) or not isinstance(content.get("segments"), list):
        raise BrokenSource(f"{shown(path)} is a pickle, but no memory snapshot (it has no list of segments).")
    if _rows(content) > size:
        # Lists may be in several places at once, so that a small file names more rows than memory holds.
        raise UnsafeFile(f"{shown(path)} repeats the same events or blocks, which no memory snapshot does.")
    try:
        with limited_memory(memory_bytes):
            return _histories(content, path)
    except MemoryError:
        raise UnsafeFile(f"{shown(path)} needs more memory than an import may use; record fewer events.") from None
    except OverflowError:
        raise BrokenSource(f"{shown(path)} holds impossible sizes, larger than any memory.") from None


def _load(file: BinaryIO, more_bytes: int, most_stack_bytes: int) -> Any:
    """The content of a pickle, read within a limit of memory, on a stack that no nesting in it can overflow.

    Python hashes tuples in tuples without looking at its stack: 75,000 levels of them would end the process.
    """
    tuples = 0
    while chunk := file.read(1 << 20):
        tuples += len(chunk) - len(chunk.translate(None, _TUPLES))
    file.seek(0)
    stack_bytes = max(tuples * _STACK_PER_TUPLE + 4_095 & ~4_095, _LEAST_STACK)
    if stack_bytes > max(most_stack_bytes, _LEAST_STACK):
        raise MemoryError

    def load() -> Any:
        with limited_memory(more_bytes):
            return _Unpickler(file).load()

    before = threading.stack_size(stack_bytes)
    with ThreadPoolExecutor(1) as pool:
        try:
            loaded = pool.submit(load)
        except RuntimeError:
            raise MemoryError from None
        finally:
            threading.stack_size(before)
        return loaded.result()


def _rows(content: dict[Any, Any]) -> int:
    """How many events and blocks a snapshot names."""
    lists = [*_lists(content.get("device_traces")), *(each.get("blocks") for each in _dicts(content["segments"]))]
    return sum(len(each) for each in lists if isinstance(each, list))


def _lists(values: object) -> list[Any]:
    return values if isinstance(values, list) else []


def _damaged(path: Path) -> BrokenSource:
    return BrokenSource(
        f"{shown(path)} is damaged or cut short: its pickle cannot be read to its end; dump the snapshot again."
    )


def _histories(content: dict[Any, Any], path: Path) -> list[History]:
    traces = _lists(content.get("device_traces"))
    segments: dict[int, list[dict[Any, Any]]] = {}
    for segment in _dicts(content["segments"]):
        device = segment.get("device")
        if isinstance(device, int) and 0 <= device < _MOST_DEVICES:
            segments.setdefault(device, []).append(segment)
    settings = _settings(content.get("allocator_settings"))
    annotations = _annotations(content.get("external_annotations"))
    histories = []
    for device in range(min(max([len(traces) - 1, *segments]) + 1, _MOST_DEVICES)):
        events = list(_dicts(traces[device])) if device < len(traces) and isinstance(traces[device], list) else []
        if events or device in segments:
            if not any(event.get("action") in (_ALLOC, "oom") for event in events):
                events = []  # What merely marks the snapshot, or frees, tells no peak.
            history = _history(device, events, segments.get(device, []), annotations.get(device, []))
            history.settings = settings
            histories.append(history)
    if not histories:
        raise BrokenSource(f"{shown(path)} holds neither segments nor events of any GPU; record it while one is used.")
    return histories


def _settings(values: object) -> str:
    """The allocator's settings as the environment's variable has them, whatever a version calls it."""
    if not isinstance(values, dict):
        return ""
    text = next((_text(values[key]) for key in _SETTINGS if values.get(key)), "")[:_MOST_TEXT]
    if values.get("expandable_segments") is True and EXPANDABLE not in text:
        text = f"{text},{EXPANDABLE}".lstrip(",")  # set by the program
    return text


def _dicts(values: object) -> Iterator[dict[Any, Any]]:
    if isinstance(values, list):
        for value in values:
            if isinstance(value, dict):
                yield value


def _whole(value: object) -> int:
    return value if isinstance(value, int) and -(1 << 62) < value < 1 << 62 else 0


def _text(value: object) -> str:
    """A text; never what something else looks like, which may hold itself a billion times."""
    return value if isinstance(value, str) else ""


def _annotations(values: object) -> dict[int, list[tuple[int, int, str]]]:
    """Begin and end (us) and name of the optimizer's annotations on each device."""
    begun: dict[tuple[int, str], int] = {}
    annotations: dict[int, list[tuple[int, int, str]]] = {}
    for each in _dicts(values):
        name, stage, device, time = (each.get(key) for key in ("name", "stage", "device", "time_us"))
        if not isinstance(name, str) or not isinstance(time, int) or "Optimizer." not in name:
            continue
        time = min(max(time, 0), _MOST_US)
        key = (_whole(device), name)
        if stage == "START":
            begun[key] = time
        elif key in begun:
            annotations.setdefault(key[0], []).append((begun.pop(key), time, name))
    return annotations


def _history(
    device: int,
    events: list[dict[Any, Any]],
    segments: list[dict[Any, Any]],
    annotations: list[tuple[int, int, str]],
) -> History:
    actions = [event.get("action") for event in events]
    sizes = np.array([_whole(event.get("size")) for event in events], np.int64)
    is_alloc = np.array([action == _ALLOC for action in actions], np.bool_)
    is_free = np.array([action == _FREE for action in actions], np.bool_)
    takes = np.array([action in _TAKES for action in actions], np.bool_)
    returns = np.array([action in _RETURNS for action in actions], np.bool_)
    change = np.where(is_alloc, sizes, 0) - np.where(is_free, sizes, 0)
    reserved = np.where(takes, sizes, 0) - np.where(returns, sizes, 0)
    address = np.array([_whole(event.get("addr")) for event in events], np.int64)
    pairs = pair(np.where(change != 0, address, -1), change)
    times = [event.get("time_us") for event in events]
    timed = bool(times) and all(isinstance(time, int) and 0 <= time < _MOST_US for time in times)
    if float(np.abs(sizes).sum(dtype=np.float64)) >= _MOST_BYTES:
        raise OverflowError
    contexts = _contexts(events, annotations if timed else [])
    phases = contexts.phase
    stays = pairs.freed == STAYS
    freed_in = phases[np.where(stays, 0, pairs.freed)] if len(phases) else phases
    category = category_of(phases[pairs.allocated], freed_in, stays, bool((phases == Phase.BACKWARD).any()))
    end_requested = sum(
        _whole(block.get("requested_size", block.get("size")))
        for segment in segments
        for block in _dicts(segment.get("blocks"))
        if block.get("state") in _IN_USE
    )
    end_reserved = sum(_whole(segment.get("total_size")) for segment in segments)
    if max(abs(end_requested), abs(end_reserved)) >= _MOST_BYTES:
        raise OverflowError
    held = np.flatnonzero(stays)
    still = dict(zip(address[pairs.allocated[held]].tolist(), held.tolist(), strict=True))
    after = np.append(0, np.cumsum(change)), np.append(0, np.cumsum(reserved))
    history = History(
        device=device,
        measure="requested",
        relative=False,
        # Events are written in order, even where the clock was set back.
        time_ns=np.maximum.accumulate(np.array(times, np.int64)) * 1000 if timed else np.zeros(0, np.int64),
        # The state at the end is known exactly; the events lead back from there.
        in_use_bytes=end_requested - after[0][-1] + after[0],
        reserved_bytes=end_reserved - after[1][-1] + after[1],
        blocks=Blocks(
            *(pairs.allocated, pairs.freed, pairs.num_bytes, category),
            *(contexts.owner[pairs.allocated], contexts.stack[pairs.allocated]),
        ),
        owners=contexts.owners,
        stacks=contexts.stacks,
        segments=[_segment(segment, still) for segment in segments],
        out_of_memory=[
            (number, _whole(event.get("size")), _whole(event.get("device_free", -1)))
            for number, event in enumerate(events)
            if event.get("action") == "oom"
        ],
        segment_events=np.flatnonzero(takes),
        return_events=np.flatnonzero(returns),
        phase=bridged(phases) if are_several(phases) else np.zeros(0, np.int8),
        lost_frees=pairs.lost_frees,
    )
    return possible(history)


def _segment(segment: dict[Any, Any], still: dict[int, int]) -> Segment:
    """A segment; ``still`` has the rows of the blocks that are allocated at the end, by their address."""
    begin = address = _whole(segment.get("address"))
    blocks = []
    for block in _dicts(segment.get("blocks")):
        size, state = _whole(block.get("size")), _text(block.get("state"))[:40]
        row = still.get(address, -1) if state in _IN_USE else -1
        blocks.append((size, state, row))
        address += size
    total = _whole(segment.get("total_size"))
    pool = _text(segment.get("segment_type"))[:40]
    stream = _whole(segment.get("stream"))
    # In a piece of memory is no more than fits.
    return Segment(begin, total, pool, stream, tuple(blocks) if address - begin <= total else ())


class _Contexts(msgspec.Struct):
    """What the stacks of events tell."""

    phase: Int8s
    owner: Int32s
    """Index into ``owners`` of each event; likewise ``stack``."""
    stack: Int32s
    owners: list[str]
    stacks: list[str]


def _contexts(events: list[dict[Any, Any]], annotations: list[tuple[int, int, str]]) -> _Contexts:
    """The phase of each event, the place in the program that allocates, and its stack."""
    phases = np.zeros(len(events), np.int8)
    places, lines = np.zeros((2, len(events)), np.int32)
    owners: dict[str, int] = {"": 0}
    stacks: dict[str, int] = {"": 0}
    left = _MOST_STACKS
    # Thousands of events share one list of frames; each is read once. The events keep the lists alive.
    known: dict[int, tuple[Phase, int, int]] = {}
    for number, event in enumerate(events):
        frames = event.get("frames")
        if not isinstance(frames, list) or not frames:
            continue
        context = known.get(id(frames))
        if context is None:
            phase, place, stack = _of_frames(frames)
            if stack not in stacks:
                left -= len(stack)
                stack = stack if left >= 0 else ""
            context = phase, owners.setdefault(place, len(owners)), stacks.setdefault(stack, len(stacks))
            known[id(frames)] = context
        phases[number], places[number], lines[number] = context
    if annotations:
        time = np.array([event["time_us"] for event in events], np.int64)
        for phase in (Phase.OPTIMIZER, Phase.ZERO_GRAD):
            spans = [span[:2] for span in annotations if ("zero_grad" in span[2]) == (phase == Phase.ZERO_GRAD)]
            phases[_within(time, spans)] = phase
    return _Contexts(phases, places, lines, list(owners), list(stacks))


def _within(time: Int64s, spans: list[tuple[int, int]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which times lie in one of the spans, ends included."""
    begin, end = np.array(spans, np.int64).reshape(-1, 2).T
    begin, end = np.sort(begin), np.sort(end)
    return np.searchsorted(begin, time, side="right") > np.searchsorted(end, time, side="left")


def _of_frames(frames: list[Any]) -> tuple[Phase, str, str]:
    """The phase that a stack tells, its innermost place in the program's own code, and its lines.

    Autograd's threads run no code of the program: their place is the node whose gradient they compute.
    """
    phase, place, node, length = Phase.FORWARD, "", "", 0
    lines: list[str] = []
    for frame in frames:
        if not isinstance(frame, dict):
            continue
        name = _text(frame.get("name"))[:_LONGEST_PATH]
        file = _text(frame.get("filename"))[:_LONGEST_PATH].replace("\\", "/")
        if "torch::autograd::Engine::" in name or "PythonEngine::thread_init" in name:
            phase = Phase.BACKWARD
        elif phase == Phase.FORWARD and _is_of_optimizer(file):
            phase = Phase.ZERO_GRAD if name == "zero_grad" else Phase.OPTIMIZER
        line = _line(name, file, frame.get("line"))
        if not line or (lines and line == lines[-1]):
            continue
        if not place and file.endswith(".py") and not any(part in file for part in _LIBRARIES):
            place = line
        if not node and "Backward" in line:
            node = line
        length += len(line)
        if length <= _MOST_STACK:
            lines.append(line)
    outer = next((line for line in lines if not line.startswith(_ATEN)), "")
    return phase, place or node or outer, STACK_STEP.join(lines)


def _line(name: str, file: str, number: object) -> str:
    """A frame as a line of a stack: of Python, or of C++ an op or a node of autograd; empty for other code."""
    if file.endswith(".py"):
        return valid_text(f"{_short(file)}({_whole(number)}): {name}"[:_MOST_TEXT])
    if op := _OP.match(name):
        return f"{_ATEN}{op[1]}"
    node = _NODE.match(name)
    return node[1] if node else ""


def _is_of_optimizer(file: str) -> bool:
    bare = file.rpartition("/")[2]
    return "torch/optim/" in file or "optim" in bare or bare.startswith("adam") or bare == "sgd.py"


def _short(file: str) -> str:
    """The last folders of a path: whose home it lies in is nobody's business."""
    return "/".join(file.split("/")[-3:])
