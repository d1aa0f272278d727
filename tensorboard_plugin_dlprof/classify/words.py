"""The words in a kernel's name, and whether they may belong to a kernel that multiplies matrices.

Two checks keep the rules from a wrong *no*. Does the name contain a word for a product (``fused_gemm_gelu`` is not just
an activation)? And, if the library is unknown, does a word say what the kernel does, and is none a word of kernels that
may multiply matrices (``norm_kernel`` passes, ``norm_expert_kernel`` and ``fused_kernel`` do not)?
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tensorboard_plugin_dlprof.expressions import Expression

CUT: Final = ("...", "\N{HORIZONTAL ELLIPSIS}", "::")
"""Endings of function names that a tool has truncated."""

_WORD = Expression(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PRODUCT_ANYWHERE = Expression(
    r"gemm(?!a(?![a-z]|rms|rotary))|matmul|mat_mul|matri\w*?(?:mul|prod|pow|chain|squar|times)|(?:mul|prod)\w*?matri|(?<![a-z])[a-z]?mma(?![a-z])|mfma|convolv|convolution"
)

_PRODUCTS_TEXT: Final = """
    addmm attention attn bgmv bilinear bmm contraction conv deconv dense dgrad dot einsum experts fc ffn flash fmha
    fprop gemv gmm gqa kkt linear lora matmult matvec mha mla mlp mm mmq mmvq mqa mv nsa perceptron proj projection
    retention sddmm sdpa sgmv spmm ssd wgrad wkv
"""

_PRODUCTS: Final = frozenset(_PRODUCTS_TEXT.split())

_NO_PRODUCTS: Final = frozenset(("comm", "imm", "shmm", "symm", "tmm"))
"""Words that end as products do (``baddbmm``, ``smm``), but are communication, numbers and symmetric memory."""

_EMPTY_TEXT: Final = """
    a an and as async at back backward barrier barriers base basic batch batched bf bf16 bfloat bfloat16 block
    blocked blocks bool bound buffer buffering build bwd by class cls cluster coalescing col cols compute coop cta
    cu cub cuda cuda1d cuda2d cuda3d cunn cupy custom cxx d data device dim dimension dimensions dims direction
    double dummy dx dy dynamic element elements emit entry epilogue execute external fast faster feature features
    final first float float2 float4 fn for forward fp from full func functor fused future fwd gate gating general
    generate generic global gluon gpu grad gradient grads grid gridwise group grouped groups half halves head heads
    helper hidden hierarchical high host i id identity ids idx impl in info inner inplace input inputs int int32
    int64 int8 invoke io is it iter iteration iterations kernel kernels key keyed keys l1 l2 large larger last
    launch layer layers len length level lists loc local locs long low lower lru main major micro middle mod mode
    model module multi multiple mxfp my n naive name nan narrow native new nf no not null num numba number nvfp
    occupancy of old on one online op operation operator opt optimization optimizations optimized optimizing or
    order out outer output outputs packed page paged pages pair pairs parallel param params part partial partials
    pass persistent phase pipelining plus point pointer pointers points post pre prim primitive process ptr ptrs
    pybind queries query queue ratio raw rcp record ref reference region register result results rng roll round row
    rowmajor rows run running same scheduling seq sequence sequences sequential serial shape shared shm short simple
    single size sm small smem some space sparse spec special splits src stage staged stages start stat state states
    static step stop stream stride strided sub swizzling symm sync t target task temp tensor tensors test thread
    threads tile tiled tiles tiling to total tree true tuning two type types u uncached unit unroll unrolled upper
    use user using v val valid value values var vec vecs vector vectorize vectorized warp warps wave way weight
    weighted weights where width window with without word words work wrapper x y z
"""

_EMPTY: Final = frozenset(_EMPTY_TEXT.split())
"""Words that say nothing of what a kernel does: ``fused``, ``row``, ``input``."""

_SHORT_TEXT: Final = """
    abs acc ack acos add adj all amax amin any asin atan ball bce best bfs bsr cbrt ceil celu chw clip cnt conj coo
    cos cosh cost cpy crop csc csr csx cvt diag diff div dump edge ell elu erf erfc exp eye face fake find fix flag
    flat fmax fmin fmod fps frac free fwt gcd get glu gthr hot hwc hyb hypot inc ind iota lcm leaf lerp log loss lse
    lut lzw mark max min mip mish move mul nan neg nms nnz node ones path pick ping plan pong pop prod pull push put
    rand rank recv rem rgba roll save scal sctr seed selu send sgn shfl sign sin sinc sinh skip snap sqr sqrt std
    sub sum swap tan tanh top trap tree tril triu xor zeta
