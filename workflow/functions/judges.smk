# What judges read: functions of the configuration alone.


def judges_of(wildcards):
    return experiment_of(wildcards)["studies"]["judges"]


def judge_targets():
    """Scores of judgements, where an experiment has judges."""
    return [
        f"{RESULTS}/{name}/scores/judges.parquet"
        for name, experiment in EXPERIMENTS.items()
        if experiment["studies"]["judges"] is not None
    ]


def judge_files(wildcards):
    """Judgements and their key; none where the experiment has no judges."""
    if judges_of(wildcards) is None:
        return []
    folder = f"{RESULTS}/{wildcards.experiment}/studies/judges"
    return [f"{folder}/judgements.parquet", f"{folder}/key.parquet"]


def judge_settings(wildcards):
    """How the judge is asked, and for a local one which model it is."""
    judges = judges_of(wildcards)
    keys = ("model", "answer_tokens", "maximum_requests")
    if judges["model"] == "endpoint":
        keys += ("temperature", "requests_per_minute", "parallel", "timeout", "tries")
        return pick(judges, *keys)
    name = judges["base_model"]
    return {
        **pick(judges, *keys),
        "title": base_model_title(name),
        "base": asked_model_settings(name),
    }


def judge_model_files(wildcards):
    """Files of a local judge that is made here."""
    judges = judges_of(wildcards)
    return model_files(judges["base_model"]) if judges["model"] == "local" else []


def judged(wildcards):
    """What the scores of judgements are about."""
    experiment = experiment_of(wildcards)
    judges = experiment["studies"]["judges"]
    return {
        "methods": list(experiment["methods"]) if judges is None else judges["methods"],
        "voice": None if judges is None else judges["voice"],
        "seeds": experiment["seeds"],
        "bootstrap": experiment["evaluation"]["bootstrap"],
    }
