# What crosses the boundary of a client, and what every row ran with: functions of the configuration alone.


def is_pack(file):
    return not file.endswith("adapter.safetensors")


def round_traffic(place, plan):
    """What every round of a run sent."""
    if plan.shared is None:
        return []
    rounds = experiment_of(place)["federation"]["rounds"]
    adapters = [server_file(place, plan.shared, n + 1) for n in range(rounds)]
    return [
        adapter.replace("adapter.safetensors", "traffic.parquet")
        for adapter in adapters
    ]


def traffic_files(wildcards):
    """What every round of an experiment sent, each track once."""
    runs = places(wildcards.experiment)
    return list(
        dict.fromkeys(
            file for place, plan in runs for file in round_traffic(place, plan)
        )
    )


def kept_packs(wildcards):
    """Packs of everything that stays on the clients of an experiment."""
    runs = places(wildcards.experiment)
    return list(
        dict.fromkeys(
            file
            for place, plan in runs
            if plan.inference in ("endpoint", "personal")
            for file in adapter_files(place)
            if is_pack(file)
        )
    )


def final_recipients(place, plan):
    """Clients that get a final shared adapter: all of them, or those that were never sampled, to generate with.

    Where it comes from another experiment, all of them get it, to start from or to generate with.
    """
    if needs_shared(plan):
        return clients_of(place.experiment)
    if plan.shared is None or plan.never_sampled == "dropped":
        return []
    everyone = clients_of(place.experiment)
    if plan.inference == "server":
        return everyone
    reached = last_participation(
        rounds_of(place.experiment, place.seed, plan.shared.sampling)
    )
    return [client for client in everyone if client not in reached]


def final_adapter(place, plan):
    if needs_shared(plan):
        return given_adapter(place, plan)
    return server_file(place, plan.shared, experiment_of(place)["federation"]["rounds"])


def final_adapters(wildcards):
    """The final shared adapters that clients of an experiment are sent."""
    return list(
        dict.fromkeys(
            final_adapter(place, plan)
            for place, plan in places(wildcards.experiment)
            if final_recipients(place, plan)
        )
    )


def boundary_runs(wildcards):
    """What the boundary record looks up for each run: its rounds, its packs, and who gets the final adapter."""
    runs = []
    for place, plan in places(wildcards.experiment):
        pooled = plan.personal is not None and plan.personal.start == "pooled"
        kept = (
            adapter_files(place) if plan.inference in ("endpoint", "personal") else []
        )
        recipients = final_recipients(place, plan)
        runs.append(
            {
                "seed": int(place.seed),
                "method": place.method,
                "traffic": round_traffic(place, plan),
                "packs": [file for file in kept if is_pack(file)],
                "final": final_adapter(place, plan) if recipients else None,
                "recipients": recipients,
                "pooled": pooled,
            }
        )
    return runs


def checked(name, row):
    """What a row ran with, in the few values by which a reader checks it."""
    method_module, plan, values = PLANS[name, row]
    return run_check(plan, CONFIGURATION.experiments[name], method_module, values)


def resolved_settings(name):
    """Every value an experiment runs with, protocol and budget applied; no path of this machine."""
    experiment = EXPERIMENTS[name]
    return {
        "experiment": {
            key: value
            for key, value in experiment.items()
            if key not in ("methods", "studies")
        }
        | {"studies": printed_studies(name)},
        "methods": {
            row: {
                "hyperparameters": PLANS[name, row][2],
                "plan": plan_values(plan),
                "run_check": checked(name, row),
            }
            for row, plan in (
                (row, PLANS[name, row][1]) for row in experiment["methods"]
            )
        },
    }