"""
_SHORT: Final = frozenset(_SHORT_TEXT.split())
"""Words of three and four letters that tell what a kernel does: of elements, of sparse formats, of geometry."""

_RISKY_TEXT: Final = """
    abc attend based cce cell cholesky chunkwise comba cutlass cv decoder deltaformer deltanet dk dkdv dkdvdq dkv
    dplr dq dqk dqkv dqkwg dv encoder euclid ffn film gdr gett gla gmma gram gsa had hadamard hedgehog hessian hgrn
    hmma householder hstu imma iplr kmeans kron lce logcumsumexp lowrank lu mainloop markov mesa mhc mimo mix
    mixer mixes mixing mmac multiplication oja ozaki panel parallax pk precompute precond product products qkpv qmma
    rebased recompute rectangle replay replayssm rht rnn rwkv simplicial solve subtile svd swordfish syrk tc
    tensorcore tensordot tgmm trailing trilinear trimul trmm trsm ttt uncontract wgmma winograd wmma wu wy xdl
    xdlops xty
"""

_RISKY: Final = frozenset(_RISKY_TEXT.split())
"""Words of kernels that may multiply on matrix units though no word of theirs is a product's."""

_AROUND_TEXT: Final = """
    a2a align allgather alloc alltoall amax anomaly append argmax ban bias bitmask build cache cast cat clean clear
    collapse combine commit compress compressed concat convert copy count counter counters counts cumsum cvt dequant
    dispatch downcast elementwise exchange fill filter finalize finish fix flatten gather gating hash headers
    histogram ids indices info init insert join layout lengths lens lookup loss map maps marker mask masks mean
    memset meta metadata mrope node offsets owned pack packed pad padding penalties penalty perm permute plan
    position positions prefix prep prepare quant quantize rebuild recurrence recurrent reduce reduction remap repeat
    reset rope rotary routing sample sampling scale scan scatter select setup shuffle slot slots snapshot softcap
    softmax softplus sort sorting stash store sum swizzle table tail temperature topk track transfer transform
    transpose unpack unpad unpermute upcast update window zero
"""
_AROUND: Final = frozenset(_AROUND_TEXT.split())
"""Words for what is done before or after products."""

_SOFT: Final = tuple(
    (frozenset(risky.split()), _AROUND.union(excusing.split()).difference(not_excusing.split()))
    for risky, excusing, not_excusing in (
        (
            "atk decode gdn hc indexer inverse kda kv kvcache logits maxsim multiply paged prefill pv qk qsa rotate"
            " score scores",
            "differencing lzw norm normalize rms rmsnorm",
            "",
        ),
        ("qkv", "split", ""),  # A norm before it may be fused with the projection behind it.
        ("chunk chunked mamba ssm", "split", "scan select store tail update"),  # Mamba-2's scan of chunks multiplies.
        ("expert experts moe router", "accum accumulate", ""),
        ("persistent", "norm normalization rms rmsnorm layernorm welford", "gather scatter"),
        ("intra", "node nodes nvl nvlink rank ranks", ""),  # Within a chunk, or within a machine.
        ("route", "assignments candidates compatibility cost costs move moves nodes pair vehicle", ""),
    )
)
"""Words of attention, of experts and of logits, which are products' words unless one of those with them says what is
done before or after the products."""


@lru_cache(maxsize=65_536)
def holds_product(head: str) -> bool:
    """Whether the function's name, without its namespaces, contains a word for a matrix product."""
    own = head.rsplit("::", 1)[-1]
    if _PRODUCT_ANYWHERE.search(own.lower()):
        return True
    return any(
        word in _PRODUCTS or (word.endswith(("s", "mm")) and _is_product_in_other_form(word)) for word in words(own)
    )


