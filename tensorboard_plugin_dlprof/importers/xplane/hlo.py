"""Reads the compiled modules (``HloProto``) that a profile carries: what each HLO op is, and its shapes."""

from __future__ import annotations

import json
import re
from math import prod

import msgspec

from tensorboard_plugin_dlprof.importers.xplane.replica_groups import REPLICA_GROUPS, replica_groups
from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, VARINT, Source

_TYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 15: "complex64", 16: "bfloat16", 18: "complex128",
    19: "float8_e5m2", 20: "float8_e4m3fn", 23: "float8_e4m3fn", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz",
}  # fmt: skip
"""XLA's ``PrimitiveType`` as PyTorch calls it."""

_MOST_INSTRUCTIONS = 1_000_000
_MOST_FRAMES = 64
_IN_KERNELS = str.maketrans(".-", "__")
_MOST_CALLS = 100_000

_HEAVY = ("dot", "convolution", "reduce", "scatter", "sort")
"""Opcodes that a fusion is named after, the first that it contains."""

_GEMM = re.compile(r"__cublas\$(?:gemm|lt\$)|__triton_gemm|cublas.*(?:gemm|matmul)", re.IGNORECASE)
_CONVOLUTION = re.compile(r"__cudnn\$conv")
_ATTENTION = re.compile(r"__cudnn\$f(?:mha|usion)|te_\w*attn|flash|fmha", re.IGNORECASE)
_COLLECTIVE = re.compile(r"(all-reduce|all-gather|reduce-scatter|collective-permute|all-to-all|collective-broadcast)")


class Shape(msgspec.Struct, frozen=True):
    """Type and lengths of an array."""

    data_type: str
    lengths: tuple[int, ...]


class Instruction(msgspec.Struct):
    """One HLO instruction."""

    name: str = ""
    opcode: str = ""
    op_name: str = ""
    source: str = ""
    """Python frames, innermost first, ``;`` between."""
    target: str = ""
    """Of a custom call."""
    backend_config: str = ""
    shapes: tuple[Shape, ...] = ()
    """Of the result; several of a tuple."""
    operands: tuple[int, ...] = ()
    called: tuple[int, ...] = ()
    id: int = 0
    contracting: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    batch: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    groups: int = 1
    replica_groups: str = ""
    dimensions: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] = ((), (), ())
    """Of a convolution's input, kernel and output, which axes are batch and features (of the kernel: output and input
    features), then the others."""


class Module(msgspec.Struct):
    """One compiled module."""

    name: str
    by_name: dict[str, Instruction]
    by_id: dict[int, Instruction]
    computations: dict[int, tuple[list[Instruction], int]]
    """Instructions, and the id of the root, by id of the computation. Those that have a schedule are in its order."""
    entry: int = 0
    by_kernel: dict[str, list[Instruction]] = {}
    """By the names of the kernels that are named after them."""


class Product(msgspec.Struct, frozen=True):
    """A matrix product or convolution with recorded shapes, as PyTorch would record it."""

    function: str
    """``bmm``, ``xla_convolution``."""
    shapes: tuple[tuple[int, ...], ...]
    """Of the operands; of a convolution input, kernel and output, in PyTorch's order."""
    data_type: str


def read_module(source: Source, begin: int, end: int) -> Module:
    """The module of the HloProto between two offsets. Buffers and literals are passed over."""
    module = Module("", {}, {}, {})
    for number, wire, length, stop in source.fields(begin, end):
        if number == 1 and wire == BYTES:
            _read_module(source, stop - length, stop, module)
    return module


