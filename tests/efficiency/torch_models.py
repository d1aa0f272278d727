"""Runs models under PyTorch's profiler and ``FlopCounterMode``. Needs torch; imported only where that is.

``python -m tests.efficiency.torch_models`` writes ``flop_counter.json`` anew: each recorded op with the count that
``FlopCounterMode`` gives for that op alone; and ``steps.pt.trace.json.gz``, in which each step is one of the models,
with the counts of whole steps in ``steps.json``.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.flop_counter import FlopCounterMode, flop_registry

GOLDEN = Path(__file__).parent / "flop_counter.json"
TRACE = GOLDEN.with_name("steps.pt.trace.json.gz")
STEPS = GOLDEN.with_name("steps.json")

COUNTED = (
    "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::convolution", "aten::convolution_backward",
    "aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_efficient_attention_backward",
)  # fmt: skip
"""Ops as they are recorded and as ``FlopCounterMode`` counts them; what they call inside is not counted again."""


class Perceptron(nn.Module):
    """Linear layers with lengths that fit and that do not."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(70, 33), nn.GELU(), nn.LayerNorm(33), nn.Linear(33, 1001, bias=False))

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        return self.layers(x)


class Convolutions(nn.Module):
    """Stride, padding, dilation, transposed, one to three dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv1d(4, 8, 5, stride=2, padding=3)
        self.two = nn.Conv2d(3, 16, (7, 3), stride=(2, 1), padding=(3, 1), dilation=(1, 2))
        self.back = nn.ConvTranspose2d(16, 6, 4, stride=2, padding=1, output_padding=1)
        self.three = nn.Conv3d(2, 4, 3, padding=1)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        one = self.one(torch.ones(3, 4, 41))
        three = self.three(torch.ones(2, 2, 6, 7, 8))
        return self.back(self.two(x)).sum() + one.sum() + three.sum()


class Grouped(nn.Module):
    """Groups and a depthwise convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.grouped = nn.Conv2d(8, 12, 3, padding=1, groups=4)
        self.depthwise = nn.Conv2d(12, 12, 5, padding=2, groups=12)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        return self.depthwise(self.grouped(x))


class Attention(nn.Module):
    """Attention written out, and einsum."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(24, 72)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        q, k, v = (part.unflatten(-1, (4, 6)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = nn.functional.softmax(q @ k.transpose(-2, -1) / 6**0.5, -1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", scores, v)
        return torch.baddbmm(torch.ones(2, 4, 4), mixed.flatten(0, 1)[:2, :4], mixed.flatten(0, 1)[:2, :4].mT)


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "perceptron": (Perceptron, (9, 5, 70)),
    "convolutions": (Convolutions, (2, 3, 20, 19)),
    "attention": (Attention, (2, 10, 24)),
    "encoder": (lambda: nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, dropout=0.0), (3, 17, 32)),
    "rnn": (lambda: First(nn.LSTM(10, 20, batch_first=True)), (3, 7, 10)),
}


class First(nn.Module):
    """The first output of a module that has several."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        return self.inner(x)[0]


class Decoder(nn.Module):
    """Embedding, fused attention on itself and on a memory; written out in products where ``fused`` is false."""

    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.fused = fused
        self.embedding = nn.Embedding(50, 32)
        self.layer = nn.TransformerDecoderLayer(32, 4, 64, batch_first=True, dropout=0.0)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        tokens = self.embedding((x.abs() * 10).long())
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION if self.fused else SDPBackend.MATH):
            return self.layer(tokens, tokens[:, :9], tgt_mask=None if self.fused else mask)


class MoreConvolutions(nn.Module):
    """Transposed in one and three dimensions, without bias, without a batch, padded to the same size."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.ConvTranspose1d(4, 6, 5, stride=3, padding=2, output_padding=1)
        self.three = nn.ConvTranspose3d(2, 3, 3, stride=2)
        self.flat = nn.Conv3d(2, 4, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))
        self.same = nn.Conv2d(3, 5, 3, bias=False, padding="same")
        self.norm = nn.BatchNorm2d(5)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        others = self.one(torch.ones(2, 4, 11)).sum() + self.three(torch.ones(1, 2, 3, 4, 5)).sum()
        return (
            self.norm(self.same(x)).sum() + self.same(x[0]).sum() + self.flat(torch.ones(1, 2, 4, 9, 9)).sum() + others
        )


class Products(nn.Module):
    """Every way to write a product that ends in one of those which ``FlopCounterMode`` counts."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 7))

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        weight = self.weight
        rows = torch.einsum("bij,jk->bik", x, weight)
        scores = torch.einsum("bij,bkj->bik", rows, rows)
        parts = (
            torch.bmm(scores, x), torch.baddbmm(torch.zeros(3, 5, 6), scores, x), torch.matmul(x, weight),
            x[0] @ weight,
            torch.tensordot(x, weight, dims=1), torch.einsum("ij,kj,kl->il", x[0], x[1], x[1]), torch.cdist(x[0], x[1]),
            torch.linalg.multi_dot([weight, weight.T, weight]), nn.functional.linear(x, weight.T),
        )  # fmt: skip
        return torch.stack([part.sum() for part in parts])


