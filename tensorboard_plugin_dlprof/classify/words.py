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
    r"gemm(?!a(?![a-z]))|matmul|mat_mul|matrixmul|(?<![a-z])[a-z]?mma(?![a-z])|mfma|convolv|convolution"
)

_PRODUCTS_TEXT: Final = """
    addmm attention attn bgmv bilinear bmm contraction conv deconv dense dgrad dot einsum experts fc ffn flash
    fmha fprop gemv gmm gqa kkt linear lora matmult matrix matvec mha mla mlp mm mqa mv nsa perceptron
    proj projection retention sddmm sdpa sgmv spmm ssd wgrad wkv
"""

_PRODUCTS: Final = frozenset(_PRODUCTS_TEXT.split())

_HARMLESS_TEXT: Final = """
    a aabb abort abs absmax absolute acc accept accepted accum accumulate ack acks act activate activation activations
    adadelta adagrad adam adamax adamw add addcdiv addcmul addition adjacent adler advect affine align aligned all
    allgather alloc allocate allreduce alpha amax amp anchor anchors and angle angles append apply arange area areas
    arg argmax argmin args argsort arrange array arrays ascending assemble assert assign atan atan2 atomic attraction
    average avg avgpool axis axpy back backward ball ballot ban bandwidth barrier base bases basic batchnorm bbox
    bboxes bcast beam bernoulli beta bf bfloat bfloat16 bfly bfs bias bid bidirectional bin binary bincount binning
    bisect bit bitmask bitmatrix bitonic bitonicsort bits bitwise blackscholes block blocked blocks blockwise blur bn
    bodies bonus bool bound bounds box boxes boxfilter broadcast bucket bucketize buffer build butterfly bwd by byte
    cache cached camera candidate candidates canonicalize carlo cast cat cdf ceil celu change channel channels check
    checkpoint checksum chunked chw chw2hwc claim clamp class cleanup clear clip clone cls coalesced col collect
    colmajor color column columns columnwise colwise combine combined compact compare complex compress compression
    compute concat concatenate cond conj constant consumer cont contiguous convert coo coord coordinates coords copy
    correction cos cosh count counter counters counts cpy crc create criterion crop cross csr cta cu cub cuda cuda1d
    cuda2d cuda3d cum cumsum cumulative cunn cupy curand custom cvt cwise cxx d data daxpy dbias dct decay decompress
    decrypt dedup degree degrees deinterleave delay delta denorm dequant dequantization dequantize dequantized desc
    descriptors destindex detach device devoxelize diag diff difference diffusion digitize dim dims direction dispatch
    dispatcher distance distribution div divide double downcast downsample downscale draft drop dropout dst dtype
    dummy dup duplicate dwt dx dy dynamic eagle edge edgelist edges elem element elements elementwise elu ema emb
    embed embedding embeddings emit empty encrypt entropy entry eps epsilon eq erf error eval exchange exclusive exp
    expand exponential expt external extract eye face faces factor factors fake fast feature features fg fill filling
    filter final finalize find finish finite first fisheye fixed flag flags flashinfer flat flatten flip float float2
    float4 floor flush fmod fmt fn fold for forward fourier fp frame freq frequency from frontier full func functor
    fused future fwd fwht fwt gate gather gating gaussian ge geglu gelu general generate generic get getitem global
    glu gptneox gpu grad gradient grads gravity gray grayscale greedy grid group grouped groupnorm groups gt haar half
    halves hardshrink hardsigmoid hardswish hardtanh hash hashmap head heads heat height helper hidden hist histogram
    hit horizontal host hwc hwcn hypot i id identify identity ids idx im image impl in inclusive increment increments
    index indexed indices indptr inf info init initialise initialize inner inplace input inputs insert int int32 int64
    int8 integrate integrator interleave interleaved interp interpolate intersect inv invalid inverse invert io ipc is
    isclose isfinite isin isinf isnan iter iteration jacobi jagged jitter jsd julia kalman kernel kernels key keyed
    keygen kl kldiv kmap knn kth kthvalue kvcache l1 l2 label lamb laplace large last lastdim latency layer layernorm
    layernorms layout lcg le leaky len length lengths lens lerp less lfu lidar liger linearize linspace lion lists ln
    load loc local locs log logical logsigmoid logspace logsumexp long lookup lookups loop loss low lower lru lse lt
    ltoh lut luts major make mandelbrot map mapped mapping margin mark mask masked masks max maximum maxpool md5 mean
    median median3x3 mem memcpy memory memset merge mersenne mesh metadata middim min minimum mipmap miss mix mo mod
    mode modulate modulated moments momentum monte move mrope msra mtp mul multi multinomial multiplier multiply
    murmur mxfp n naive name nan narrow native nbody nchw ncols ncu nearest neg negate neighbor neighbors neox
    nesterov nf ngram nhwc nllloss nms nn no noaux noise nonzero noop nop norm normal normalise normalization
    normalize normals not notify null num numba number numel nvfp occupancy of offset offsets one onehot ones oneshot
    onesweep online op operator opt optimizer or order out output outputs overflow overlap p pack packbits packed
    packunpack pad padded padding page pagerank pages pair pairs parallel param params parse partial partials
    partition pass patch patchify payload pdf pen penalized penalties penalty pending pens per permutation permute
    permuted philox pi pick pid pinhole pixel pixels pixelwise place plan plus point pointer pointers points pointwise
    poly pool pooling pop populate pos pose poses position positional positions post postprocess pow pre predicate
    prefetch prefix preflight prelu prenorm prepare preprocess pres print prng prob probability probs prod producer
    prune ptr ptrs publish pull push put pybind qknorm qsort quadtree quant quantile quantise quantization quantize
    quantized quasirandom quat queue quicksort radix ragged ramp rand randn random range rank rasterize ratio raw ray
    rays rcp read rebuild recat recip reciprocal recv reduce reduced reducescatter reducev reduction redundancy
    reference reflect region register relative relu relu6 rem remainder remap remove render renorm reorder reorg
    repair repeat repetition replicate repulsion repulsive req requant requantize resample reserve reset reshape
    residual resize resolve result reverse rewind rgb rgba rms rmsnorm rmsprop rnd rng roll rope rotary rotate rotated
    rotation round roundtrip row rowmajor rowptr rows rowwise rsqrt running same sample sampled samples sampling
    saturate save saxpy scal scalar scale scaled scales scaling scan scatter schedule score search seed segment
    segmented segments segsum select selected selection selector selu send seq seqlen seqlens sequence sequential
    serial set setup sgd sha sha256 shape shared shift shm short shot shuffle shutter sigmoid sign signal silu
    similarity simple sin sinewave single sinh sinkhorn sinusoidal size slab sleep slice slot slots small smem smooth
    sobel sobol softcap softmax softplus sort sorted sorting sparse sparsemax sparsify spatial spec special spherical
    spin spinning split splits spmv sq sqrt square squared src sssp stack stacked stage staging start stash stat state
    states static stats std stencil stencil2d stencil3d step stochastic stop store stp stream stride strided striped
    sub subtract sum sumsq swap swiglu swish swizzle swizzled symm sync t table tail take tanh temp temperature tensor
    tensors test texture thread threads threshold tid tile tiled tiles tiling timestep to token tokens top topk topp
    total tr trace trajectory trans translate transpose transposed tree tri tril triton triu true trunc truncate tuple
    two type types u unary uncached uncompact unfold uniform union unique unit unpack unpad unpadding unpermute
    unpermuted unrenumber unroll unrolled unscale unshuffle unsloth unswizzle upcast update upper upsample upscale use
    userbuffers v vadd val valid value values var variance varlen vec vecadd vecs vector vectoradd vectorize
    vectorized verify vertical view viterbi vocab voxel voxelidx voxelize voxels wait warp warping warps watermark
    wave way weight weighted weights welford where width windshield with word words world write x xent xentropy
    xorshift y yuv z zero zeros
"""

