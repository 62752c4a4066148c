# What is scored, printed and reported.

import shutil

from favor.paper.names import METHODS
from favor.foundation.names import nearest
from favor.foundation.registry import FIGURES, METRIC_FAMILIES
from favor.report.figure_specs import asked
from favor.report.specs import load_spec, spec_module

LATEX = shutil.which("latexmk") is not None and shutil.which("pdflatex") is not None


def titles_of(name):
    """Printed names of an experiment's rows, where they are not the paper's own."""
    titles = all_titles_of(name)
    return {
        row: title
        for row, title in titles.items()
        if row not in METHODS or title != PLANS[name, row][1].display
    }


def all_titles_of(name):
    """Names of an experiment's rows."""
    return {
        row: row_title(row, overrides, PLANS[name, row][1])
        for row, overrides in EXPERIMENTS[name]["methods"].items()
    }


def load_specs(owners, over_points):
    """The tables of experiments, or of sweeps, by label."""
    specs = {label: load_spec(label) for owner in owners for label in owner["tables"]}
    for label, spec in specs.items():
        if spec.over_points != over_points:
            place = "a sweep ('sweeps')" if spec.over_points else "an experiment"
            raise UserError(f"config key 'tables': '{label}' is a table of {place}")
    return specs


try:
    SPECS = load_specs(EXPERIMENTS.values(), False) | load_specs(SWEEPS.values(), True)
except UserError as error:
    stop(error)


def configured(name, key):
    """Whether an experiment has a value for a dotted key, such as studies.judges."""
    value = EXPERIMENTS[name]
    for part in key.split("."):
        value = value[part]
    return bool(value)


def sources_of(name, label):
    """Metric families that a table of an experiment reads: those it names, or all that can be computed there."""
    if not SPECS[label].every_metric:
        return SPECS[label].sources
    needs = {
        family: METRIC_FAMILIES.constant(family, "NEEDS")
        for family in METRIC_FAMILIES.names()
    }
    return [family for family, key in needs.items() if not key or configured(name, key)]


def families_of(name):
    """Metric families behind the tables of an experiment and of its sweeps, and behind its figures."""
    families = {
        family
        for owner in (EXPERIMENTS[name], *sweeps_of(name))
        for label in owner["tables"]
        for family in sources_of(name, label)
    }
    if EXPERIMENTS[name]["figures"]:
        families |= {"quality", "copying"}  # nothing draws them; kept beside the others
        families |= {family for figure in FIGURES.names() for family in asked(figure)[1]}
    return sorted(families)


def is_measured(name):
    """Whether anything shows what an experiment generates; if not, it trains what others begin with."""
    experiment = EXPERIMENTS[name]
    return bool(experiment["tables"] or experiment["figures"] or sweeps_of(name))


def shown_experiments():
    """Experiments with something to show: a table or figures. The others are parts of a study."""
    return [
        name
        for name, experiment in EXPERIMENTS.items()
        if experiment["tables"] or experiment["figures"]
    ]


# What a figure may ask for (favor.report.figure_specs.FigureInput), as files of an experiment.
def figure_sources(wildcards):
    folder = f"{RESULTS}/{wildcards.experiment}"
    return {
        "training_logs": training_logs(wildcards),
        "allocation": [f"{folder}/clients/allocation.parquet"],
        "source_embeddings": [style_sources(wildcards)],
        "gold_embeddings": [style_golds(wildcards)],
        "generation_embeddings": [style_generations(wildcards)],
        "generations": generation_files(wildcards),
        "coordinate_effects": [f"{folder}/diagnostics/coordinate_effects.parquet"],
        "adapter_energy": [f"{folder}/diagnostics/adapter_energy.parquet"],
        "participation": [f"{folder}/diagnostics/participation.parquet"],
    }


def figure_inputs(wildcards):
    """The files that a figure asks for, by the names that it asks for them."""
    inputs, families = asked(wildcards.figure)
    sources = figure_sources(wildcards)
    for name in inputs:
        if name not in sources:
            stop(
                f"figure '{wildcards.figure}' asks for '{name}'; {nearest(name, sources)}"
            )
    found = {name: sources[name] for name in inputs}
    if families:
        folder = f"{RESULTS}/{wildcards.experiment}/scores"
        found["scores"] = [f"{folder}/{family}.parquet" for family in families]
    return found


def own_logs(name):
    """Training logs by row. A row whose personal stage is another's (another gate at generation) has the shared ones."""
    logs = {row: [] for row in EXPERIMENTS[name]["methods"]}
    for place, plan in places(name):
        found = logs_of(place, plan)
        if owner_of(place.experiment, place.method) != place.method:
            shared = track_folder(place, plan.shared) if plan.shared else None
            found = [log for log in found if shared and log.startswith(f"{shared}/")]
        logs[place.method] += found
    return logs


def figure_context(wildcards):
    """What a figure knows of its experiment beside what it asks for."""
    context = table_context(wildcards.experiment)
    asks_for_logs = "training_logs" in asked(wildcards.figure)[0]
    return {
        **pick(context, "methods", "display", "references"),
        "style_encoder": experiment_of(wildcards)["style_encoder"],
        "logs": own_logs(wildcards.experiment) if asks_for_logs else {},
    }


def figure_files(kind):
    """The figures of every experiment that has any."""
    return [
        f"{RESULTS}/{name}/figures/{figure}.{kind}"
        for name, experiment in EXPERIMENTS.items()
        for figure in FIGURES.names()
        if experiment["figures"]
    ]


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


def number_targets():
    """The numbers of the paper's running text."""
    return [f"{RESULTS}/numbers.json"]