class Scaled(nn.Module):
    """A product in FP8, which has no backward pass of its own."""

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        left = x.detach().to(torch.float8_e4m3fn)
        one = torch.ones(())
        return torch._scaled_mm(left, left.t(), one, one, out_dtype=torch.bfloat16).float() * x.sum()


class Bags(nn.Module):
    """Sums of embeddings, and a product from them."""

    def __init__(self) -> None:
        super().__init__()
        self.bags, self.out = nn.EmbeddingBag(50, 8, mode="sum"), nn.Linear(8, 50)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        return self.out(self.bags((x.abs() * 10).long()))


WHOLE: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    **MODELS,
    "gru": (lambda: First(nn.GRU(10, 20, num_layers=2)), (5, 3, 10)),
    "self_attention": (lambda: SelfAttention(), (2, 7, 32)),
    "decoder_of_products": (lambda: Decoder(fused=False), (2, 11)),
    "more_convolutions": (MoreConvolutions, (2, 3, 8, 9)),
    "products": (Products, (3, 5, 6)),
    "scaled": (Scaled, (32, 64)),
    "bags": (Bags, (4, 6)),
    "decoder": (lambda: Decoder(fused=True), (2, 11)),
    "grouped": (Grouped, (2, 8, 9, 9)),
}
"""Models whose whole steps are counted. Of the last two ``FlopCounterMode`` counts something else than we do."""


class SelfAttention(nn.Module):
    """Several heads, as a module."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x: Any) -> Any:
        """The step of the model."""
        return self.heads(x, x, x)[0]


def record_steps(trace: Path) -> dict[str, int]:
    """Writes a trace with one step of training of each model; gives ``FlopCounterMode``'s count of each."""
    torch.manual_seed(0)
    models = {name: (make(), torch.randn(shape, requires_grad=True)) for name, (make, shape) in WHOLE.items()}
    counts = {}
    for name, (model, data) in models.items():
        with FlopCounterMode(display=False) as counter:
            model(data).sum().backward()
        counts[name] = counter.get_total_flops()
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        schedule=schedule(wait=0, warmup=1, active=len(models), repeat=1),
        on_trace_ready=lambda done: done.export_chrome_trace(str(trace)),
    ) as recorded:
        recorded.step()
        for model, data in models.values():
            model(data).sum().backward()
            recorded.step()
    keep_what_counts(trace)
    return counts


def keep_what_counts(trace: Path) -> None:
    """Leaves nothing of the machine in the trace: its ops and steps alone."""
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    remaining = {
        key: recorded[key] for key in ("schemaVersion", "deviceProperties", "record_shapes", "displayTimeUnit")
    }
    remaining["baseTimeNanoseconds"] = 0
    remaining["traceEvents"] = [
        event for event in recorded["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation")
    ]
    with gzip.GzipFile(trace, "wb", mtime=0) as file:
        file.write(json.dumps(remaining, separators=(",", ":")).encode())


