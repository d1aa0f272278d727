"""Parses the text of an NVTX range: its kind, bare name, autograd sequence number and input shapes.

PyTorch's ``emit_nvtx`` (and ``nsys profile --pytorch=autograd-shapes-nvtx``) writes the op's name and then its
arguments, as far as known and in an order that has changed over the years::

    aten::mm, seq = 31, op_id = 77, sizes = [[64, 512], [512, 10]], input_op_ids = [(3,0), (4,0)]

DLProf's own markers are a Python literal or JSON; their text is kept whole for the event model.

NVIDIA's TensorFlow writes ``MatMul: dense/MatMul`` in its domain ``tensorflow-core``, or, with
``TF_ENABLE_NVTX_RANGES_DETAILED``, JSON with the inputs' shapes, of which the eleventh and later are a ``null``::

    {"op":"MatMul","name":"dense/MatMul","args":[{"name":"x","shape":[64,512]}],"attrs":{"T":"float32"}}
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tensorboard_plugin_dlprof.events.tables import RangeKind


class Marker(NamedTuple):
    """The parsed text of a range. The name is without arguments; unknown texts are empty, unknown numbers -1."""

    kind: RangeKind
    name: str
    sequence: int = -1
    shapes: str = ""


_DLPROF = (
    (re.compile(r"\{\s*['\"](?:traceMarker|funcStack)['\"]\s*:"), RangeKind.DLPROF_TRACE),
    (re.compile(r"\{\s*['\"](?:mod|op)['\"]\s*:"), RangeKind.DLPROF_OP),
    (re.compile(r"\{\s*['\"]model_config['\"]\s*:"), RangeKind.DLPROF_CONFIG),
)
"""How markers of DLProf and of its predecessor PyProf begin."""

_MODULE_HOOK = re.compile(r"\{\s*['\"]Module['\"]\s*:\s*(?P<quote>['\"])(?P<name>[^'\"]*)(?P=quote)")
"""Layer-wise NVTX hooks (NVIDIA's ``nvtx_pytorch_hooks``, also in vLLM) push a dict with the module's name first."""

_MODULE = re.compile(r"nn\.Module: |layer:")

_ITERATION = re.compile(r"ProfilerStep#\d+\Z")

_USER_SCOPES = re.compile(r"Optimizer\.(?:step|zero_grad)#|enumerate\(DataLoader\)#|FSDP::")
"""PyTorch's own annotations, which ``emit_nvtx`` gives an ``op_id`` like an op. FSDP's contain whole module calls."""

_ARGUMENT = re.compile(r", (seq|op_id|sizes|input_op_ids) ?= ?")

_MOST_DIGITS = 18
"""Digits of numbers that surely fit into 64 bits."""

_OF_SHAPES = b"[]0123456789, -"

_BACKWARD_NODE = re.compile(r"(?:\w+::)*\w*[A-Za-z0-9](?<!Forward)Backward\d*\Z")
"""Autograd's nodes are named after a function. ``Backward`` or ``ForwardBackward`` alone is a user's range: taken for
an op, it would make a program with its own NVTX ranges look like one whose ops are recorded."""

_QUALIFIED = re.compile(r"[A-Za-z_]\w*::[\w:.<>~-]+\Z")
"""A registered op. Users' annotations, which get an ``op_id`` too, may contain blanks and brackets."""

_FRAMEWORK_NAMESPACE = re.compile(
    r"(?:aten|prim|prims|autograd|torch|torchvision|torchaudio|torch_\w+|c10d|_?c10d_functional|quantized|mkldnn|"
    r"mkl|fbgemm|xformers\w*|flash_attn\w*|transformer_engine|apex|inductor|_inductor\w*|triton|nccl|symm_mem)::"
)
"""Namespaces of registered PyTorch ops. Such a name is an op even without arguments (PyTorch before 1.13)."""

_LONGEST_NAME = 4_096
"""Longer names are cut, because nobody reads them, but every later step would have to handle them."""

_LAYER_DOMAINS = re.compile(r"TensorRT|tensorflow|TSL\b|XLA|TensorFlow|tf\b", re.IGNORECASE)
"""NVTX domains in which a framework names the layers or ops it runs."""

_FRAMEWORK_PHASE = re.compile(r"[A-Z]\w*::\w+\Z|Xla(?:Module|Compile|Emit|AutotunerM)\w*:")
"""Ranges in those domains around whole executions (``ExecutionContext::execute``) or compilations."""

_TENSORFLOW_NODE = re.compile(r'\{"op":"(?P<op>[^"]+)","name":"(?P<name>[^"]+)","args":\[')
_TENSORFLOW_SHAPE = re.compile(r'"shape":(?P<shape>\[[\d,?-]*\]|null)\}')
"""The text is not always valid JSON: TensorFlow escapes nothing in names and attributes."""

_XLA_THUNK = re.compile(r"(?:TSL:)?Thunk:#(?P<fields>.*)#\Z", re.DOTALL)
_XLA_FIELD = re.compile(r"(?:\A|,)(?:hlo_op|name)=(?P<name>[^,#]+)")


def read_marker(text: str, domain: str = "") -> Marker:
    """Parses the text of a push/pop range.

    Args:
        text: as NVTX recorded it.
        domain: name of its NVTX domain, empty for the default one.
    """
    if domain:
        return _read_in_domain(text, domain)
    if text.startswith("{"):
        return _read_dict(text)
    name, *arguments = _ARGUMENT.split(text)
    if not arguments:
        name = shortened(name)
        return Marker(_kind(name, False, False), name)
    values = dict(zip(arguments[::2], arguments[1::2], strict=True))
    number = values.get("seq", "")
    sequence = int(number) if number.isdecimal() and len(number) <= _MOST_DIGITS else -1
    name, shapes = shortened(name), read_cut_sizes(values.get("sizes", "").encode())
    return Marker(_kind(name, True, sequence >= 0 or shapes != ""), name, sequence, shapes)


def shortened(name: str) -> str:
    """The name, or its beginning and three dots if it is longer than ``_LONGEST_NAME``."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def cut(text: bytes) -> tuple[bytes, bytes, int] | None:
    """Name, sizes and sequence number (-1 if absent) of a text of autograd; ``None`` for a text of another form.

    Nearly all of these texts differ in a counter, so this runs for each range of a capture. For the form of recent
    years, splitting four times is faster than a regular expression. ``read_cut_name`` and
    ``read_cut_sizes`` parse name and sizes, which many texts share.
    """
    rest, _, sizes = text.partition(b", input_op_ids = ")[0].partition(b", sizes = ")
    rest, _, op_id = rest.partition(b", op_id = ")
    name, _, number = rest.partition(b", seq = ")
    # An argument in another form or place, or a dict, which is kept whole.
    if not op_id.isdigit() or b"," in name or name.startswith(b"{") or b"=" in sizes:
        return None
    if not number:
        return name, sizes, -1
    return (name, sizes, int(number)) if number.isdigit() and len(number) <= _MOST_DIGITS else None


def read_cut_name(name: bytes, takes_tensors: bool) -> Marker:
    """The marker for a name from ``cut``, without shapes and sequence number.

    Args:
        name: the text before the arguments.
        takes_tensors: whether a sequence number or sizes were recorded.
    """
    text = shortened(name.decode("utf-8", "replace"))
    return Marker(_kind(text, True, takes_tensors), text)


def read_cut_sizes(sizes: bytes) -> str:
    """The shapes for sizes from ``cut``, as JSON without blanks; empty where the text was cut or is something else."""
    is_list = sizes[:1] == b"[" and sizes[-1:] == b"]" and not sizes.translate(None, _OF_SHAPES)
    return sizes.replace(b" ", b"").decode() if is_list and sizes.count(b"[") == sizes.count(b"]") else ""


def _kind(name: str, has_arguments: bool, takes_tensors: bool) -> RangeKind:
    # The number at the end often differs from range to range, but never decides the kind, so the cache ignores it.
    base = name.rstrip("0123456789")
    return _kind_of_shape(name if len(base) == len(name) else f"{base}0", has_arguments, takes_tensors)


@lru_cache(maxsize=1 << 14)
def _kind_of_shape(name: str, has_arguments: bool, takes_tensors: bool) -> RangeKind:
    if _ITERATION.match(name):
        return RangeKind.ITERATION
    if _MODULE.match(name):
        return RangeKind.MODULE
    if _USER_SCOPES.match(name):
        return RangeKind.ANNOTATION
    if takes_tensors or _BACKWARD_NODE.match(name) or _FRAMEWORK_NAMESPACE.match(name):
        return RangeKind.OP
    if has_arguments and _QUALIFIED.match(name):
        return RangeKind.OP
    return RangeKind.ANNOTATION


def _read_dict(text: str) -> Marker:
    for pattern, kind in _DLPROF:
        if pattern.match(text):
            return Marker(kind, text)
    if module := _MODULE_HOOK.match(text):
        return Marker(RangeKind.MODULE, shortened(f"layer:{module['name']}"))
    return Marker(RangeKind.ANNOTATION, shortened(text))


def _read_in_domain(text: str, domain: str) -> Marker:
    if not _LAYER_DOMAINS.match(domain) or _FRAMEWORK_PHASE.match(text):
        return Marker(RangeKind.ANNOTATION, shortened(text))
    if (thunk := _XLA_THUNK.match(text)) and (field := _XLA_FIELD.search(thunk["fields"])):
        return Marker(RangeKind.OP, shortened(field["name"]))
    if node := _TENSORFLOW_NODE.match(text):
        return Marker(
            RangeKind.OP, shortened(f"{node['op']}: {node['name']}"), shapes=_tensorflow_shapes(text, node.end())
        )
    return Marker(RangeKind.OP, shortened(text))


def _tensorflow_shapes(text: str, begin: int) -> str:
    """The shapes as JSON; empty if one of them is unknown, since the next one would take its place."""
    arguments = text[begin:].partition('],"attrs":')[0]
    shapes = [match["shape"] for match in _TENSORFLOW_SHAPE.finditer(arguments)]
    if not shapes or any(shape == "null" or "?" in shape or "-" in shape for shape in shapes):
        return ""
    return f"[{','.join(shapes)}]"
