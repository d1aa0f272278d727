"""Which ranges become ops, and which work belongs to them."""

from __future__ import annotations

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tests.events.building import build, calls, kernels, op, ops


def test_outermost_ops_are_ops_and_the_rest_are_pieces() -> None:
    """Sub-ops collapse; their kernels count for the outermost op."""
    profile = build(
        """
        main op   0-100 aten::linear
        main op   5-10  aten::t
        main op   20-90 aten::addmm
        main call 30-40 cudaLaunchKernel ; corr=1
        main op   200-250 aten::relu
        gpu0 kernel 50-80 gemm ; corr=1
        """
    )
    assert ops(profile) == {"LINEAR_1": ("/linear", "fprop"), "RELU_1": ("/relu", "fprop")}
    assert kernels(profile) == {"LINEAR_1": ["gemm"]}
    assert profile.instances.end_ns.tolist() == [100, 250]


def test_wrappers_and_annotations_are_transparent() -> None:
    """Ops inside evaluate_function, compiled functions and annotations are the ops."""
    profile = build(
        """
        main annotation 0-900 forward
        main op 10-100  CompiledFunction
        main op 20-50   aten::mm
        bw   op 0-100   autograd::engine::evaluate_function: MmBackward0
        bw   op 5-60    MmBackward0
        bw   op 10-50   aten::mm
        bw   op 70-90   aten::sum
        bw   op 200-300 autograd::engine::evaluate_function: torch::autograd::AccumulateGrad
        bw   op 210-290 torch::autograd::AccumulateGrad
        bw   op 220-280 aten::add_
        """
    )
    assert ops(profile) == {
        "MM_1": ("/forward/mm", "fprop"),
        "MMBACKWARD0_1": ("/MmBackward0", "bprop"),
        "SUM_1": ("/sum", "bprop"),
        "ADD__1": ("/add_", "bprop"),
    }


def test_wrapper_without_ops_is_an_op_itself() -> None:
    """The inner of two nested ones; its type is its bare name."""
    profile = build(
        """
        bw op   0-100 autograd::engine::evaluate_function: torch::autograd::GraphRoot
        bw op   10-90 torch::autograd::GraphRoot
        bw call 20-25 cudaLaunchKernel ; corr=1
        gpu0 kernel 50-60 fill ; corr=1
        """
    )
    assert ops(profile) == {"GRAPHROOT_1": ("/GraphRoot", "bprop")}
    assert kernels(profile) == {"GRAPHROOT_1": ["fill"]}


def test_collectives_are_ops_of_their_own() -> None:
    """Even inside another op, by type and process group, without direction."""
    profile = build(
        """
        bw op   0-500   autograd::engine::evaluate_function: torch::autograd::AccumulateGrad
        bw op   10-100  aten::add_
        bw op   200-400 c10d::allreduce_
        bw op   210-390 record_param_comms ; group=dp
        bw call 220-230 cudaLaunchKernelExC ; corr=1
        main op 0-300   MyParallelLinear
        main op 100-200 c10d::_allgather_base_
        main call 120-130 cudaLaunchKernelExC ; corr=2
        main call 250-260 cudaLaunchKernel ; corr=3
        gpu0/20 kernel 300-900 ncclDevKernel_AllReduce_Sum_f32_RING_LL ; corr=1
        gpu0/20 kernel 900-950 ncclDevKernel_AllGather_RING_LL ; corr=2
        gpu0    kernel 950-960 gemm ; corr=3
        """
    )
    assert ops(profile) == {
        "ADD__1": ("/add_", "bprop"),
        "ALL_REDUCE_1": ("/collectives/dp/all_reduce", ""),
        "ALL_GATHER_1": ("/collectives/all_gather", ""),
        "MYPARALLELLINEAR_1": ("/MyParallelLinear", "fprop"),
    }
    assert kernels(profile) == {
        "ALL_REDUCE_1": ["ncclDevKernel_AllReduce_Sum_f32_RING_LL"],
        "ALL_GATHER_1": ["ncclDevKernel_AllGather_RING_LL"],
        "MYPARALLELLINEAR_1": ["gemm"],
    }


