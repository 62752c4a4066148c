# What a job asks for: functions of the configuration alone.


def device_of(wildcards):
    """Where a job's model or encoder may run: 'auto' (a GPU where there is one), 'cpu' or 'cuda'."""
    names = wildcards.keys()
    if "encoder" in names:
        kind = CONFIG["encoders"][wildcards.encoder]["kind"]
        return "cpu" if kind == "stylometry" else "auto"
    if "assistant" in names:
        return "auto"
    if "model" in names:
        return CONFIG["base_models"][wildcards.model]["device"]
    return CONFIG["base_models"][experiment_of(wildcards)["base_model"]]["device"]


def gpus(wildcards):
    """GPUs of a job that can use one: 1, and 0 where its device is the CPU."""
    return int(device_of(wildcards) != "cpu")


def judge_gpus(wildcards):
    """GPUs of a judge: those of its base model where it is local."""
    judges = judges_of(wildcards)
    if judges is None or judges["model"] != "local":
        return 0
    return int(CONFIG["base_models"][judges["base_model"]]["device"] != "cpu")
