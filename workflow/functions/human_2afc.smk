# What the human audit reads and writes: functions of the configuration alone.


def audit_of(wildcards):
    """The human audit's configuration, or None."""
    return experiment_of(wildcards)["studies"]["human_2afc"]


def audit_folder(name):
    return f"{RESULTS}/{name}/studies/human_2afc"


def study_targets():
    """The pages of every human audit that is configured."""
    return [
        f"{audit_folder(name)}/annotator_{number}.html"
        for name, experiment in EXPERIMENTS.items()
        if experiment["studies"]["human_2afc"] is not None
        for number in range(1, experiment["studies"]["human_2afc"]["annotators"] + 1)
    ]


def printed_studies(name):
    """The studies of an experiment as settings and report print them; no path of this machine."""
    return {
        study: settings and {k: v for k, v in settings.items() if k != "responses"}
        for study, settings in EXPERIMENTS[name]["studies"].items()
    }


def audited_generations(wildcards):
    """The outputs that items may be drawn from."""
    return [
        outputs_file(wildcards.experiment, seed, method)
        for seed in experiment_of(wildcards)["seeds"]
        for method in audit_of(wildcards)["methods"]
    ]


def audit_items(wildcards):
    return (
        []
        if audit_of(wildcards) is None
        else f"{audit_folder(wildcards.experiment)}/items.parquet"
    )


def response_files(wildcards):
    """The response files that have come back."""
    audit = audit_of(wildcards)
    if audit is None or audit["responses"] is None:
        return []
    paths = sorted(str(path) for path in Path(audit["responses"]).glob("*.json"))
    for path in paths:
        # Snakemake would take them for wildcards.
        if set(path) & set("{}"):
            stop(f"{path}: a name with braces cannot be read; rename the file")
    return paths


def audit_scoring(wildcards):
    """What the scoring of the audit reads; without an audit, the sources whose rows say that there is none."""
    audit = audit_of(wildcards)
    if audit is None:
        return {"methods": ["ditto", "favor"], "configured": False}
    return {"configured": True, **pick(audit, "methods", "annotators", "seed")}
