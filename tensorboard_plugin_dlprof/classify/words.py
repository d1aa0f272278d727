"""The words of a kernel's own name, and whether they may stand in the name of a kernel that multiplies matrices.

Two questions keep the rules from a wrong *no*. Does the name hold a product's word (``fused_gemm_gelu`` is no
activation)? And, for a kernel of no known library, are all its words those of kernels that multiply nothing
(``norm_kernel`` is; nobody knows of ``norm_expert_kernel``)?
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PRODUCT_ANYWHERE = re.compile(r"gemm|matmul|mat_mul|matrixmul|(?<![a-z])[a-z]?mma(?![a-z])|mfma|convolv|convolution")

_PRODUCTS_TEXT: Final = """
    addmm attention attn bgmv bilinear bmm contraction conv deconv dense dgrad dot einsum experts fc ffn flash
    fmha fprop gemv gmm gqa kkt linear logits lora matmult matrix matvec mha mla mlp mm mqa mv nsa perceptron
    proj projection retention sddmm sdpa sgmv spmm ssd wgrad wkv
"""

_PRODUCTS: Final = frozenset(_PRODUCTS_TEXT.split())

_HARMLESS_TEXT: Final = """
    a abs absmax absolute acc accumulate act activation adam adamax adamw add advect affine align all allocate
    alpha amax amp and append apply arange arg argmax argmin argsort assign atomic average avg axpy back
    backward barrier base basic bcast bernoulli beta bf bfloat bfloat16 bfly bfs bias bin bit bitmatrix bitonic
    bits block blocked blocks blur bn bodies bool boxes broadcast bucket bucketize buffer build bwd by byte
    cache carlo cast cat cdf ceil change channel channels checksum chw chw2hwc clamp clear clip clone coalesced
    collect colmajor color column columns combine combined compact compare compute concat concatenate cond
    constant contiguous convert copy cos count counts crc create crop cross cub cuda cuda1d cuda2d cuda3d cumsum
    cumulative cupy custom cvt cwise cxx d data daxpy decay decrypt deinterleave delay delta dequant dequantize
    dequantized device diag diff difference diffusion digitize dim dims dispatch div divide double downsample
    drop dropout dst dx dy elem element elements elementwise elu embed embedding empty encrypt entropy eps
    epsilon eq erf error eval exclusive exp expand exponential extract fast fill filter final finalize find
    finish finite first flag flags flashinfer flat flatten flip float float2 float4 floor fn fold for forward fp
    frame from func functor fused future fwd gather gating gaussian geglu gelu general generic get global gpu
    grad gradient grads gray grid group grouped groupnorm half heat height hist histogram host hwc hwcn hypot i
    id identity ids idx image in inclusive increment increments index indices indptr inf init initialise
    initialize inner inplace input inputs int int32 int64 int8 integrate integrator interleave interp
    interpolate inv inverse invert is isnan iter iteration jacobi julia kalman kernel kernels keygen kvcache l1
    l2 lamb laplace large last layer layernorm layernorms layout lcg len length lengths lerp less liger lion ln
    load local log logsumexp long lookup loop loss low lower lse ltoh lut major make mandelbrot map mapping mask
    masked max md5 mean median median3x3 mem memcpy memory memset merge mersenne metadata min mix mod mode
    moments momentum monte msra mul multiply n naive nan nbody nchw ncols ncu nearest neg negate neox nhwc nms
    noise nonzero noop nop norm normal normalise normalization normalize not null num numba number numel of
    offset offsets one onehot ones online op opt optimizer or order out output outputs overflow overlap p pack
    packed pad padded padding pagerank pair pairs parallel params partial partition pass penalties penalty per
    permutation permute permuted philox pi pixel pixels plan point pointer pointers pointwise pool pooling pop
    pos position positional positions post pow pre predicate prefix prelu prepare prng prod ptr ptrs put pybind
    quant quantise quantize quantized queue radix ramp rand random range rank rasterize ray read recip reduce
    reduced reduction reflect relative relu relu6 remap remove render reorder repeat repetition replicate req
    reset reshape residual resize resolve reverse rgb rgba rms rmsnorm rnd rng roll rope rotary rotate rotation
    round row rowmajor rows rowwise rsqrt running sample sampled samples sampling save saxpy scal scalar scale
    scaled scales scan scatter schedule segment segmented select selu sequence sequential set sgd sha sha256
    shape shared shift short shuffle sigmoid sign silu simple sin single sinusoidal size sleep slice slot slots
    small smem smooth sobel softcap softmax softplus sort sorted sparse spin split sq sqrt square squared src
    sssp stage start stat state stats std stencil stencil2d stencil3d step store stream stride strided sub
    subtract sum swap swiglu swish swizzle swizzled sync t table take tanh temp temperature tensor tensors test
    threshold tid tile tiled tiles to token tokens top topk topp total tr trace transpose transposed tri tril
    triton triu true truncate tuple two type types u unary unfold uniform unique unpack unpad unpermute
    unpermuted unroll unrolled unscale unsloth update upper upsample use v valid value values var variance vec
    vecs vector vectorize vectorized view wait warp warps wave weight weights welford where width with write x
    xent xentropy xorshift y z zero zeros
"""

_HARMLESS: Final = frozenset(_HARMLESS_TEXT.split())


@lru_cache(maxsize=65_536)
def holds_product(head: str) -> bool:
    """Whether the function's own name, without its namespaces, holds a word that stands for a product of matrices."""
    own = head.rsplit("::", 1)[-1]
    return bool(_PRODUCT_ANYWHERE.search(own.lower())) or not _PRODUCTS.isdisjoint(words(own))


@lru_cache(maxsize=65_536)
def is_harmless(head: str) -> bool:
    """Whether every word of the function's own name is one of kernels that multiply no matrices."""
    return all(word in _HARMLESS or len(word) == 1 or word.isdigit() for word in words(head.rsplit("::", 1)[-1]))


def words(name: str) -> list[str]:
    """The words of a name in ``snake_case``, ``CamelCase`` or both, in lower case; numbers are words of their own."""
    return [word.lower() for word in _WORD.findall(name)]