def run(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> tuple[list[dict[str, Any]], int]:
    """One step of training: the recorded ops that count, and ``FlopCounterMode``'s total."""
    torch.manual_seed(0)
    model, data = make(), torch.randn(shape, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        model(data).sum().backward()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        model(data).sum().backward()
    return counted(recorded), counter.get_total_flops()


def counted(recorded: Any) -> list[dict[str, Any]]:
    """The ops of a trace that ``FlopCounterMode`` counts, as the trace holds them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        recorded.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [
        {
            "name": event["name"].removeprefix("aten::"),
            "shapes": json.dumps(event["args"]["Input Dims"]),
            "dtypes": json.dumps(event["args"]["Input type"]),
            "parameters": json.dumps(event["args"].get("Concrete Inputs", [])),
        }
        for event in events
        if event.get("cat") == "cpu_op" and event["name"] in COUNTED
    ]


def fused_attentions() -> Iterator[dict[str, Any]]:
    """Fused attention needs a GPU to run; its count needs shapes alone."""
    aten = torch.ops.aten
    meta = {"device": "meta", "dtype": torch.bfloat16}
    for q, k, v in (
        ((2, 8, 64, 32), (2, 8, 64, 32), (2, 8, 64, 32)),
        ((1, 12, 7, 64), (1, 12, 33, 64), (1, 12, 33, 48)),
    ):
        shapes = [list(q), list(k), list(v)]
        query, key, value = (torch.empty(size, **meta) for size in (q, k, v))
        with FlopCounterMode(display=False) as counter:
            aten._scaled_dot_product_efficient_attention(query, key, value, None, False)
        yield {
            "name": "_scaled_dot_product_efficient_attention",
            "shapes": json.dumps([*shapes, [], [], [], []]),
            "dtypes": json.dumps(["c10::BFloat16"] * 3 + ["", "Scalar", "Scalar", "Scalar"]),
            "parameters": json.dumps(["", "", "", "", "False", "0.", "False"]),
            "flops": counter.get_total_flops(),
        }
    query = torch.empty((2, 8, 64, 32), **meta)
    with FlopCounterMode(display=False) as counter:
        aten._scaled_dot_product_flash_attention(query, query, query, 0.0, True)
    yield {
        "name": "_scaled_dot_product_flash_attention",
        "shapes": json.dumps([[2, 8, 64, 32]] * 3 + [[], [], []]),
        "dtypes": json.dumps(["c10::BFloat16"] * 3 + ["Scalar", "Scalar", "Scalar"]),
        "parameters": json.dumps(["", "", "", "0.", "True", "False"]),
        "flops": counter.get_total_flops(),
    }


def described_products() -> Iterator[dict[str, Any]]:
    """Ops that run on some GPUs only, by the formulas that ``FlopCounterMode`` has for them: shapes are enough."""
    query, key, value = [2, 6, 10, 8], [2, 3, 14, 8], [2, 3, 14, 12]
    output = [*query[:3], value[3]]
    turned = [[one[0], one[2], one[1], one[3]] for one in (query, key, value, output)]
    forward, backward = [query, key, value], [output, query, key, value]
    for name, shapes in (
        ("_scaled_mm", [[32, 48], [48, 64]]),
        ("_scaled_dot_product_cudnn_attention", forward),
        ("_scaled_dot_product_flash_attention_backward", backward),
        ("_scaled_dot_product_efficient_attention_backward", backward),
        ("_scaled_dot_product_cudnn_attention_backward", backward),
        ("_flash_attention_forward", turned[:3]),
        ("_efficient_attention_forward", turned[:3]),
        ("_flash_attention_backward", [turned[3], *turned[:3]]),
        ("_efficient_attention_backward", [turned[3], *turned[:3]]),
    ):
        schema = getattr(torch.ops.aten, name).default._schema
        required = [one for one in schema.arguments if not one.kwarg_only and not one.has_default_value()]
        # The registered formulas of these four take (batch, heads, sequence, size), unlike the ops.
        described = (backward if "backward" in name else forward) if turned[0] in shapes else shapes
        tensors = [torch.empty(shape, device="meta") for shape in described]
        flops = flop_registry[getattr(torch.ops.aten, name)](
            *tensors, *[None] * (len(required) - len(tensors)), **({} if turned[0] in shapes else {"out_val": None})
        )
        yield {
            "name": name,
            "shapes": json.dumps([*shapes, *[[]] * (len(schema.arguments) - len(shapes))]),
            "dtypes": json.dumps(["c10::BFloat16"] * len(shapes) + [""] * (len(schema.arguments) - len(shapes))),
            "parameters": json.dumps([""] * len(schema.arguments)),
            "flops": flops,
        }


def golden() -> list[dict[str, Any]]:
    """Every distinct op of the models with its own count."""
    rows: list[dict[str, Any]] = []
    for make, shape in MODELS.values():
        ops, _ = run(make, shape)
        for op in ops:
            row = {**op, "flops": _alone(op)}
            if row not in rows:
                rows.append(row)
    return rows + list(fused_attentions()) + list(described_products())


def _alone(op: dict[str, Any]) -> int:
    """``FlopCounterMode``'s count of one recorded op, run on tensors of its shapes."""
    shapes, dtypes, values = (json.loads(op[key]) for key in ("shapes", "dtypes", "parameters"))
    arguments: list[Any] = []
    for shape, kind, value in zip(shapes, dtypes, values, strict=True):
        if kind == "float":
            arguments.append(torch.ones(shape))
        else:
            arguments.append(json.loads(value.lower()) if value else None)
    keywords = {}
    if op["name"] in ("addmm", "baddbmm"):
        arguments, keywords = arguments[:3], {}
    with FlopCounterMode(display=False) as counter:
        getattr(torch.ops.aten, op["name"])(*arguments, **keywords)
    return counter.get_total_flops()


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n", encoding="utf-8")
    STEPS.write_text(json.dumps(record_steps(TRACE), indent=1) + "\n", encoding="utf-8")