def _is_product_in_other_form(word: str) -> bool:
    """Whether a word is a product's plural, or a product of matrices with letters before it: ``baddbmm``."""
    return word.removesuffix("s") in _PRODUCTS or (word.endswith("mm") and word not in _NO_PRODUCTS)


@lru_cache(maxsize=65_536)
def is_harmless(head: str) -> bool:
    """Whether the function's name, in which a rule has found what the kernel does, is whole and has no word of kernels
    that multiply matrices."""
    return not (
        head.endswith(CUT)
        or is_risky(head)
        or (_TRITON_DIRECTION.match(head) and not is_helper(head))
        or _SCAN_DIRECTION.search(head)
    )


_TRITON_DIRECTION = Expression(r"_(?:fwd|bwd)_")
"""How Triton's attention is called: what stands behind the direction (``_fwd_diag_kernel``) is a part of it."""

_SCAN_DIRECTION = Expression(r"scan_(?:fwd|bwd)_", words=frozenset(("scan_",)))
"""How scans of state-space models are called, which may multiply chunks."""


def says_something(name: str) -> bool:
    """Whether a name has a word that is not empty, of five letters or more, or one of the shorter ones that stand for
    one thing only."""
    return any(
        (len(word) > 4 and word.isalpha() and word not in _EMPTY) or word in _SHORT or word in _AROUND
        for word in words(name)
    )


_SUSPICIOUS = Expression(
    r"(?i:conv(?!er)|gemm|skinny|(?<![a-z])[wa]\d+[wa]\d+|(?<!ga|su|co)mma|matm|att(?!r|en)|tf_?32|fp_?[48]|(?<!\d)(?:884|1688|16816|8816|16832)(?!\d)|sm_?\d\d"
    r"|tensor_?core|^triton_|^_(?:forward|backward)|persist|pipelin|speciali|swizz|^\w$)|(?<![A-Za-z])[fb]wd(?![a-z])"
    r"|_stage\d|split_?k"
)


@lru_cache(maxsize=65_536)
def is_unsuspicious(head: str) -> bool:
    """Whether a function's name is whole and says something, though no rule has its words, and nothing of a product: no
    word of kernels that multiply matrices or part of one, no narrow type, no instruction's number, and no bare
    direction (``_sparse_fwd``), which is how Triton's products are called."""
    own = head.rsplit("::", 1)[-1]
    return (
        not head.endswith(CUT)
        and says_something(own)
        and not _SUSPICIOUS.search(own)
        and not holds_product(head)
        and not is_risky(head)
    )


@lru_cache(maxsize=65_536)
def is_risky(head: str) -> bool:
    """Whether a word of the function's name is one of kernels that may multiply, though it is no product's."""
    present = frozenset(words(head.rsplit("::", 1)[-1]))
    return not present.isdisjoint(_RISKY) or any(
        not present.isdisjoint(risky) and present.isdisjoint(excusing) for risky, excusing in _SOFT
    )


_HELPERS_TEXT: Final = """
    combine convert dequant dequantize fixup histogram indices init memset merge metadata permute postprocess
    prepack prepare preprocess quantise quantize reduce reduction repack scales schedule scheduler softmax sort
    swizzle topk transpose unpermute workspace
"""
_HELPERS: Final = frozenset(_HELPERS_TEXT.split())
_ENDINGS: Final = frozenset(("kernel", "impl", "entry", "triton", "stage", "v", "device", "func", "x"))


@lru_cache(maxsize=65_536)
def is_helper(head: str) -> bool:
    """Whether the last word of a function's name, without endings such as ``_kernel_v2``, is for what is done before or
    after a product: ``gemm_splitk_reduce_kernel``."""
    own = words(head.rsplit("::", 1)[-1])
    while own and (own[-1] in _ENDINGS or own[-1].isdigit()):
        own.pop()
    return bool(own) and own[-1] in _HELPERS


def is_mover(head: str) -> bool:
    """Whether a function's name begins with a word for what is done before a product: ``PackBetaForTmaKernel``."""
    return words(head.rsplit("::", 1)[-1])[:1] in (["pack"], ["publish"], ["fill"], ["zero"])


def words(name: str) -> list[str]:
    """The words of a name in ``snake_case``, ``CamelCase`` or both, in lower case; numbers are words of their own."""
    return [word.lower() for word in _WORD.findall(name)]
