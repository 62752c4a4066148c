# Rounds of federated training. The data-locality boundary can be read off the paths: what is under clients/ stays with
# the clients, and no server rule (initialise_server, aggregate) takes it as input.


rule make_schedule:
    output:
        schedule=paths.schedule,
    wildcard_constraints:
        sampling="coverage_first|uniform",
    script:
        "../scripts/make_schedule.py"


rule initialise_server:
    input:
        project.base_files,
    output:
        adapter=paths.initial_adapter,
    wildcard_constraints:
        origin=r"[a-z0-9_-]+",
    script:
        "../scripts/initialise_server.py"


# The control of a cold start: a shared adapter that has learned nothing, as large as the one that has.
rule draw_random_adapter:
    input:
        adapter=training.frozen_adapter,
    output:
        adapter=paths.random_adapter,
    script:
        "../scripts/draw_random_adapter.py"


# Where "attack" is "hijack": the texts that shared stages train on, with another client's in the place of attackers' own.
rule poison_data:
    input:
        texts=paths.texts,
    output:
        texts=temp(paths.hijacked_texts),
    script:
        "../scripts/poison_data.py"


rule train_shared:
    input:
        adapter=training.round_start,
        schedule=training.schedule,
        texts=training.shared_texts,
        allocation=paths.allocation,
        requests=training.requests,
        style=training.style,
        previous=training.previous_endpoints,
        first=training.warm_start,
        model=project.base_files,
    output:
        upload=kept_or_temporary(paths.upload),
        endpoints=paths.endpoints,
        training_log=paths.shared_log,
    wildcard_constraints:
        seed=evaluation.seeds(kept=True),
    threads: threads.training
    script:
        "../scripts/train_shared.py"


# Seeds of which "keep_adapters" keeps no adapter of a client.
use rule train_shared as train_shared_temporary with:
    output:
        upload=kept_or_temporary(paths.upload),
        endpoints=temp(paths.endpoints),
        training_log=paths.shared_log,
    wildcard_constraints:
        seed=evaluation.seeds(kept=False),


# Where "attack" is set: what attackers send in the place of what they trained.
rule poison_updates:
    input:
        upload=paths.upload,
    output:
        upload=kept_or_temporary(paths.false_upload),
    script:
        "../scripts/poison_updates.py"


# What stands for secure aggregation, where "aggregation" is "sum_only": no rule of the server.
rule sum_uploads:
    input:
        adapter=training.round_start,
        uploads=training.summed_uploads,
    output:
        total=kept_or_temporary(paths.upload_sum),
    script:
        "../scripts/sum_uploads.py"


# A robust rule in place of the mean, where "robust" names one. It belongs to the server, and reads every upload.
rule combine_uploads:
    input:
        adapter=training.round_start,
        uploads=training.summed_uploads,
    output:
        total=kept_or_temporary(paths.combination),
    script:
        "../scripts/combine_uploads.py"


rule aggregate:
    input:
        adapter=training.aggregated_from,
        uploads=training.uploads,
    output:
        adapter=paths.server_adapter,
        traffic=paths.traffic,
    wildcard_constraints:
        next_round=r"[1-9]\d*",
        track=training.track_names(remembering=False),
    script:
        "../scripts/aggregate.py"


# A server with momentum or an adaptive rate: its moments go from round to round beside the adapter.
use rule aggregate as aggregate_with_memory with:
    input:
        adapter=training.aggregated_from,
        uploads=training.uploads,
        memory=training.server_memory,
    output:
        adapter=paths.server_adapter,
        traffic=paths.traffic,
        memory=paths.server_memory,
    wildcard_constraints:
        next_round=r"[1-9]\d*",
        track=training.track_names(remembering=True),


rule train_personal:
    input:
        start=training.personal_starts,
        anchor=training.anchors,
        first=training.first_adapter,
        texts=paths.texts,
        requests=training.requests,
        style=training.style,
        model=project.base_files,
    output:
        pack=paths.personal_pack,
        passing=temp(paths.personal_passing),
        training_log=paths.personal_log,
    wildcard_constraints:
        seed=evaluation.seeds(kept=True),
    threads: threads.training
    script:
        "../scripts/train_personal.py"


use rule train_personal as train_personal_temporary with:
    output:
        pack=temp(paths.personal_pack),
        passing=temp(paths.personal_passing),
        training_log=paths.personal_log,
    wildcard_constraints:
        seed=evaluation.seeds(kept=False),


rule record_boundary:
    input:
        unpack(records.record_boundary_inputs),
    output:
        boundary=paths.boundary,
    script:
        "../scripts/record_boundary.py"


rule record_settings:
    output:
        settings=paths.settings,
    script:
        "../scripts/record_settings.py"


rule export_adapters:
    input:
        adapters=or_stop(exports.adapters),
        behind=training.behind,
        model=project.base_files,
    output:
        folder=directory(paths.peft_folder),
    script:
        "../scripts/export_adapters.py"


# What "favor tune" chooses the rate of a shared stage by. It belongs to the clients, whose texts it reads.
rule read_validation:
    input:
        adapter=planner.validation.final_adapter,
        texts=project.texts,
        requests=training.requests,
        model=project.base_files,
    output:
        losses=paths.shared_validation,
    threads: threads.training
    script:
        "../scripts/read_validation.py"


# The same of a stage whose training logs hold the losses. Rounds let files go, so that logs asked for train again.
rule take_validation:
    input:
        logs=planner.validation.stage_logs,
    output:
        losses=paths.stage_validation,
    wildcard_constraints:
        stage="shared|personal",
    script:
        "../scripts/take_validation.py"
