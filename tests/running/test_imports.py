"""A job's imports: what nothing uses stays out, and what is put off is there when it is asked for."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    *("torch._dynamo.eval_frame", "torch.distributed.tensor", "scipy", "sklearn"),
    *("peft", "bitsandbytes", "sentence_transformers", "pytorch_metric_learning"),
)
START = "from favor.running.imports import put_off_unused\nput_off_unused()\nimport sys\n"
TRAINING = """
import torch
import favor.federation.local, favor.federation.inference
from torch.nn.attention.varlen import varlen_attn  # what a GPU's passes attend with
from transformers import Qwen2Config, Qwen2ForCausalLM

model = Qwen2ForCausalLM(Qwen2Config(
    vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1,
))
model.train()(input_ids=torch.arange(8)[None]).logits.sum().backward()
"""


def python(code) -> str:
    return subprocess.run([sys.executable, "-c", START + code], check=True, capture_output=True, text=True).stdout


def test_what_trains_and_generates_loads_no_compiler_no_scipy_and_no_library_that_it_does_not_use() -> None:
    assert python(TRAINING + f"print([name for name in {HEAVY!r} if name in sys.modules])").strip() == "[]"


def test_what_looks_for_a_package_by_importing_it_does_not_find_it() -> None:
    code = """
from favor.running.imports import absent
with absent("json.tool"):
    try:
        import json.tool
    except ImportError:
        print("absent")
import json.tool
with absent("json.tool"):  # not what is imported already
    import json.tool as again
print(again is sys.modules["json.tool"])
"""
    assert python(code).split() == ["absent", "True"]


def test_the_compiler_is_there_when_it_is_asked_for() -> None:
    code = """
import torch
from transformers import Qwen2ForCausalLM
assert "torch._dynamo.eval_frame" not in sys.modules
compiled = torch.compile(lambda x: 2 * x, backend="eager")
print(compiled(torch.tensor(21)).item(), torch._dynamo.disable.__module__)
"""
    assert python(code).split() == ["42", "torch._dynamo.decorators"]


def test_the_compiler_is_whole_when_one_of_its_names_is_asked_for_first() -> None:
    code = """
import torch._dynamo
marked = torch._dynamo.allow_in_graph(len)
print(marked is len, torch._dynamo.config.__name__, torch._dynamo.allow_in_graph.__module__)
"""
    assert python(code).split() == ["True", "torch._dynamo.config", "torch._dynamo.decorators"]
