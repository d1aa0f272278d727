"""Determines framework, compiler and GPU of a program, because advice must fit it.

PyTorch shows in the source, the types of its ops (``AddmmBackward0``, ``empty_strided``, ``Optimizer.step#SGD.step``)
and the names of its kernels (``at::native``, Inductor's).
TensorFlow shows in the types of its ops (NVIDIA's databases; NVTX ranges of NVIDIA's TensorFlow: ``MatMul:
dense/MatMul``) and in the names of its kernels (``tensorflow::``, Eigen, MLIR). XLA shows in ops that run or compile a
cluster (``_XlaRun``, ``cluster_0_1/xla_run``, ``XlaModule:#...``) and in kernels that it names (``fusion_7``).
TensorRT shows in the names of its kernels. JAX shows in the names of its modules, of which the source tells.
``torch.compile`` shows in the ranges around compiled code and in kernels that Inductor names
(``triton_poi_fused_add_3``); Triton kernels that were written by hand do not count.
A program with none of these signs calls CUDA or its libraries itself.
"""

from __future__ import annotations

import enum
import re
from functools import cached_property

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.classify.architecture import AMD_LIBRARIES, is_amd
from tensorboard_plugin_dlprof.classify.vocabulary import RANGE_TYPE
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.efficiency.peaks import Peaks, find_peaks
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Profile


class Framework(enum.Enum):
    """The framework of a program."""

    PYTORCH = "PyTorch"
    TENSORFLOW = "TensorFlow"
    TENSORRT = "TensorRT"
    JAX = "JAX"
    UNKNOWN = ""


TENSORRT_LINK = "https://docs.nvidia.com/deeplearning/tensorrt/"
CUDA_LINK = "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/"
CUBLAS_LINK = "https://docs.nvidia.com/cuda/cublas/"
NO_SHAPES = "A recording of CUDA alone has no shapes."
CUDNN_LINK = "https://docs.nvidia.com/deeplearning/cudnn/"

_MADE_FOR = Expression(r"sm(?:(?<=\bsm)|(?<=_sm))_?(\d{2,3})(?=_|\b)")
"""The architecture that a kernel was compiled for; the GPU has it or a newer one. The pattern starts with letters and
looks behind them, because a search for letters is twenty times faster than one for what may precede them."""

_MADE_FOR_HOPPER = Expression(r"nvjet_(?<=\bnvjet_)(?!sm)")
"""Hopper's nvjet does not name its architecture."""

_SERVER = Expression(r"\b(?:vllm|sglang)(?:::|/\w)")
"""Ops and source files of vLLM and SGLang."""

_HOPPER = 90

_TENSORFLOW_OP = Expression(
    r"(?:_?Xla(?:Run|Compile|Launch|Merge)|AssignVariableOp|ReadVariableOp|VarHandleOp|(?:Resource|Sparse)Apply[A-Z]\w+|"
    r"Conv[23]DBackprop(?:Filter|Input)(?:V2)?|FusedBatchNorm(?:Grad)?V\d|BiasAddGrad|ReluGrad|MaxPoolGrad|"
    r"_Fused(?:Conv2D|MatMul)|IteratorGetNext|SparseSoftmaxCrossEntropyWithLogits|StatefulPartitionedCall|"
    r"_(?:Host)?(?:Send|Recv)|HorovodAllreduce)(?:_\d+)?(?:: .*)?\Z",
    re.DOTALL,
)
"""Types of ops that no other framework has; NVIDIA's TensorFlow writes the node's name behind them."""

_PYTORCH_OP = Expression(
    r"(?:\w+Backward\d|_foreach_\w+|addmm|baddbmm|empty_strided|as_strided|_to_copy|_unsafe_view|native_\w+_norm\w*|"
    r"(?:add|sub|mul|div|copy|zero|fill|relu|detach|addcmul|addcdiv)_|Optimizer\.(?:step|zero_grad)#.*)\Z",
    re.DOTALL,
)
"""Types of ops that are PyTorch's alone, as ``emit_nvtx`` names them, of which no source tells the framework."""

_XLA = Expression(r"\b_?Xla(?:Run|Compile|Launch|Module)|\bxla_(?:run|compile)\b|(?:\b|_)cluster_\d+_\d+/")
COMPILED = Expression(
    r"Torch-Compiled Region|CompiledFxGraph|\bCompiledFunction|\binductor::|/torch/_(?:inductor|dynamo)/|"
    r"\btorchinductor_"
)
"""Ranges around code that ``torch.compile`` made."""

_SIGNS_OF_COMPILED = ("ompiled", "nductor", "/torch/_dynamo/")
"""Every match of ``COMPILED`` contains one of these, and they are soon found in long stacks."""

_INDUCTOR = Expression(r"triton_(?:poi|red|per|for|tem|spl|mix)_")


def framework_of(profile: Profile, libraries: frozenset[str]) -> Framework:
    """The framework of the program.

    Args:
        profile: the program's ops, and what its source says.
        libraries: libraries of its kernels (``classify``).
    """
    reported = profile.info.framework.lower()
    if profile.info.source_format == "pytorch" or profile.dlprof_markers or reported.startswith("pytorch"):
        return Framework.PYTORCH
    if reported == "jax":
        return Framework.JAX
    types = {op.name.rpartition("/")[2] if op.op_type == RANGE_TYPE else op.op_type for op in profile.ops}
    if reported.startswith("tensorflow") or _TENSORFLOW_OP.matching(types):
        return Framework.TENSORFLOW
    if reported.startswith("tensorrt"):
        return Framework.TENSORRT
    if "pytorch" in libraries or _PYTORCH_OP.matching(types) or uses_torch_compile(profile):
        return Framework.PYTORCH
    if libraries & {"tensorflow", "eigen"}:
        return Framework.TENSORFLOW
    # PyTorch and TensorFlow call TensorRT for parts of a model, so it comes last.
    return Framework.TENSORRT if "tensorrt" in libraries else Framework.UNKNOWN