def test_the_work_of_a_collective_on_its_backends_thread_is_no_second_call() -> None:
    """The call hands it over and returns, so neither range holds the other: each is told by its name."""
    profile = build("""
        main   op 0-10 c10d::allreduce_
        worker annotation 12-90 gloo:all_reduce
        main   op 100-200 aten::mm
        main   call 110-120 cudaLaunchKernel ; corr=1
        gpu0   kernel 130-140 gemm ; corr=1
    """)
    assert ops(profile) == {
        "ALL_REDUCE_1": ("/collectives/all_reduce", ""),
        "GLOO_ALL_REDUCE_1": ("/collectives/gloo_all_reduce", ""),
        "MM_1": ("/mm", "fprop"),
    }


def test_a_collective_that_only_its_backend_tells_is_the_call() -> None:
    """Old versions of PyTorch record no other range of it; nor does another collective stand for it."""
    profile = build("""
        main   op 0-10 c10d::broadcast_
        worker annotation 12-90 gloo:all_reduce
        main   op 100-200 aten::mm
        main   call 110-120 cudaLaunchKernel ; corr=1
        gpu0   kernel 130-140 gemm ; corr=1
    """)
    assert calls(profile) == {"BROADCAST_1": 1, "ALL_REDUCE_1": 1, "MM_1": 1}


def test_collective_is_named_by_the_first_range_inside_that_tells() -> None:
    """``record_param_comms`` says nothing; what waits for a collective has no other name."""
    profile = build(
        """
        main op         0-500   record_param_comms
        main annotation 100-200 nccl:all_to_all
        main call       120-130 cudaLaunchKernel ; corr=1
        main op         600-700 record_param_comms
        main op         800-900 aten::view
        gpu0/20 kernel  300-900 ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem) ; corr=1
        """
    )
    assert ops(profile) == {
        "ALL_TO_ALL_1": ("/collectives/all_to_all", ""),
        "RECORD_PARAM_COMMS_1": ("/collectives/record_param_comms", ""),
        "VIEW_1": ("/view", "fprop"),
    }


def test_torchscript_is_transparent() -> None:
    """The executor's ranges are no ops where there are ops inside; a user's annotation of that name stays."""
    profile = build(
        """
        main annotation 0-900   forward
        main op         10-890  forward
        main op         20-300  <forward op>
        main op         30-100  aten::linear
        main call       40-50   cudaLaunchKernel ; corr=1
        main call       150-160 cuLaunchKernel ; corr=2
        bw   op         1000-2000 <backward op>
        bw   op         1100-1200 aten::mm
        bw   call       1110-1120 cudaLaunchKernel ; corr=3
        gpu0 kernel     60-90   gemm ; corr=1
        gpu0 kernel     200-290 fused_relu ; corr=2
        gpu0 kernel     1200-1300 gemm ; corr=3
        """
    )
    assert ops(profile) == {
        "LINEAR_1": ("/forward/linear", "fprop"),
        "FUSED_RELU_1": ("/forward/<forward op>/fused_relu", "fprop"),
        "MM_1": ("/mm", "bprop"),
    }


def test_checkpointing_runs_layers_again_as_ops_of_their_own() -> None:
    """A module call inside a backward node is no piece of that node, and keeps its full path."""
    profile = build(
        """
        main module 0-100 nn.Module: Net_0
        main module 10-90 nn.Module: Block_0
        main module 20-80 nn.Module: Linear_0
        main op     30-70 aten::linear
        bw   op     200-400 ReluBackward0
        bw   module 210-300 nn.Module: Linear_0
        bw   op     220-290 aten::linear
        bw   call   230-240 cudaLaunchKernel ; corr=1
        bw   op     310-390 aten::threshold_backward
        bw   call   320-330 cudaLaunchKernel ; corr=2
        gpu0 kernel 400-410 gemm ; corr=1
        gpu0 kernel 420-430 threshold ; corr=2
        """
    )
    assert ops(profile) == {
        "LINEAR_1": ("/Net/Block/Linear/linear", "fprop"),
        "RELUBACKWARD0_1": ("/ReluBackward0", "bprop"),
        "LINEAR_2": ("/Net/Block/Linear/linear", "bprop"),
    }
    assert kernels(profile) == {"LINEAR_2": ["gemm"], "RELUBACKWARD0_1": ["threshold"]}


