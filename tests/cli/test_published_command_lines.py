"""Command lines of DLProf as users published them in scripts, notes and notebooks; paths and programs are shortened."""

from __future__ import annotations

import shlex

import pytest

from tensorboard_plugin_dlprof.cli.compatible import is_meant
from tensorboard_plugin_dlprof.cli.compatible_options import parse, split_options
from tensorboard_plugin_dlprof.opening.option_values import words
from tensorboard_plugin_dlprof.reports.catalog import selected_reports
from tensorboard_plugin_dlprof.reports.files import selected_formats

PUBLISHED = [
    "--mode=pytorch | python train.py name --gpu 0 -b 16 -w 8 --dlprof True",
    "--mode=pytorch --output_path=out --duration=60 --iter_start=51 --iter_stop=60 --force=true | poetry run yolo",
    "--mode=simple --reports=summary --output_path=o --delay=10 --force=true --formats=json --suppress_tb_files=true "
    "| python run_training.py --profile_mode --amp",
    "--mode=simple --reports=kernel,iteration,summary | python imagenet_test.py",
    "--mode=simple | python3 -m determined.launch.autohorovod --trial model_def:MNistTrial",
    "--force=true --reports=all --mode=simple | ./testCudNNConv",
    "--mode=pytorch -f true --iter_start 20 --iter_stop 80 | python lenet.py",
    "--mode=pytorch --reports=summary --iter_start=200 --iter_stop=400 | python mnist_train.py",
    "--mode=pytorch --reports=iteration --iter_start=30 --iter_stop=129 | python ./main.py --arch resnet101 -p 10",
    "--mode=pytorch --output_path /out --reports=summary --formats=json | python -m training --debug --dlprof",
    "-f true --mode pytorch --reports=summary,detail,iteration,kernel,tensor --delay 60 --duration 60 "
    "| python3 -u train_1p_cifar10.py --platform gpu",
    "--reports all --force=true --mode=tensorrt --formats=json --output_path=log | python3 ./src/tensorrt_profiler.py",
    "--mode=tensorrt --iter_start=8 --iter_stop=8 --reports=iteration --formats=json --output_path=/t --force=true "
    "| trtexec --loadEngine=m --iterations=10 --duration=0 --warmUp=0",
    "--mode=pytorch --force=true --output_path=a --tb_dir=events --nsys_base_name=base --reports=all "
    "--nsys_opts=\"--sample=cpu --trace 'nvtx,cuda,osrt,cudnn'\" --iter_start=1 --iter_stop=10 | python main.py",
    "--output_path=p --profile_name=p --dump_model_data=true --mode=pytorch "
    '--nsys_opts="-t osrt,cuda,nvtx,cudnn,cublas --cuda-memory-usage=true --gpuctxsw=true " '
    "-f true --reports=all --delay 60 --duration 60 | python net.py --batch 8",
    "--output_path=77 --nsys_base_name=nsys_0 --profile_name=dlpro_0 --mode=pytorch -f true --reports=all -y 60 -d 120 "
    "| python net.py",
    "--graphdef=auto --reports=summary,detail,iteration -y=10 -d=120 --force=true --output_path=./results "
    "--iter_start 20 --iter_stop 80 --profile_name='tf1_mlp' | python tf_mlp.py --num_iter=1000",
    "--graphdef=auto -y=60 -d=120 --force=true --key_node='cluster_7_1/xla_run' --iter_start 40 --iter_stop 80 "
    "| python keras.py",
    "--in_graphdef=/results/mobilenet.pb | /usr/bin/python benchmarks.py --num_gpus=1 --use_fp16",
    "--force=true --nsys_opts='-t cuda,nvtx,cublas,cudnn -s none' -m tensorflow2 | python train.py",
    "--mode=pytorch --nsys_opts=\"--trace 'cuda,osrt,nvtx' --gpu-metrics-device=all\" --output_path=c "
    "--profile_name=n --nsys_base_name=n --force=true | python3 -m examples.classification",
    '--mode=pytorch --nsys_opts="-t cuda,nvtx" --reports all --key_op="__getattr__" | torchrun --nnodes=1 main.py',
    "--mode=pytorch --database=nsys_profile.sqlite --reports=all --iter_start=2 --iter_stop=5 --key_op=TOPK_1 |",
]  # fmt: skip
"""The program after the bar."""


@pytest.mark.parametrize("text", PUBLISHED)
def test_it_is_understood_as_it_is(text: str) -> None:
    """No option is refused, the program is found, and reports, formats and options of nsys make sense."""
    options, program = (shlex.split(part) for part in text.split("|"))
    assert is_meant([*options, *program])
    line = parse([*options, *program])
    assert line.program == program
    assert selected_reports(words(line.text("reports"))) or "report" not in text
    assert selected_formats(words(line.text("formats")))
    assert all(word.startswith("-") or "," in word or word == "none" for word in split_options(line.text("nsys_opts")))