def uses_xla(profile: Profile, libraries: frozenset[str]) -> bool:
    """Whether XLA compiled any part of the program."""
    texts = {text for op in profile.ops for text in (op.name, op.op_type)}
    return "xla" in libraries or bool(_XLA.containing(texts))


def uses_torch_compile(profile: Profile) -> bool:
    """Whether ``torch.compile`` made any part of the program."""
    if inductor_kernels(profile).any():
        return True
    texts = {text for op in profile.ops for text in (op.name, op.stack_trace)}
    return any(any(sign in text for sign in _SIGNS_OF_COMPILED) and COMPILED.search(text) for text in texts)


def inductor_kernels(profile: Profile) -> Bools:
    """Which kernels have a name from Inductor."""
    distinct = distinct_values(profile.kernels.name).tolist()
    texts = {each: profile.strings[each] for each in distinct}
    named = _INDUCTOR.matching(texts.values())
    return are_among(profile.kernels.name, [each for each, text in texts.items() if text in named])


class Program:
    """What kind of program the profile is of, and on which GPU it runs.

    Args:
        profile: The program's profile.
        aggregation: Of the profile.
        efficiency: Of the aggregation.
    """

    def __init__(self, profile: Profile, aggregation: Aggregation, efficiency: Efficiency) -> None:
        self.profile = profile
        self.aggregation = aggregation
        self.efficiency = efficiency

    @cached_property
    def device(self) -> Device | None:
        """The first GPU in use."""
        used = self.aggregation.devices.device_id[self.aggregation.devices.in_use].tolist()
        return next((device for device in self.profile.devices if device.device_id in used), None)

    @cached_property
    def peaks(self) -> Peaks | None:
        """The published rates of the first GPU in use; None if unknown."""
        return find_peaks(self.device.name, self.device.memory_bytes) if self.device else None

    @cached_property
    def capability_major(self) -> int:
        """Major compute capability of the first GPU in use, else of the one in its kernels' names; 0 if unknown."""
        if self.device is not None and (self.device.capability_major or self.is_amd):
            return self.device.capability_major
        names = "\n".join(self.profile.strings.some(distinct_values(self.profile.kernels.long_name)))
        reported = set(map(int, _MADE_FOR.findall(names)))
        if _MADE_FOR_HOPPER.search(names):
            reported.add(_HOPPER)
        made_for = {each.architecture for each in self.profile.kernel_classes.values()}
        reported |= {int(each[3:]) for each in made_for if each.startswith("sm_")}
        return max(reported, default=0) // 10

    @cached_property
    def is_amd(self) -> bool:
        """Whether the GPU is one of AMD's; where no name is recorded, by the libraries of its kernels."""
        named = self.device is not None and self.device.name
        return is_amd(self.device.name) if self.device and named else bool(self._libraries & AMD_LIBRARIES)

    @cached_property
    def _libraries(self) -> frozenset[str]:
        """Libraries of the kernels of the whole profile."""
        facts = self.efficiency.facts
        return frozenset(facts.libraries[number] for number in distinct_values(facts.library).tolist())

    @cached_property
    def framework(self) -> Framework:
        """The framework of the program."""
        return framework_of(self.profile, self._libraries)

    @cached_property
    def serves(self) -> bool:
        """Whether the program is a server of language models, by the names of its ops and functions."""
        return bool(_SERVER.containing(self.profile.strings.texts())) or any(
            _SERVER.search(op.stack_trace) for op in self.profile.ops
        )

    @cached_property
    def compiled(self) -> bool:
        """Whether the framework's compiler made a part of the program: XLA for TensorFlow, else ``torch.compile``."""
        if self.framework is Framework.TENSORFLOW:
            return uses_xla(self.profile, self._libraries)
        return uses_torch_compile(self.profile)

    def advice(
        self,
        torch: str,
        *,
        tensorflow: str,
        tensorrt: str,
        cuda: str,
        jax: str | None = None,
        tensorflow_profiler: str | None = None,
        torch_nsys: str | None = None,
    ) -> str:
        """The text for the program's framework; ``cuda`` is for programs without one, which call CUDA themselves, and
        for JAX where it has no text of its own. ``tensorflow_profiler`` is for recordings of TensorFlow's profiler,
        ``torch_nsys`` for those of Nsight Systems, which DLProf ran, too."""
        own = tensorflow_profiler is not None and self.profile.info.source_format == "xplane"
        by_nsys = torch_nsys is not None and self.profile.info.source_format in ("nsight_systems", "dlprof")
        return {
            Framework.PYTORCH: str(torch_nsys) if by_nsys else torch,
            Framework.TENSORFLOW: str(tensorflow_profiler) if own else tensorflow,
            Framework.TENSORRT: tensorrt,
            Framework.JAX: cuda if jax is None else jax,
            Framework.UNKNOWN: cuda,
        }[self.framework]