def test_compiled_regions_are_told_apart_by_kernel() -> None:
    """Kernels launched beside the ops in a region: one op for each name, each launch a call of it."""
    profile = build(
        """
        main op   0-1000  Torch-Compiled Region: 0/0
        main annotation 10-900 ## Call CompiledFxGraph fjs75i4jmhjizyb52gwp7gln7s ##
        main call 20-25   cuLaunchKernel ; corr=1
        main op   100-200 aten::mm
        main call 110-120 cudaLaunchKernel ; corr=2
        main call 300-310 cuLaunchKernel ; corr=3
        main call 400-410 cuLaunchKernel ; corr=4
        gpu0 kernel 50-60 triton_poi_fused_relu_0 ; corr=1
        gpu0 kernel 70-80 gemm ; corr=2
        gpu0 kernel 350-360 triton_poi_fused_relu_3 ; corr=3
        gpu0 kernel 450-460 triton_red_fused_mean_1 ; corr=4
        """
    )
    assert {name for name, _ in ops(profile).values()} == {
        "/mm",
        "/Call CompiledFxGraph/triton_poi_fused_relu",
        "/Call CompiledFxGraph/triton_red_fused_mean",
    }
    assert calls(profile) == {"MM_1": 1, "TRITON_POI_FUSED_RELU_1": 2, "TRITON_RED_FUSED_MEAN_1": 1}
    assert profile.coverage.unassociated_work == 0


def test_replayed_graph_belongs_to_the_op_around_its_launch() -> None:
    """All kernels of a replay share the correlation of the launch; whole graphs have a table of their own."""
    profile = build(
        """
        main op   0-100 graphed_forward
        main call 10-50 cudaGraphLaunch ; corr=1
        main call 200-250 cudaGraphLaunch ; corr=2
        main call 300-350 cudaGraphLaunch ; corr=3
        gpu0 kernel 60-70 a ; corr=1
        gpu0 kernel 70-80 b ; corr=1
        gpu0 kernel 260-270 c ; corr=2
        gpu0 kernel 270-280 d ; corr=2
        gpu0 graph 400-900 graph ; corr=3
        """
    )
    assert kernels(profile) == {"GRAPHED_FORWARD_1": ["a", "b"], "CUDAGRAPHLAUNCH_1": ["c", "d"]}
    assert op(profile, "CUDAGRAPHLAUNCH_1").name == "unassociated_cudaGraphLaunch"
    assert calls(profile)["CUDAGRAPHLAUNCH_1"] == 2
    assert (profile.graphs.start_ns.tolist(), profile.graphs.end_ns.tolist()) == ([400], [900])
    assert [profile.strings[text] for text in profile.calls.name.tolist()] == ["cudaGraphLaunch"]


def test_users_ranges_are_the_ops_of_a_program_without_a_framework() -> None:
    """Each owns what is launched in it and in no range inside it."""
    profile = build(
        """
        main annotation 0-1000  benchmark
        main annotation 100-400 attention
        main annotation 110-200 softmax
        main call 120-125 cudaLaunchKernel ; corr=1
        main call 300-310 cudaLaunchKernel ; corr=2
        main annotation 500-600 nothing
        main annotation 700-800 attention
        main annotation 710-780 softmax
        main call 720-725 cudaLaunchKernel ; corr=3
        main call 2000-2010 cudaLaunchKernel ; corr=4
        gpu0 kernel 130-140 exp ; corr=1
        gpu0 kernel 320-330 ampere_sgemm_128x64_tn ; corr=2
        gpu0 kernel 730-740 exp ; corr=3
        gpu0 kernel 2020-2030 exp ; corr=4
        """
    )
    assert {name: count for (name, _), count in zip(ops(profile).values(), calls(profile).values(), strict=True)} == {
        "/benchmark/attention/softmax": 2,
        "/benchmark/attention": 1,
        "unassociated_exp": 1,
    }
    assert (op(profile, "RANGE_2").op_type, op(profile, "RANGE_2").eligibility) == ("range", 0)


