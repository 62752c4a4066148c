"""What methods are called. The names of the paper's methods stand here together: what prints them needs no method."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """What a method is called, and whether it federates.

    title: its name in tables, figures and the report.
    short: its name in tables of comparisons, where that is another.
    released: the name that the paper's public release gives it, "" where the release has no place for it.
    federates: False for a reference, which is never ranked or drawn as one of the collaborative methods.
    note: printed below a table that shows the method; its first character (†) marks the method's name there.
    """

    title: str
    short: str = ""
    released: str = ""
    federates: bool = True
    note: str = ""


# The paper's methods in its order. Each is a file of that name in favor.federation.methods.
PAPER: dict[str, Method] = {
    "base_only": Method("Base only", federates=False),
    "fedavg": Method("FedAvg", released="FedAvg"),
    "fedprox": Method("FedProx", released="FedProx"),
    "pfedme": Method("pFedMe", released="pFedMe"),
    "ditto": Method("Ditto", released="Ditto"),
    "feddpa": Method(
        "FedDPA",
        released="FedDPA",
        note="† FedDPA is trained with the dynamic gate; the reported continuations use the exported per-client mean "
        "validation gate, where its settings do not say otherwise.",
    ),
    "pooled": Method("Pooled PEFT", short="Pooled", released="Pooled PEFT", federates=False),
    "local_only": Method("Local-only", federates=False),
    "local_only_asce": Method("Local-only + ASCE", released="Local-only + ASCE", federates=False),
    "global_asce": Method("Global ASCE"),
    "ditto_asce": Method("Ditto + ASCE"),
    "favor_without_asce": Method("FAVoR w/o ASCE", short="w/o ASCE"),
    "favor": Method("FAVoR", released="FAVoR"),
    "fedavg_finetuned": Method("FedAvg + fine-tuning", short="FedAvg + FT"),
    "ffa_lora": Method("FFA-LoRA"),
    "flexlora": Method("FlexLoRA"),
    "fedex_lora": Method("FedEx-LoRA"),
    "fedsa_lora": Method("FedSA-LoRA"),
    "fedrod_lora": Method("FedRoD-LoRA"),
    "apfl": Method("APFL"),
    "fedalt": Method(
        "FedALT",
        note="‡ FedALT uploads the personal adapter itself; the other personalised methods keep theirs on the client.",
    ),
    "fedavgm": Method("FedAvgM"),
    "fedadam": Method("FedAdam"),
    "fedyogi": Method("FedYogi"),
    "cold_start": Method("FAVoR shared init + private residual (no ASCE)"),
    "cold_start_asce": Method("FAVoR shared init + private residual (ASCE)"),
    "cold_start_random": Method("Random shared init + private residual", federates=False),
    "cold_start_shared": Method("Shared only, no private residual"),
    "average_author": Method("Mythos Avg-Author", federates=False),
    "retrieval": Method("Mythos RAG-Only", federates=False),
    "sheet_retrieval": Method("Mythos Sheet + RAG", federates=False),
    "sheet_retrieval_without_persona": Method("Mythos Sheet (no persona) + RAG", federates=False),
    "sheet": Method("Mythos Sheet Only", federates=False),
}
