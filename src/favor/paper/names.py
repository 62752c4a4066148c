"""Names as the paper prints them: methods, controls, encoder roles. A key unknown here prints as itself.

Everything is plain Unicode ("FedDPA†"); the LaTeX and HTML writers translate.
"""

from __future__ import annotations

from collections.abc import Mapping

METHODS: dict[str, str] = {
    "base_only": "Base only",
    "fedavg": "FedAvg",
    "fedprox": "FedProx",
    "pfedme": "pFedMe",
    "ditto": "Ditto",
    "feddpa": "FedDPA†",
    "pooled": "Pooled PEFT",
    "local_only": "Local-only",
    "local_only_asce": "Local-only + ASCE",
    "global_asce": "Global ASCE",
    "ditto_asce": "Ditto + ASCE",
    "favor_without_asce": "FAVoR w/o ASCE",
    "favor": "FAVoR",
    "cold_start": "FAVoR shared init + private residual (no ASCE)",
    "cold_start_asce": "FAVoR shared init + private residual (ASCE)",
    "cold_start_random": "Random shared init + private residual",
    "cold_start_shared": "Shared only, no private residual",
    "average_author": "Mythos Avg-Author",
    "retrieval": "Mythos RAG-Only",
    "sheet_retrieval": "Mythos Sheet + RAG",
    "sheet_retrieval_without_persona": "Mythos Sheet (no persona) + RAG",
    "sheet": "Mythos Sheet Only",
}

# As the tables of comparisons print them.
SHORT_METHODS: dict[str, str] = {"pooled": "Pooled", "feddpa": "FedDPA", "favor_without_asce": "w/o ASCE"}
METRICS: dict[str, str] = {
    "author_accuracy": "Author acc.",
    "top1_cosine": "Top-1 cosine",
    "semantic_similarity": "SemSim",
    "bertscore_f1": "BERTScore",
    "assistant_score": "Asst. score",
    "generated_source_auc": "AUC",
    "generated_source_eer": "EER",
}

# Adapted projections, attention first.
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

# Methods of the paper that do not federate: references, never ranked beside collaborative methods in figures.
PROMPTING = ("average_author", "retrieval", "sheet_retrieval", "sheet_retrieval_without_persona", "sheet")
REFERENCES = frozenset({"base_only", "local_only", "local_only_asce", "pooled", *PROMPTING})

# Bounds of every metric: the authors' own continuations, and those continuations dealt to other authors.
CONTROLS: dict[str, str] = {
    "gold": "Own continuations (upper bound)",
    "shuffled": "Shuffled authors (lower bound)",
}

ENCODERS: dict[str, str] = {
    "style": "ASCE",
    "independent": "ASCE-B",
    "styledistance": "StyleDistance",
    "minilm": "MiniLM",
    "stylometry": "Stylometry",
    "roberta": "RoBERTa",
    "luar": "LUAR-MUD",
    "star": "STAR",
    "asce_a": "ASCE-A",
    "asce_b": "ASCE-B",
}

DAGGER_NOTE = (
    "† FedDPA is trained with the dynamic gate; the reported continuations use the exported per-client mean "
    "validation gate, where its settings (gate_training, gating) do not say otherwise."
)


def method_name(key: str, display: Mapping[str, str] | None = None) -> str:
    """Return the printed name of method or control ``key``; ``display`` (from the configuration) goes first."""
    return {**METHODS, **CONTROLS, **(display or {})}.get(key, key)


def encoder_name(role: str) -> str:
    """Return the printed name of an encoder role or key."""
    return ENCODERS.get(role, role)