def test_without_gpu_work_every_range_that_holds_no_other_is_an_op() -> None:
    """The time of the host is all that is known. Beside GPU work, those that launch none are none."""
    host = """
        main annotation 0-500   step
        main annotation 10-100  backbone
        main annotation 110-300 engine
        main op         120-290 aten::mm
        main annotation 600-700 post
        """
    assert [name for name, _ in ops(build(host)).values()] == ["/post", "/step/backbone", "/step/engine/mm"]
    work = "main call 800-810 cudaLaunchKernel ; corr=1\ngpu0 kernel 820-830 k ; corr=1"
    assert [name for name, _ in ops(build(host + work)).values()] == ["/step/engine/mm", "unassociated_k"]


def test_users_ranges_own_what_no_op_owns() -> None:
    """Beside the ops of a framework, whatever libraries mark inside, and whichever thread launches meanwhile."""
    profile = build(
        """
        main iteration  0-900   ProfilerStep#3
        main annotation 100-300 forward
        main op         110-150 aten::mm
        main call       120-125 cudaLaunchKernel ; corr=1
        main annotation 200-220 cub::DeviceReduce ; domain=CCCL
        main call       205-210 cudaLaunchKernel ; corr=2
        main annotation 230-240 ncclCommInitRank ; domain=NCCL
        main call       250-260 cudaLaunchKernel ; corr=3
        main annotation 400-500 backward
        bw   call       410-420 cudaLaunchKernel ; corr=4
        bw   call       430-440 cudaLaunchKernel ; corr=5
        bw   op         450-480 AddBackward0
        bw   call       460-470 cudaLaunchKernel ; corr=6
        bw   call       550-560 cudaLaunchKernel ; corr=7
        main annotation 600-700 Optimizer.step#Adam.step
        main call       610-620 cudaLaunchKernel ; corr=8
        rank1/main annotation 0-900 other process
        rank1/bw call   410-420 cudaLaunchKernel ; corr=4
        gpu0 kernel 910-911 gemm ; corr=1 ; process=
        gpu0 kernel 912-913 reduce ; corr=2 ; process=
        gpu0 kernel 914-915 scale ; corr=3 ; process=
        gpu0 kernel 916-917 gemm_nt ; corr=4 ; process=
        gpu0 kernel 918-919 gemm_tn ; corr=5 ; process=
        gpu0 kernel 920-921 add ; corr=6 ; process=
        gpu0 kernel 922-923 late ; corr=7 ; process=
        gpu0 kernel 924-925 adam ; corr=8 ; process=
        gpu1 kernel 916-917 theirs ; corr=4 ; process=rank1
        """
    )
    result = kernels(profile)
    assert {op(profile, op_id).name: sorted(names) for op_id, names in result.items()} == {
        "/forward/mm": ["gemm"],
        "/forward": ["reduce", "scale"],
        "/backward": ["gemm_nt", "gemm_tn"],
        "/AddBackward0": ["add"],
        "unassociated_late": ["late"],
        "/Optimizer.step#Adam.step": ["adam"],
        "/other process": ["theirs"],
    }
    assert calls(profile)["RANGE_2"] == 2, "each launch, as the op inside has its own time"
    assert calls(profile)["RANGE_3"] == 1


def test_fused_layers_of_tensorrt() -> None:
    """The type names the fused nodes, the path is that of the first."""
    profile = build(
        """
        main annotation 0-100 ExecutionContext::execute ; domain=TensorRT
        main op 10-20 /layer1/conv1/Conv + /layer1/relu/Relu ; domain=TensorRT
        main op 30-40 MatMul_12 + Add_13 ; domain=TensorRT
        main op 50-60 Reformatting CopyNode for Output Tensor 0 to /layer1/conv1/Conv + Relu ; domain=TensorRT
        """
    )
    assert ops(profile) == {
        "CONV + RELU_1": ("/ExecutionContext::execute/layer1/conv1/Conv + Relu", "fprop"),
        "MATMUL + ADD_1": ("/ExecutionContext::execute/MatMul + Add", "fprop"),
        "REFORMATTING COPYNODE_1": ("/ExecutionContext::execute/layer1/conv1/Reformatting CopyNode", "fprop"),
    }
    assert op(profile, "MATMUL + ADD_1").eligibility == 0