def _read_module(source: Source, begin: int, end: int, module: Module) -> None:
    computations = []
    order: dict[int, int] = {}
    frames = _Frames(source)
    for number, wire, length, stop in source.fields(begin, end):
        if number == 6 and wire == VARINT:
            module.entry = length
        if wire != BYTES:
            continue
        if number == 1:
            module.name = source.text(stop - length, stop)
        elif number == 3:
            computations.append((stop - length, stop))
        elif number == 7:
            order = _schedule(source, stop - length, stop)
        elif number == 17:
            frames.read(stop - length, stop)
    count = 0
    for first, last in computations:
        instructions: list[Instruction] = []
        key = root = 0
        for number, wire, value, stop in source.fields(first, last):
            if number == 2 and wire == BYTES:
                count += 1
                if count > _MOST_INSTRUCTIONS:
                    source.damaged(stop)
                instructions.append(_instruction(source, stop - value, stop, frames))
            elif number == 5 and wire == VARINT:
                key = value
            elif number == 6 and wire == VARINT:
                root = value
        if instructions and all(each.id in order for each in instructions):
            instructions.sort(key=lambda each: order[each.id])
        module.computations[key] = instructions, root
        for each in instructions:
            module.by_name[each.name] = each
            module.by_kernel.setdefault(each.name.translate(_IN_KERNELS), []).append(each)
            module.by_id[each.id] = each


def _schedule(source: Source, begin: int, end: int) -> dict[int, int]:
    """Places of instructions, by their ids, in the order in which they run."""
    places: dict[int, int] = {}
    entries = [(stop - size, stop) for key, wire, size, stop in source.fields(begin, end) if (key, wire) == (1, BYTES)]
    for first, last in entries:
        for number, wire, size, stop in source.fields(first, last):
            if number == 2 and wire == BYTES:
                for key, kind, value, behind in source.fields(stop - size, stop):
                    for each in source.integers(kind, value, behind) if key == 1 else ():
                        places[each] = len(places)
    return places