_HARMLESS: Final = frozenset(_HARMLESS_TEXT.split())

_EMPTY_TEXT: Final = """
    a an and as at back backward base basic batch batched bf bf16 bfloat bfloat16 block blocked blocks bool bound
    build bwd by class cls col cols compute coop cta cu cub cuda cuda1d cuda2d cuda3d cunn cupy custom cxx d data
    device dim dims direction double dummy dx dy dynamic element elements emit entry execute external fast feature
    features final first float float2 float4 fn for forward fp from full func functor fused future fwd gate gating
    general generate generic global gpu grad gradient grads grid group grouped groups half halves head heads helper
    hidden high host i id identity ids idx impl in info inner inplace input inputs int int32 int64 int8 io is it
    iter iteration iterations kernel kernels key keyed keys l1 l2 large last layer layers len length lengths level
    lists loc local locs long low lower lru main major middle mod mode model module multi multiple mxfp n naive name
    nan narrow native new nf no not null num numba number nvfp of old on one online op operator opt optimized or
    order out outer output outputs packed page paged pages pair pairs parallel param params part partial partials
    pass persistent phase plus point pointer pointers points post pre prim primitive process ptr ptrs pybind queries
    query queue ratio raw rcp record ref reference region register result results rng roll round row rowmajor rows
    run running same seq sequence sequences sequential serial shape shared shm short simple single size sizes sm
    small smem space sparse spec special splits src stage staged stages start stat state states static step stop
    stream stride strided sub symm sync t target task temp tensor tensors test thread threads tile tiled tiles
    tiling to total tree true two type types u uncached unit unroll upper use user using v val valid value values
    var vec vecs vector vectorize vectorized warp warps wave way weight weighted weights where width window with
    without word words work x y z
"""

