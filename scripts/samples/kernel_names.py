"""Full names of the kernels that the models launch, as CUPTI demangles them. ``value`` is a C++ type: ``c10::Half``."""

from __future__ import annotations

_NATIVE = "void at::native::(anonymous namespace)::"
_REDUCE = "at::native::ReduceOp<{value}, {operation}, unsigned int, {value}, 4, 4>"


def add(value: str) -> str:
    """Functor of ``a + b``."""
    return f"at::native::CUDAFunctor_add<{value}>"


def relu(value: str) -> str:
    """Functor of ReLU, which is a clamp."""
    number = 8 if value == "c10::Half" else 7
    return (
        "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
        f"at::native::detail::ClampLimits)::{{lambda()#1}}::operator()() const::{{lambda()#{number}}}"
        f"::operator()() const::{{lambda({value})#1}}"
    )


def threshold(value: str) -> str:
    """Functor of ReLU's backward."""
    arguments = f"{value}, {value}"
    return (
        f"at::native::BinaryFunctor<{arguments}, {value}, at::native::threshold_kernel_impl<{value}>"
        f"(at::TensorIteratorBase&, {arguments})::{{lambda({arguments})#1}}>"
    )


def multiply(value: str) -> str:
    """Functor of a product with a scalar."""
    return f"at::native::BUnaryFunctor<{value}, {value}, {value}, at::native::binary_internal::MulFunctor<{value}> >"


def gelu(*, backward: bool = False) -> str:
    """Functor of GELU on BF16."""
    name = "GeluBackwardCUDAKernelImpl" if backward else "GeluCUDAKernelImpl"
    return (
        f"at::native::{name}(at::TensorIteratorBase&, at::native::GeluType)::{{lambda()#2}}::operator()() const"
        "::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
    )


TO_HALF = "at::native::float16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
TO_FLOAT = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}"
    "::operator()() const::{lambda(float)#1}"
)


def elementwise(functor: str, tensors: int, width: int) -> str:
    """A vectorised elementwise kernel."""
    arguments = f"{functor}, std::array<char*, {tensors}ul>"
    return f"void at::native::vectorized_elementwise_kernel<{width}, {arguments} >(int, {arguments})"


def mean(value: str) -> str:
    """The mean of every row."""
    operation = _REDUCE.format(value=value, operation=f"at::native::MeanOps<{value}, float, float, {value}>")
    return f"void at::native::reduce_kernel<512, 1, {operation} >({operation})"


def column_sum(value: str) -> str:
    """The sum over rows, a bias's gradient."""
    function = (
        f"at::native::func_wrapper_t<{value}, at::native::sum_functor<{value}, float, {value}>::operator()"
        "(at::TensorIterator&)::{lambda(float, float)#1}>"
    )
    operation = _REDUCE.format(value=value, operation=function)
    return f"void at::native::reduce_kernel<128, 4, {operation} >({operation})"


def softmax(value: str, *, backward: bool = False) -> str:
    """Log-softmax over a long row."""
    width = 4 if value == "float" else 8
    direction, inputs = ("Backward", 2) if backward else ("Forward", 1)
    epilogue = f"at::native::(anonymous namespace)::LogSoftMax{direction}Epilogue"
    parameters = f"{value}*, {f'{value} const*, ' * inputs}int"
    return f"{_NATIVE}cunn_SoftMax{direction}<{width}, {value}, float, {value}, {epilogue}>({parameters})"


def loss(value: str, *, backward: bool = False) -> str:
    """Negative log-likelihood, reduced to one number."""
    const = f"{value} const*"
    if backward:
        parameters = f"{value}*, {const}, long const*, {const}, {const}, bool, int, int, long, long"
        return f"{_NATIVE}nll_loss_backward_reduce_cuda_kernel_2d<{value}, long>({parameters})"
    parameters = f"{value}*, {value}*, {const}, long const*, {const}, bool, long, long, long, long"
    return f"{_NATIVE}nll_loss_forward_reduce_cuda_kernel_2d<{value}, float, long>({parameters})"