def corpus_targets():
    """What is kept of corpora, base models and encoders."""
    used = {experiment["corpus"] for experiment in EXPERIMENTS.values()}
    tables = ("documents", "splits", "authors", "roster", "overlap")
    files = [
        corpus_file(name, f"{table}.parquet")
        for name in sorted(used)
        for table in tables
    ]
    for name, experiment in EXPERIMENTS.items():
        files += model_files(experiment["base_model"])
        files += [
            file
            for encoder in experiment_encoders(name)
            for file in encoder_files(encoder)
        ]
    return list(dict.fromkeys(files))


def run_targets():
    """What is kept of every run, so that a file lost from an earlier run is made again even if nothing else needs it."""
    files = []
    for name, experiment in EXPERIMENTS.items():
        files += [
            f"{RESULTS}/{name}/clients/{table}.parquet"
            for table in ("texts", "allocation")
        ]
        files += [
            f"{RESULTS}/{name}/{file}" for file in ("boundary.parquet", "settings.json")
        ]
        for seed, method in runs_of(name):
            if is_measured(name):
                files.append(f"{seed_folder(name, seed)}/prompts.parquet")
                files.append(outputs_file(name, seed, method))
            if home_of(name, method) != name:
                continue
            place = Namespace(experiment=name, seed=str(seed), method=method)
            plan = PLANS[name, method][1]
            if plan.shared is not None:
                for number in range(experiment["federation"]["rounds"]):
                    files.append(server_file(place, plan.shared, number + 1))
                    if CONFIG["keep_uploads"]:
                        files += upload_files(place, plan.shared, number)
            if plan.personal is not None:
                for phase in personal_phases(place, plan):
                    for batch in range(
                        len(
                            batches(
                                personal_clients(place, plan, phase), per_job(place)
                            )
                        )
                    ):
                        files.append(personal_file(place, method, phase, batch))
        if not is_measured(name):
            continue
        files += [
            f"{RESULTS}/{name}/embeddings/{encoder}.parquet"
            for encoder in experiment_encoders(name)
        ]
        files += [
            f"{RESULTS}/{name}/scores/{family}.parquet" for family in families_of(name)
        ]
        files.append(f"{RESULTS}/{name}/utility.parquet")
        if EXPERIMENTS[name]["evaluation"]["assistant"] is not None:
            files.append(assistant_scores(name))
    return list(dict.fromkeys(files))


def paper_file(label):
    path = SOURCE / "favor" / "paper" / "paper_values" / f"{label}.csv"
    return (
        [str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)]
        if path.is_file()
        else []
    )


def table_modules(label):
    """The file of a table, and those of the metrics that say what its columns are called and which way is better.

    A label without a file is one that only a rule without jobs names.
    """
    if label not in SPECS:
        return []
    families = map(METRIC_FAMILIES.module, SPECS[label].families)
    return [
        f"{spec_module(label)}:TABLE",
        *(f"{family}:METRICS" for family in families),
    ]


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
        "encoders": {
            "style": experiment["style_encoder"],
            "semantic": experiment["evaluation"]["semantic_encoder"],
            **independent_encoder(name),
        },
        "encoder_titles": {
            key: encoder["title"]
            for key, encoder in CONFIG["encoders"].items()
            if encoder["title"]
        },
        "display": titles_of(name),
        "seeds": experiment["seeds"],
        "absences": ABSENT,
        "references": [
            row
            for row in experiment["methods"]
            if not PLANS[name, row][1].collaborative
        ],
    }


def printed_settings(name, label):
    """What each row ran with, for a table that prints it."""
    spec, experiment = SPECS[label], EXPERIMENTS[name]
    columns = [column for panel in spec.panels for column in panel.columns]
    if not any(entry.setting for entry in (*columns, *spec.rows)):
        return {}
    values = {row: checked(name, row) for row in experiment["methods"]}
    model = CONFIG["base_models"][experiment["base_model"]]
    title = base_model_title(experiment["base_model"])
    for row, found in values.items():
        plan = PLANS[name, row][1]
        found |= recipe(
            plan, CONFIGURATION.experiments[name], title, model["quantisation"]
        )
        if plan.prompting is not None and plan.prompting.sheet:
            found["sheet_model"] = base_model_title(sheet_model(name))
    return {"settings": values}


def never_sampled(name):
    """Clients of an experiment that no round samples, by seed; they generate with the final shared adapter."""
    experiment = EXPERIMENTS[name]
    everyone = experiment["clients"]
    return {
        str(seed): everyone
        - len(last_participation(rounds_of(name, seed, "coverage_first")))
        for seed in experiment["seeds"]
    }


def base_model_title(name):
    """Printed name of a base model; no path of this machine."""
    model = CONFIG["base_models"][name]
    return model["title"] or (Path(model["source"]).name if model["source"] else name)


def report_settings():
    """Resolved values the report prints, by experiment; no paths of this machine."""
    settings = {}
    for name in shown_experiments():
        experiment = EXPERIMENTS[name]
        settings[name] = {
            "experiment": {
                key: value
                for key, value in experiment.items()
                if key not in ("methods", "tables", "studies")
            }
            | {"studies": printed_studies(name)},
            "rows": list(experiment["methods"]),
            "methods": {row: PLANS[name, row][2] for row in experiment["methods"]},
            "display": all_titles_of(name),
            "tables": experiment["tables"],
            "never_sampled": never_sampled(name),
            "corpus": {
                k: v
                for k, v in CONFIG["corpora"][experiment["corpus"]].items()
                if k != "path"
            },
            "base_model": base_model_title(experiment["base_model"]),
        }
    return settings


def report_inputs(file):
    """One file of the corpus of every experiment that the report shows."""
    corpora = dict.fromkeys(EXPERIMENTS[name]["corpus"] for name in shown_experiments())
    return [corpus_file(corpus, file) for corpus in corpora]
