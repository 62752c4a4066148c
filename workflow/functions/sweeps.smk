# Sweeps: series of experiments that share tables and a figure. Functions of the configuration alone.


def sweep_folder(name):
    return f"{RESULTS}/sweeps/{name}"


def sweeps_of(experiment):
    """The sweeps that an experiment is a point of."""
    return [
        sweep
        for sweep in SWEEPS.values()
        if experiment in [point["experiment"] for point in sweep["points"]]
    ]


def sweep_families(name):
    """Metric families behind the tables of a sweep."""
    return sorted(
        {family for label in SWEEPS[name]["tables"] for family in SPECS[label].sources}
    )


def sweep_points(name):
    """The points of a sweep, and the experiments behind them, each once."""
    points = SWEEPS[name]["points"]
    return points, list(dict.fromkeys(point["experiment"] for point in points))


def sweep_scores(wildcards):
    """Score files of every point, one after another."""
    return [
        f"{RESULTS}/{point['experiment']}/scores/{family}.parquet"
        for point in SWEEPS[wildcards.sweep]["points"]
        for family in sweep_families(wildcards.sweep)
    ]


def sweep_comparisons(wildcards):
    """The paired tests behind a sweep's table, of every experiment, where it prints any."""
    return [
        file
        for experiment in sweep_points(wildcards.sweep)[1]
        for file in comparison_files(experiment, wildcards.label)
    ]


def sweep_contexts(name):
    """What a table prints of every point's experiment besides scores."""
    return {
        experiment: table_context(experiment) for experiment in sweep_points(name)[1]
    }


def sweep_figures(kind):
    """The figures of all sweeps that have one."""
    return [
        f"{sweep_folder(name)}/figures/points.{kind}"
        for name, sweep in SWEEPS.items()
        if sweep["figure"]
    ]


def sweep_table_targets():
    return [
        f"{sweep_folder(name)}/tables/{label}.{kind}"
        for name, sweep in SWEEPS.items()
        for label in sweep["tables"]
        for kind in ("parquet", "tex", "html")
    ]


def sweep_methods(name):
    """Rows of the points' experiments, each once."""
    rows = [
        row
        for experiment in sweep_points(name)[1]
        for row in EXPERIMENTS[experiment]["methods"]
    ]
    return list(dict.fromkeys(rows))


def drawn_sweep(wildcards):
    """What the figure of a sweep shows."""
    sweep = SWEEPS[wildcards.sweep]
    experiments = sweep_points(wildcards.sweep)[1]
    return {
        **pick(sweep, "axis", "points", "figure"),
        "methods": sweep_methods(wildcards.sweep),
        "families": sweep_families(wildcards.sweep),
        "style_encoder": EXPERIMENTS[experiments[0]]["style_encoder"],
        "display": {
            row: title
            for experiment in experiments
            for row, title in titles_of(experiment).items()
        },
    }


def sweep_settings():
    """What the report prints of every sweep."""
    settings = {}
    for name, sweep in SWEEPS.items():
        points, experiments = sweep_points(name)
        first = EXPERIMENTS[experiments[0]]
        corpus = CONFIG["corpora"][first["corpus"]]
        settings[name] = {
            **pick(sweep, "title", "axis", "points", "tables", "figure"),
            "methods": sweep_methods(name),
            "display": {
                row: title
                for experiment in experiments
                for row, title in all_titles_of(experiment).items()
            },
            "seeds": sorted(
                {seed for entry in experiments for seed in EXPERIMENTS[entry]["seeds"]}
            ),
            "dataset": corpus["title"],
            "demo": bool(corpus["demo"]),
            "base_model": base_model_title(first["base_model"]),
        }
    return settings
