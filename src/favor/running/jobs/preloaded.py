"""The libraries that are loaded before a job is forked. They and their order count in every fingerprint."""

# What jobs import beside the package; models pretrained here are of Qwen2's kind, encoders of RoBERTa's and BERT's.
LIBRARIES = (
    *("pydantic.fields", "pydantic.functional_validators", "pandas", "pyarrow.dataset", "pyarrow.parquet"),
    *("scipy.stats", "sklearn.metrics", "regex"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg"),
    *("torch", "torch._dynamo", "safetensors.torch", "tokenizers", "accelerate", "snakemake.script"),
    *("transformers.models.auto.tokenization_auto", "transformers.models.qwen2.modeling_qwen2"),
    *("transformers.models.roberta.modeling_roberta", "transformers.models.bert.modeling_bert"),
)