def test_nodes_of_tensorflow() -> None:
    """Named as in the graph, one op however often it runs; gradients by their scope; a node that runs nodes is none."""
    core = "domain=tensorflow-core"
    profile = build(
        f"""
        main op 0-400 StatefulPartitionedCall: StatefulPartitionedCall ; {core}
        main op 10-20 MatMul: model/dense/MatMul ; {core}
        main op 30-40 MatMul: gradient_tape/model/dense/MatMul ; {core}
        main op 50-60 Conv2DBackpropFilter: training/gradients_1/conv_grad/Conv2DBackpropFilter ; {core}
        main op 110-120 MatMul: model/dense/MatMul ; {core}
        main op 130-140 MatMul: model/dense_1/MatMul ; {core}
        main op 500-510 StatefulPartitionedCall: StatefulPartitionedCall_1 ; {core}
        main op 520-530 Cast: gradientless/Cast ; {core}
        main op 600-610 MatMul: mine
        """
    )
    assert ops(profile) == {
        "MATMUL_1": ("/model/dense/MatMul", "fprop"),
        "MATMUL_2": ("/gradient_tape/model/dense/MatMul", "bprop"),
        "CONV2DBACKPROPFILTER_1": ("/training/gradients_1/conv_grad/Conv2DBackpropFilter", "bprop"),
        "MATMUL_3": ("/model/dense_1/MatMul", "fprop"),
        "STATEFULPARTITIONEDCALL_1": ("/StatefulPartitionedCall_1", "fprop"),
        "CAST_1": ("/gradientless/Cast", "fprop"),
        "MATMUL: MINE_1": ("/MatMul: mine", "fprop"),
    }
    assert calls(profile)["MATMUL_1"] == 2
    assert op(profile, "MATMUL_1").eligibility == Eligibility.ELIGIBLE
    assert op(profile, "CONV2DBACKPROPFILTER_1").eligibility == Eligibility.ELIGIBLE
    assert op(profile, "CAST_1").eligibility != Eligibility.ELIGIBLE


def test_ops_without_a_telling_type_are_eligible_by_their_kernels() -> None:
    """A graph or a user's range that holds a product of matrices could use matrix units."""
    gemm = "ampere_sgemm_128x64_tn"
    profile = build(
        f"""
        main annotation 0-100   final matmul
        main call 10-20 cudaLaunchKernel ; corr=1
        main annotation 200-300 softmax
        main call 210-220 cudaLaunchKernel ; corr=2
        main call 400-410 cudaLaunchKernel ; corr=3
        gpu0 kernel 30-40 {gemm} ; corr=1
        gpu0 kernel 230-240 softmax_warp_forward ; corr=2
        gpu0 kernel 430-440 {gemm} ; corr=3
        """
    )
    assert {item.name: item.eligibility for item in profile.ops} == {
        "/final matmul": Eligibility.ELIGIBLE,
        "/softmax": Eligibility.NOT_ELIGIBLE,
        f"unassociated_{gemm}": Eligibility.UNASSOCIATED,
    }


def test_what_runs_on_matrix_units_is_eligible() -> None:
    """An op of an unknown type is eligible when a kernel proves it; a kernel outside ops changes nothing."""
    tensor = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn"
    profile = build(
        f"""
        main op 0-100   mylib::fused_block
        main call 10-20 cudaLaunchKernel ; corr=1
        main op 200-300 mylib::other_block
        main call 210-220 cudaLaunchKernel ; corr=2
        main call 400-410 cudaLaunchKernel ; corr=3
        gpu0 kernel 30-40 {tensor} ; corr=1
        gpu0 kernel 230-240 volta_sgemm_128x64_nn ; corr=2
        gpu0 kernel 430-440 {tensor} ; corr=3
        """
    )
    assert [item.eligibility for item in profile.ops] == [
        Eligibility.ELIGIBLE,
        Eligibility.NOT_ELIGIBLE,
        Eligibility.UNASSOCIATED,
    ]
