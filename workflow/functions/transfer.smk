# What the transfer of style encoders to another corpus reads: functions of the configuration alone.


def transfer_of(wildcards):
    return experiment_of(wildcards)["evaluation"]["transfer"]


def transfer_file(wildcards, file):
    return corpus_file(transfer_of(wildcards)["corpus"], file)


def transfer_encoders(name):
    """The encoders that are compared: those of the evaluation that are trained here, apart from the style encoder."""
    experiment = EXPERIMENTS[name]
    return [
        encoder
        for encoder in experiment["evaluation"]["encoders"]
        if CONFIG["encoders"][encoder]["training"] is not None
        and encoder != experiment["style_encoder"]
    ]


for name, experiment in EXPERIMENTS.items():
    if "asce-scale-transfer" in experiment["tables"] and not transfer_encoders(name):
        stop(
            f"config key 'experiments.{name}.evaluation.encoders': table asce-scale-transfer compares style encoders that "
            "are trained here, beside the style encoder; name at least one"
        )


def transfer_embeddings(wildcards):
    """Their embeddings of the second corpus's texts, where an experiment names one."""
    if transfer_of(wildcards) is None:
        return []
    return [
        f"{RESULTS}/{wildcards.experiment}/clients/transfer/{encoder}.parquet"
        for encoder in transfer_encoders(wildcards.experiment)
    ]
