"""Paths as Flax, Haiku, Equinox, Keras, TensorFlow and PyTorch/XLA write them: groups and direction of an op."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.importers.xplane.paths import is_jax_path, read_jax_path, read_tensorflow_path

_JAX = (
    # Flax
    ("jit(step)/jvp(Model)/Dense_0/dot_general", "step", "Model/Dense_0", "dot_general", "fprop"),
    ("jit(step)/transpose(jvp(Model))/Dense_0/dot_general", "step", "Model/Dense_0", "dot_general", "bprop"),
    ("jit(f)/transpose(jvp(Model))/jvp(Model)/checkpoint/CheckpointBlock_0/Dense_0/dot_general", "f",
     "Model/CheckpointBlock_0/Dense_0", "dot_general", "bprop"),
    ("jit(f)/jvp(Model)/Block_0/jit(relu)/max", "f", "Model/Block_0", "max", "fprop"),
    # nnx, which gives no names
    ("jit(f)/transpose(jvp())/dot_general", "f", "", "dot_general", "bprop"),
    ("jit(f)/jit(main)/jvp(Bert)/layers_0/self_attention/query/dot_general", "f", "Bert/layers_0/self_attention/query",
     "dot_general", "fprop"),
    ("jit(f)/jvp(remat(CheckpointBlock_0))/Dense_0/dot_general", "f", "CheckpointBlock_0/Dense_0", "dot_general",
     "fprop"),
    ("jit(f)/transpose(jvp(checkpoint))/Block_3/Dense_0/dot_general", "f", "Block_3/Dense_0", "dot_general", "bprop"),
    ("jit(f)/opt/adam/mul", "f", "opt/adam", "mul", ""),
    ("pmap(f)/jvp(Model)/Dense_0/dot_general[precision=None]", "f", "Model/Dense_0", "dot_general", "fprop"),
    ("jit(f)/shard_map/jvp(Model)/psum", "f", "Model", "psum", "fprop"),
    ("jit(f)/jit(shmap_body)/Model/psum", "f", "Model", "psum", ""),
    ("jit(f)/jvp(net)/mlp/linear_1/dot_general", "f", "net/mlp/linear_1", "dot_general", "fprop"),
    # Haiku: ~ is the constructor of the module before it.
    ("jit(f)/linear/~/dot_general", "f", "linear", "dot_general", ""),
    ("jit(f)/jvp(mlp/~/linear_0)/dot_general", "f", "mlp/linear_0", "dot_general", "fprop"),
    ("jit(f)/transpose(jvp(mlp))/~/linear_0/dot_general", "f", "mlp/linear_0", "dot_general", "bprop"),
    # Equinox, which gives no names but those of functions and of named_scope
    ("jit(make_step)/jit(main)/jvp(jit(__call__))/dot_general", "make_step", "", "dot_general", "fprop"),
    ("jit(f)/jvp(vmap(eqx.nn.MLP))/vmap()/jit(relu)/max", "f", "eqx.nn.MLP", "max", "fprop"),
    ("jit(f)/transpose(jvp(vmap(eqx.nn.MLP)))/eqx.nn.Linear/dot_general", "f", "eqx.nn.MLP/eqx.nn.Linear",
     "dot_general", "bprop"),
    # TensorFlow and Keras by XLA
    ("jit(f)/model/dense/MatMul", "f", "model/dense", "MatMul", ""),
)  # fmt: skip


@pytest.mark.parametrize(("path", "module", "groups", "op_type", "direction"), _JAX)
def test_a_path_of_jax_tells_module_groups_and_direction(
    path: str, module: str, groups: str, op_type: str, direction: str
) -> None:
    """Names inside of transformations are groups; those of the compiled function and of control flow are none."""
    result = read_jax_path(path)
    assert is_jax_path(path)
    assert (result.module, "/".join(result.groups), result.op_type) == (module, groups, op_type)
    assert ("bprop" if result.backward else "fprop" if result.forward else "") == direction


def test_forward_work_done_again_is_backward_and_told() -> None:
    """It runs in the backward pass, in the group of the forward pass."""
    result = read_jax_path("jit(f)/transpose(jvp(Model))/checkpoint/rematted_computation/Block_0/dot_general")
    assert (result.groups, result.backward, result.recomputed) == (("Model", "Block_0"), True, True)


@pytest.mark.parametrize(
    ("path", "groups", "op_type", "direction"),
    [
        ("model/dense/MatMul:MatMul", "model/dense", "MatMul", "fprop"),
        ("model/dense/MatMul", "model/dense", "MatMul", "fprop"),
        ("StatefulPartitionedCall/model/dense/MatMul:MatMul", "model/dense", "MatMul", "fprop"),
        ("gradient_tape/model/dense/MatMul_1:MatMul", "model/dense", "MatMul", "bprop"),
        ("replica_1/gradient_tape/replica_1/model/dense/MatMul:MatMul", "model/dense", "MatMul", "bprop"),
        ("gradients/dense/MatMul_grad/MatMul:MatMul", "dense", "MatMul", "bprop"),
        ("gradients_1/bert/layer_3/add_grad/Sum_1:Sum", "bert/layer_3", "Sum", "bprop"),
        # PyTorch/XLA, without and with XLA_IR_DEBUG=1
        ("aten__addmm", "", "aten__addmm", "fprop"),
        ("MLP.1/Linear[fc1].2/aten__addmm", "MLP.1/Linear[fc1].2", "aten__addmm", "fprop"),
    ],
)
def test_a_path_of_tensorflow_tells_groups_and_direction(path: str, groups: str, op_type: str, direction: str) -> None:
    """Names of scopes are groups; replicas, gradients' own scopes and calls of functions are none."""
    result = read_tensorflow_path(path)
    assert not is_jax_path(path)
    assert ("/".join(result.groups), result.op_type) == (groups, op_type)
    assert ("bprop" if result.backward else "fprop") == direction