class _Frames:
    """The table of Python frames of a module."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._files: list[str] = []
        self._functions: list[str] = []
        self._locations: list[tuple[int, int, int]] = []
        self._frames: list[tuple[int, int]] = []

    def read(self, begin: int, end: int) -> None:
        """Read the index between two offsets."""
        for number, wire, length, stop in self._source.fields(begin, end):
            if wire != BYTES:
                continue
            if number in (1, 2):
                (self._files if number == 1 else self._functions).append(self._source.text(stop - length, stop))
                continue
            values = self._source.values(stop - length, stop)
            if number == 3:
                self._locations.append((values.get(1, 0), values.get(2, 0), values.get(3, 0)))
            elif number == 4:
                self._frames.append((values.get(1, 0), values.get(2, 0)))

    def stack(self, frame: int) -> str:
        """A frame and those around it, innermost first."""
        frames: list[str] = []
        while 0 < frame <= len(self._frames) and len(frames) < _MOST_FRAMES:
            location, frame = self._frames[frame - 1]
            if 0 < location <= len(self._locations):
                file, function, line = self._locations[location - 1]
                frames.append(f"{_nth(self._files, file)}({line}): {_nth(self._functions, function)}")
        return ";".join(frames)


def _nth(texts: list[str], number: int) -> str:
    return texts[number - 1] if 0 < number <= len(texts) else ""


def _instruction(source: Source, begin: int, end: int, frames: _Frames) -> Instruction:
    instruction = Instruction()
    operands: list[int] = []
    called: list[int] = []
    for number, wire, value, stop in source.fields(begin, end):
        first = stop - value if wire == BYTES else 0
        if number == 1 and wire == BYTES:
            instruction.name = source.text(first, stop)
        elif number == 2 and wire == BYTES:
            instruction.opcode = source.text(first, stop)
        elif number == 3 and wire == BYTES:
            instruction.shapes = _shapes(source, first, stop)
        elif number == 7 and wire == BYTES:
            _metadata(source, first, stop, instruction, frames)
        elif number == 16 and wire == BYTES:
            instruction.dimensions = _convolution_dimensions(source, first, stop)
        elif number == 28 and wire == BYTES:
            instruction.target = source.text(first, stop)
        elif number == 30 and wire == BYTES:
            _dot_dimensions(source, first, stop, instruction)
        elif number == 35:
            instruction.id = value
        elif number == 36:
            operands += source.integers(wire, value, stop)
        elif number == 38:
            called += source.integers(wire, value, stop)
        elif number == 43 and wire == BYTES:
            instruction.backend_config = source.text(first, min(stop, first + (1 << 16)))
        elif number in REPLICA_GROUPS and wire == BYTES:
            instruction.replica_groups += replica_groups(source, number, first, stop)
        elif number == 50:
            instruction.groups = max(value, 1)
    instruction.operands, instruction.called = tuple(operands), tuple(called)
    return instruction


def _metadata(source: Source, begin: int, end: int, instruction: Instruction, frames: _Frames) -> None:
    file, line, frame = "", 0, 0
    for number, wire, value, stop in source.fields(begin, end):
        if number == 2 and wire == BYTES:
            instruction.op_name = source.text(stop - value, stop)
        elif number == 3 and wire == BYTES:
            file = source.text(stop - value, stop)
        elif number == 4:
            line = value
        elif number == 15:
            frame = value
    instruction.source = frames.stack(frame) or (f"{file}({line}): " if file else "")


def _dot_dimensions(source: Source, begin: int, end: int, instruction: Instruction) -> None:
    lists: dict[int, list[int]] = {1: [], 2: [], 3: [], 4: []}
    for number, wire, value, stop in source.fields(begin, end):
        if number in lists:
            lists[number] += source.integers(wire, value, stop)
    instruction.contracting = tuple(lists[1]), tuple(lists[2])
    instruction.batch = tuple(lists[3]), tuple(lists[4])


def _convolution_dimensions(
    source: Source, begin: int, end: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    lists: dict[int, list[int]] = {number: [] for number in (7, 8, 11, 4, 3, 6, 9, 10, 12)}
    for number, wire, value, stop in source.fields(begin, end):
        if number in lists:
            lists[number] += source.integers(wire, value, stop)
    # An axis of 0 is left out by the writer; of several axes, none is.
    first, second, *others = (tuple(lists[each] or ([] if each in (11, 6, 12) else [0])) for each in lists)
    spatial, output, input_, kernel, batch, features, last = others
    return first + second + spatial, output + input_ + kernel, batch + features + last


def _shapes(source: Source, begin: int, end: int, depth: int = 0) -> tuple[Shape, ...]:
    """The arrays of a shape, which may be a tuple of shapes."""
    kind, lengths = 0, []
    inner: list[Shape] = []
    for number, wire, value, stop in source.fields(begin, end):
        if number == 2 and wire == VARINT:
            kind = value
        elif number == 3:
            lengths += source.integers(wire, value, stop)
        elif number == 4 and wire == BYTES and depth < 4 and len(inner) < 256:
            inner += _shapes(source, stop - value, stop, depth + 1)
    if inner:
        return tuple(inner)
    return (Shape(_TYPES.get(kind, ""), tuple(lengths[:32])),)


def op_type(module: Module, instruction: Instruction) -> str:
    """What kind of op an instruction is, by its opcode, its target or the heaviest instruction that it fuses."""
    if kind := collective(module, instruction):
        return kind.opcode.removesuffix("-start").removesuffix("-done")
    if instruction.opcode == "custom-call":
        target = instruction.target
        if _GEMM.match(target):
            return "gemm"
        if _CONVOLUTION.match(target):
            return "conv"
        return "attention" if _ATTENTION.search(target) else target or "custom-call"
    if instruction.opcode == "fusion":
        inside = _fused(module, instruction)
        if any(each.opcode == "dot" for each in inside):
            return "gemm"
        codes = {each.opcode for each in inside}
        heavy = next((code for code in _HEAVY if code in codes), "")
        return "conv" if heavy == "convolution" else heavy or _root(module, instruction) or "fusion"
    return {"dot": "gemm", "convolution": "conv"}.get(instruction.opcode, instruction.opcode)


def library_calls(module: Module, instruction: Instruction | None) -> list[Instruction]:
    """Calls of libraries (cuBLAS, cuDNN) in the order in which they run: in a command buffer, else in the module."""
    keys = instruction.called if instruction is not None and instruction.called else (module.entry,)
    calls: list[Instruction] = []
    for key in keys:
        for each in module.computations.get(key, ([], 0))[0]:
            if each.opcode == "call" and each is not instruction and len(calls) < _MOST_CALLS:
                # Computations that are called lie deeper; those of a call have none of their own here.
                inner = (other for name in each.called for other in module.computations.get(name, ([], 0))[0])
                calls += filter(_is_library_call, inner)
            elif _is_library_call(each):
                calls.append(each)
    return calls


def _is_library_call(instruction: Instruction) -> bool:
    target = instruction.target
    return instruction.opcode == "custom-call" and bool(
        _GEMM.match(target) or _CONVOLUTION.match(target) or _ATTENTION.search(target)
    )


def collective(module: Module, instruction: Instruction) -> Instruction | None:
    """The instruction that communicates: itself, or what it starts; None if it does not."""
    inside = _fused(module, instruction) if instruction.opcode.startswith("async-") else ()
    return next((each for each in (instruction, *inside) if _COLLECTIVE.match(each.opcode)), None)


def products(module: Module, instruction: Instruction) -> list[Product]:
    """The matrix products and convolutions in an instruction whose shapes are known."""
    if instruction.opcode == "fusion":
        return [product for each in _fused(module, instruction) for product in _own_products(module, each)]
    return _own_products(module, instruction)


def _fused(module: Module, instruction: Instruction) -> list[Instruction]:
    return [each for key in instruction.called for each in module.computations.get(key, ([], 0))[0]]


def _root(module: Module, instruction: Instruction) -> str:
    for key in instruction.called:
        instructions, root = module.computations.get(key, ([], 0))
        for each in instructions:
            if each.id == root:
                return each.opcode
    return ""


def _own_products(module: Module, instruction: Instruction) -> list[Product]:
    operands = [module.by_id[each].shapes[0] for each in instruction.operands if _has_shape(module, each)]
    if len(operands) < 2 or not instruction.shapes:
        return []
    left, right, output = operands[0], operands[1], instruction.shapes[0]
    contracting, batch = instruction.contracting, instruction.batch
    if instruction.opcode == "custom-call" and _GEMM.match(instruction.target):
        contracting, batch = _gemm_dimensions(instruction.backend_config)
    elif instruction.opcode == "convolution" or _CONVOLUTION.match(instruction.target):
        return _convolution(instruction, left, right, output)
    elif instruction.opcode != "dot":
        return []
    if not contracting[0] or max(contracting[0] + batch[0], default=0) >= len(left.lengths):
        return []
    if max(contracting[1] + batch[1], default=0) >= len(right.lengths):
        return []
    size = prod(left.lengths[each] for each in batch[0])
    k = prod(left.lengths[each] for each in contracting[0])
    m = prod(each for index, each in enumerate(left.lengths) if index not in contracting[0] + batch[0])
    n = prod(each for index, each in enumerate(right.lengths) if index not in contracting[1] + batch[1])
    return [Product("bmm", ((size, m, k), (size, k, n)), left.data_type)]


def _has_shape(module: Module, key: int) -> bool:
    return key in module.by_id and bool(module.by_id[key].shapes)


def _gemm_dimensions(
    config: str,
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]:
    """Contracting and batch dimensions of both operands, from a custom call's configuration."""
    nothing: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    try:
        backend = json.loads(config)
        backend = backend.get("gemm_backend_config", backend)
        numbers = backend["dot_dimension_numbers"]
        lists = [
            tuple(int(each) for each in numbers.get(key, ()))
            for key in (
                *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
                *("lhs_batch_dimensions", "rhs_batch_dimensions"),
            )
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return nothing, nothing
    if any(each < 0 for each in sum(lists, ())):
        return nothing, nothing
    return (lists[0], lists[1]), (lists[2], lists[3])


def _convolution(instruction: Instruction, first: Shape, second: Shape, result: Shape) -> list[Product]:
    """A convolution, or a gradient of one: it takes as many operations on the same three arrays in other places."""
    data, kernel, output = first, second, result
    if instruction.target.endswith("BackwardInput"):
        data, output = result, first
    elif instruction.target.endswith("BackwardFilter"):
        kernel, output = result, second
    shapes = []
    for shape, axes in zip((data, kernel, output), instruction.dimensions, strict=True):
        if sorted(axes) != list(range(len(shape.lengths))):
            return []
        shapes.append(tuple(shape.lengths[axis] for axis in axes))
    return [Product("xla_convolution", tuple(shapes), first.data_type)]
