# Tables, figures and the report.

import shutil

LATEX = shutil.which("latexmk") is not None and shutil.which("pdflatex") is not None
FIGURES = ("training_curves", "retention_utility", "allocation")


def table_targets():
    return [
        f"{RESULTS}/{name}/tables/{label}.{kind}"
        for name, experiment in EXPERIMENTS.items()
        for label in experiment["tables"]
        for kind in ("parquet", "tex", "html")
    ]


def report_targets():
    if not LATEX and workflow.is_main_process:
        print(
            "LaTeX (latexmk, pdflatex) is not installed: report.pdf is left out.",
            file=sys.stderr,
        )
    return [f"{RESULTS}/report.html", *([f"{RESULTS}/report.pdf"] if LATEX else [])]


def paper_file(label):
    path = SOURCE / "favor" / "report" / "paper_values" / f"{label}.csv"
    return (
        [str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)]
        if path.is_file()
        else []
    )


def table_module(label):
    return f"favor.report.tables.{label.replace('-', '_')}"


def independent_encoder(name):
    """The second style encoder, trained on authors of role asce_b, where an experiment has one."""
    for encoder in EXPERIMENTS[name]["evaluation"]["encoders"]:
        training = CONFIG["encoders"][encoder]["training"]
        if training is not None and training["role"] == "asce_b":
            return {"independent": encoder}
    return {}


def table_context(name):
    """What a table prints besides scores."""
    experiment = EXPERIMENTS[name]
    corpus = CONFIG["corpora"][experiment["corpus"]]
    return {
        "experiment": name,
        "methods": list(experiment["methods"]),
        "dataset": corpus["title"],
        "paper_dataset": corpus["paper_dataset"] or "",
        "encoders": {"style": experiment["style_encoder"], **independent_encoder(name)},
        "display": titles_of(name),
        "seeds": experiment["seeds"],
        "absences": {},
    }


rule make_table:
    input:
        scores=lambda w: [
            f"{RESULTS}/{w.experiment}/scores/{family}.parquet"
            for family in load_spec(w.label).sources
        ],
        paper=lambda w: paper_file(w.label),
    output:
        cells=f"{RESULTS}/{{experiment}}/tables/{{label}}.parquet",
        tex=f"{RESULTS}/{{experiment}}/tables/{{label}}.tex",
        html=f"{RESULTS}/{{experiment}}/tables/{{label}}.html",
    log:
        f"{RESULTS}/logs/make_table/{{experiment}}-{{label}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_table/{{experiment}}-{{label}}.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        cfg=lambda w: cfg(**table_context(w.experiment)),
        code=lambda w: code("make_table", table_module(w.label)),
    script:
        "../scripts/make_table.py"


def training_logs(wildcards):
    """Training logs of every run of an experiment: shared tracks first, then personal stages."""
    logs = {}
    for seed, method in runs_of(wildcards.experiment):
        plan = PLANS[wildcards.experiment, method][1]
        place = Namespace(
            experiment=wildcards.experiment, seed=str(seed), method=method
        )
        if plan.shared is not None:
            for number, cohort in enumerate(
                rounds_of(wildcards.experiment, seed, plan.shared.sampling)
            ):
                for batch in range(len(batches(cohort, per_job(place)))):
                    folder = f"{track_folder(place, plan.shared)}/clients/round{number}"
                    logs[f"{folder}/batch{batch}.log.parquet"] = None
        if plan.personal is not None:
            for phase in personal_phases(place, plan):
                for batch in range(
                    len(batches(personal_clients(place, plan, phase), per_job(place)))
                ):
                    pack = personal_file(place, method, phase, batch)
                    logs[pack.replace(".safetensors", ".log.parquet")] = None
    return list(logs)


rule draw_figures:
    input:
        logs=training_logs,
        prototypes=f"{RESULTS}/{{experiment}}/scores/prototypes.parquet",
        utility=f"{RESULTS}/{{experiment}}/scores/utility.parquet",
        allocation=f"{RESULTS}/{{experiment}}/clients/allocation.parquet",
    output:
        expand(
            f"{RESULTS}/{{{{experiment}}}}/figures/{{figure}}.{{kind}}",
            figure=FIGURES,
            kind=("svg", "pdf"),
        ),
    log:
        f"{RESULTS}/logs/draw_figures/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_figures/{{experiment}}.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        cfg=lambda w: cfg(
            methods=list(experiment_of(w)["methods"]),
            style_encoder=experiment_of(w)["style_encoder"],
            tracks={
                method: plan.shared.track
                for (name, method), (_, plan, _) in PLANS.items()
                if name == w.experiment and plan.shared is not None
            },
        ),
        code=code("draw_figures"),
    script:
        "../scripts/draw_figures.py"


rule draw_overview:
    output:
        expand(
            f"{RESULTS}/figures/{{figure}}.{{kind}}",
            figure=("favor_overview", "pipeline"),
            kind=("svg", "pdf"),
        ),
    log:
        f"{RESULTS}/logs/draw_overview.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_overview.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        code=code("draw_overview"),
    script:
        "../scripts/draw_overview.py"


def report_settings():
    """Resolved values the report prints, by experiment; no paths of this machine."""
    settings = {}
    for name, experiment in EXPERIMENTS.items():
        base = CONFIG["base_models"][experiment["base_model"]]
        settings[name] = {
            "experiment": {
                key: value
                for key, value in experiment.items()
                if key not in ("methods", "tables")
            },
            "methods": {row: PLANS[name, row][2] for row in experiment["methods"]},
            "display": {
                row: PLANS[name, row][1].display for row in experiment["methods"]
            },
            "tables": experiment["tables"],
            "corpus": {
                k: v
                for k, v in CONFIG["corpora"][experiment["corpus"]].items()
                if k != "path"
            },
            "base_model": base["title"]
            or (
                Path(base["source"]).name
                if base["source"]
                else experiment["base_model"]
            ),
        }
    return settings


def report_inputs(file):
    """One file of every experiment's corpus."""
    return [
        corpus_file(experiment["corpus"], file) for experiment in EXPERIMENTS.values()
    ]


rule report:
    input:
        tables=[path for path in table_targets() if path.endswith(".parquet")],
        figures=expand(
            f"{RESULTS}/{{experiment}}/figures/{{figure}}.svg",
            experiment=EXPERIMENTS,
            figure=FIGURES,
        ),
        overview=f"{RESULTS}/figures/favor_overview.svg",
        dropped=report_inputs("dropped.parquet"),
        roster=report_inputs("roster.parquet"),
        splits=report_inputs("splits.parquet"),
        overlap=report_inputs("overlap.parquet"),
        allocation=expand(
            f"{RESULTS}/{{experiment}}/clients/allocation.parquet",
            experiment=EXPERIMENTS,
        ),
    output:
        *report_targets(),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        cfg=lambda w: cfg(results=RESULTS, experiments=report_settings()),
        code=code(
            "report",
            *sorted(
                {
                    table_module(label)
                    for e in EXPERIMENTS.values()
                    for label in e["tables"]
                }
            ),
        ),
    script:
        "../scripts/report.py"
