"""The rules of kernel classification, in the order in which they are tried: the first that applies decides.

The tables are data: for a new kernel, add a row to the table of its library and a name to
``tests/classify/collected_names.tsv``. The order of the tables matters too: names that contain other names come first
(a Triton fusion is named after all of its ops, a CUTLASS kernel of FlashAttention contains GEMM types), guesses come
last.
"""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.amd import RULES as AMD
from tensorboard_plugin_dlprof.classify.rules.attention import RULES as ATTENTION
from tensorboard_plugin_dlprof.classify.rules.collectives import RULES as COLLECTIVES
from tensorboard_plugin_dlprof.classify.rules.compilers import RULES as COMPILERS
from tensorboard_plugin_dlprof.classify.rules.cublas import RULES as CUBLAS
from tensorboard_plugin_dlprof.classify.rules.cudnn import RULES as CUDNN
from tensorboard_plugin_dlprof.classify.rules.fallback import RULES as FALLBACK
from tensorboard_plugin_dlprof.classify.rules.libraries import RULES as LIBRARIES
from tensorboard_plugin_dlprof.classify.rules.projects import RULES as PROJECTS
from tensorboard_plugin_dlprof.classify.rules.pytorch import RULES as PYTORCH
from tensorboard_plugin_dlprof.classify.rules.quantised import RULES as QUANTISED
from tensorboard_plugin_dlprof.classify.rules.rule import Rule
from tensorboard_plugin_dlprof.classify.rules.sequence import RULES as SEQUENCE
from tensorboard_plugin_dlprof.classify.rules.serving import RULES as SERVING
from tensorboard_plugin_dlprof.classify.rules.tensorflow import RULES as TENSORFLOW

RULES: Final[tuple[Rule, ...]] = (
    *COMPILERS,
    *COLLECTIVES,
    *PROJECTS,
    *SEQUENCE,
    *ATTENTION,
    *AMD,
    *QUANTISED,
    *CUDNN,
    *CUBLAS,
    *TENSORFLOW,
    *PYTORCH,
    *SERVING,
    *LIBRARIES,
    *FALLBACK,
)