def max_pool(value: str, *, backward: bool = False) -> str:
    """Max pooling in NCHW."""
    sizes = ", ".join(["long"] * 3 + ["int"] * 10)
    if backward:
        parameters = f"{value} const*, long const*, int, {sizes}, {value}*"
        return f"{_NATIVE}max_pool_backward_nchw<{value}, float>({parameters})"
    return f"{_NATIVE}max_pool_forward_nchw<{value}, {value}>(int, {value} const*, {sizes}, {value}*, long*)"


def foreach(functor: str, lists: int) -> str:
    """A foreach kernel over ``lists`` lists of tensors."""
    metadata = f"at::native::(anonymous namespace)::TensorListMetadata<{lists}>"
    return (
        f"{_NATIVE}multi_tensor_apply_kernel<{metadata}, at::native::(anonymous namespace)::{functor}, float>"
        f"({metadata}, at::native::(anonymous namespace)::{functor}, float)"
    )


FUSED_ADAMW = (
    f"{_NATIVE}multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
    "at::native::(anonymous namespace)::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::(anonymous namespace)"
    "::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float*, float*>"
    "(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)"
)

LAYER_NORM = (
    f"{_NATIVE}vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, "
    "c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)"
)
LAYER_NORM_INPUT_GRADIENT = (
    f"{_NATIVE}layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float, false>(c10::BFloat16 const*, "
    "c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)"
)
LAYER_NORM_SCALE_GRADIENT = (
    f"{_NATIVE}GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, float, 32u, 32u, 256u, true, true, false, false>"
    "(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, "
    "c10::BFloat16*)"
)
GATHER = "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)"
EMBEDDING_GRADIENT = (
    f"{_NATIVE}embedding_backward_feature_kernel<c10::BFloat16, float, long>(long const*, c10::BFloat16 const*, "
    "c10::BFloat16*, int, long, int)"
)
AMP_UPDATE_SCALE = "at::native::amp_update_scale_cuda_kernel(float*, int*, float const*, double, double, int)"


def convolution_fp32(direction: str, indexed: str, tile: str) -> str:
    """cuDNN's implicit GEMM on CUDA cores."""
    return (
        f"sm80_xmma_{direction}_implicit_gemm_{indexed}f32f32_f32f32_f32_nhwckrsc_nchw_tilesize{tile}x8_stage3"
        "_warpsize2x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn"
    )


def convolution_fp16(direction: str, indexed: str, tile: str) -> str:
    """cuDNN's implicit GEMM on Tensor Cores, FP16 in and FP32 to sum."""
    return (
        f"sm80_xmma_{direction}_implicit_gemm_{indexed}f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize{tile}"
        "_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn"
    )


def layout_change(function: str) -> str:
    """cuDNN's ``nchwToNhwcKernel`` or ``nhwcToNchwKernel``."""
    parameters = "nchw2nhwc_params_t" if function == "nchwToNhwcKernel" else "nhwc2nchw_params_t"
    return (
        f"void cudnn::ops::{function}<__half, __half, float, false, true, (cudnnKernelDataType_t)0>"
        f"(cudnn::ops::{parameters}<float>, __half const*, __half*)"
    )


def flash_attention(function: str, *, backward: bool = False) -> str:
    """FlashAttention 2 on BF16 with heads of 64."""
    direction, warps, more = ("bwd", 8, "8, 4, 4, 4, false, false") if backward else ("fwd", 4, "4, false, false")
    traits = (
        f"pytorch_flash::Flash_{direction}_kernel_traits<64, 128, 128, {more}, cutlass::bfloat16_t, "
        f"pytorch_flash::Flash_kernel_traits<64, 128, 128, {warps}, cutlass::bfloat16_t> >"
    )
    flags = "false, true, false, false, true, true, false"
    return f"void pytorch_flash::{function}<{traits}, {flags}>(pytorch_flash::Flash_{direction}_params)"