_TELLING: Final = _HARMLESS - frozenset(_EMPTY_TEXT.split())
"""Harmless words that say what a kernel does; the others (``fused``, ``row``, ``input``) say nothing of it."""

_RISKY_TEXT: Final = """
    abc ada attend based cce cell cholesky chunkwise comba cutlass cv decoder deltaformer deltanet dk dkdv dkdvdq dkv
    dplr dq dqk dqkv dqkwg dv encoder ffn gdn gdr gemma gett gla gmma gram gsa had hadamard hc hedgehog hgrn hmma
    householder hstu imma indexer intra inverse iplr kda kron lce logcumsumexp lowrank mesa mhc mimo mix mixer
    mixes mixing mmac multiplication multiply oja ozaki parallax pk precompute precond product products qkpv qmma
    rebased rectangle replay rht rnn rotate rwkv score scores simplicial solve subtile svd swordfish syrk tc
    tensorcore tensordot tgmm trilinear trimul trmm trsm ttt uncontract wgmma winograd wmma wu wy xdl xdlops xty
"""

_RISKY: Final = frozenset(_RISKY_TEXT.split())
"""Words of kernels that may multiply on matrix units though no word of theirs is a product's."""

_BESIDE_TEXTS: Final = (
    (
        "kv kvcache qk decode prefill paged pv chunk chunked atk",
        """
        alloc amax append bias cache cat concat copy cumsum dequant fill flatten indices info layout lens metadata mrope
        norm normalize pad padding perm permute position positions quant quantize rebuild repeat rms rmsnorm rope
        rotary setup shuffle softmax sort topk transpose unpad update
        """,
    ),
    (
        "qkv",  # A norm before it may be fused with the projection behind it; a rotation is not.
        """
        bias cache concat copy fill indices metadata mrope pad padding quant quantize rebuild repeat rope rotary setup
        split transpose
        """,
    ),
    ("mamba ssm", "copy gather scatter"),
    (
        "moe expert experts router",
        """
        a2a align alltoall combine count counts dispatch finalize gather ids indices loss map maps memset permute prefix
        reduce routing scan scatter softmax sort sorting sum unpermute
        """,
    ),
    (
        "logits",
        """
        anomaly argmax ban bias bitmask clean filter fix gather mask penalty penalties sample sampling scale softcap
        softmax sort temperature topk
        """,
    ),
)
"""Words of attention, of experts and of logits, which are products' words unless one of those with them says what is
done before or after the products."""

_BESIDE: Final = tuple((frozenset(risky.split()), frozenset(beside.split())) for risky, beside in _BESIDE_TEXTS)


@lru_cache(maxsize=65_536)
def holds_product(head: str) -> bool:
    """Whether the function's name, without its namespaces, contains a word for a matrix product."""
    own = head.rsplit("::", 1)[-1]
    return bool(_PRODUCT_ANYWHERE.search(own.lower())) or not _PRODUCTS.isdisjoint(words(own))


@lru_cache(maxsize=65_536)
def is_harmless(head: str) -> bool:
    """Whether the function's name says what the kernel does, and nothing in it is a word of kernels that multiply
    matrices. A name that a tool cut short must consist of harmless words only."""
    found = frozenset(words(head.rsplit("::", 1)[-1]))
    if found.isdisjoint(_TELLING):
        return False
    if head.endswith(CUT):
        return all(word in _HARMLESS or len(word) == 1 or word.isdigit() for word in found)
    return not is_risky(head)


@lru_cache(maxsize=65_536)
def is_risky(head: str) -> bool:
    """Whether a word of the function's name is one of kernels that may multiply, though it is no product's."""
    found = frozenset(words(head.rsplit("::", 1)[-1]))
    return not found.isdisjoint(_RISKY) or any(
        not found.isdisjoint(risky) and found.isdisjoint(beside) for risky, beside in _BESIDE
    )


_HELPERS_TEXT: Final = """
    combine convert dequant dequantize fixup histogram indices init memset merge metadata permute postprocess prepack
    preprocess quantise quantize reduce reduction repack scales schedule scheduler softmax sort swizzle topk transpose
    unpermute workspace
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
