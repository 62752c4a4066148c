# What is released: functions of the configuration alone.


def public_files():
    """What a release holds of the results: aggregates; no PDF, whose text cannot be searched."""
    files = [f"{RESULTS}/report.html", *number_targets()]
    for figure in ("favor_overview", "pipeline"):
        files.append(f"{RESULTS}/figures/{figure}.svg")
    files += figure_files("svg")
    for name, experiment in EXPERIMENTS.items():
        folder = f"{RESULTS}/{name}"
        labels = [label for label in experiment["tables"] if SPECS[label].publishable]
        for label in labels:
            files += [
                f"{folder}/tables/{label}.{kind}" for kind in ("parquet", "tex", "html")
            ]
            files += comparison_files(name, label)
        files += [f"{folder}/scores/{family}.parquet" for family in families_of(name)]
        files.append(f"{folder}/settings.json")
    files += [*sweep_table_targets(), *sweep_figures("svg")]
    for name in SWEEPS:
        files.append(f"{sweep_folder(name)}/scores.parquet")
        for label in SWEEPS[name]["tables"]:
            files += sweep_comparisons(Namespace(sweep=name, label=label))
    return list(dict.fromkeys(files))


def private_files(file):
    """One file of every experiment, to search what is released for."""
    return [f"{RESULTS}/{name}/{file}" for name in EXPERIMENTS]


def all_generations():
    """What every run generated."""
    files = [
        outputs_file(name, seed, method)
        for name in EXPERIMENTS
        for seed, method in runs_of(name)
        if is_measured(name)
    ]
    return list(dict.fromkeys(files))


def all_authors():
    """The authors of every corpus that a client comes from, or a model or encoder is trained on."""
    return [corpus_file(name, "authors.parquet") for name in CONFIG["corpora"]]


def project_files():
    """What a release says of the project itself, beside the lock file."""
    return [
        str(path)
        for path in (
            ROOT / "LICENSE",
            ROOT / "CITATION.cff",
            ROOT / "workflow" / "schemas" / "config.schema.yaml",
            *sorted((ROOT / "envs").glob("*.yaml")),
        )
    ]
