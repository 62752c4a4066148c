# What a job asks of a scheduler, before its retries: functions of the configuration, of the clients' texts once they are
# there, and of the attempt. On one machine only the GPU counts have an effect. docs/slurm.md explains the estimates.

from favor.foundation.names import nearest

CLUSTER = CONFIG["cluster"]
PRETRAINED_PARAMETERS = (
    3_000_000_000  # of a base model whose configuration names no number
)
ENCODER_PARAMETERS = 125_000_000  # of a pretrained text encoder's backbone
ADAPTER_SHARE = (
    0.01 / 16
)  # parameters of an adapter on all projections, to those of its model, a unit of rank
TOKENS_PER_WORD = 1.5
PLAIN_MB = 1500  # Snakemake's two processes of a job and the libraries of a script
MODEL_MB = 3500  # with torch and a tokenizer
READ_MB_PER_MB = 8  # a compressed table in memory, a copy or two
PLAIN_MINUTES = 30
MODEL_MINUTES = 60
TOKENS_PER_MB = 600_000  # of text in a compressed table
SAFETY = 3  # on computed durations
SEQUENTIAL = 30  # cost of a generated token to one that is read


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
    """GPUs of a job that can use one: 1, and 0 where its device is the CPU or 'cluster.gpu' is off."""
    return int(CLUSTER["gpu"] and device_of(wildcards) != "cpu")


def encoder_gpus(wildcards):
    """GPUs of a job that encodes texts with an encoder that no wildcard names."""
    return int(CLUSTER["gpu"])


def sheet_gpus(wildcards):
    """GPUs of the job that distils author sheets."""
    device = CONFIG["base_models"][sheet_model(wildcards.experiment)]["device"]
    return int(CLUSTER["gpu"] and device != "cpu")


def judge_gpus(wildcards):
    """GPUs of a judge: those of its base model where it is local."""
    judges = judges_of(wildcards)
    if judges is None or judges["model"] != "local":
        return 0
    device = CONFIG["base_models"][judges["base_model"]]["device"]
    return int(CLUSTER["gpu"] and device != "cpu")


def parameters(name):
    """Number of a base model's parameters: configured, counted from the shape it is pretrained with, or assumed."""
    model = CONFIG["base_models"][name]
    shape = model["pretrain"]
    if model["parameters"] is not None:
        return model["parameters"]
    if shape is None:
        return PRETRAINED_PARAMETERS
    width = shape["hidden_size"]
    attention = 2 * width**2 * (1 + shape["key_value_heads"] / shape["heads"])
    layer = attention + 3 * width * shape["intermediate_size"]
    return int(shape["layers"] * layer + shape["vocabulary_size"] * width)


def weights_mb(name, gpu):
    """Host memory that a base model's weights take while they are loaded, or for as long as they run on the CPU."""
    if CONFIG["base_models"][name]["quantisation"] == "nf4":
        size = 0.6
    else:
        size = 2 if gpu else 4
    return parameters(name) * size * (1 if gpu else 2) / 1e6


def adapter_mb(name):
    """Size of one client's adapter of an experiment (float32)."""
    experiment = EXPERIMENTS[name]
    share = ADAPTER_SHARE * experiment["lora"]["rank"]
    return 4 * share * parameters(experiment["base_model"]) / 1e6


@cache
def words_by_client(path, changed):
    """Training words of every client, and how many are allocated; ``changed``, when the file was, has a new one read.

    A file that is none gives no words: this is about sizes, and the job that reads it says what is wrong.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        table = read_table(
            path, columns=["client", "split", "words", "allocated_words"]
        )
    except (ArrowException, OSError):
        return {}
    words = {}
    for row in table.to_pylist():
        if row["split"] == "train":
            total, allocated = words.get(row["client"], (0, 0))
            words[row["client"]] = (
                total + row["words"],
                allocated + row["allocated_words"],
            )
    return words


def words_of(texts, clients, enforced):
    """Training words of clients; a file of an earlier configuration may lack some. Not known before it is there."""
    words = words_by_client(str(texts), os.stat(texts).st_mtime_ns)
    chosen = words if clients == ["pooled"] else clients
    return sum(words.get(client, (0, 0))[enforced] for client in chosen)


def minutes_of(operations, gpu, threads):
    """Time limit behind a number of floating-point operations, without what a job takes anyway."""
    speed = CLUSTER["gpu_teraflops"] if gpu else threads * CLUSTER["cpu_teraflops"]
    return SAFETY * operations / (speed * 1e12) / 60


# Operations and memory of a stage, beyond what every job takes. Training counts six operations a parameter and token.


def stage_work(wildcards, input, stage, clients):
    federation = experiment_of(wildcards)["federation"]
    everyone = experiment_of(wildcards)["clients"]
    exposure = federation["rounds"] * federation["clients_per_round"] / everyone
    passes = exposure if stage.epochs is None else stage.epochs
    steps = passes * max(1, getattr(stage, "inner_steps", 0))
    training = experiment_of(wildcards)["training"]
    if training["steps_per_epoch"] is None:
        enforced = experiment_of(wildcards)["allocation"]["enforce"]
        tokens = steps * TOKENS_PER_WORD * words_of(input.texts, clients, enforced)
    else:
        pieces = training["micro_batch"] * training["accumulation"] * len(clients)
        tokens = steps * training["steps_per_epoch"] * pieces * training["max_length"]
    memory = 8 * adapter_mb(wildcards.experiment) * len(clients)
    return 6 * parameters(experiment_of(wildcards)["base_model"]) * tokens, memory


def shared_work(wildcards, input):
    stage = stage_of(wildcards)
    rounds = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)
    cohort = rounds[int(wildcards.round)]
    clients = batches(cohort, per_job(wildcards))[int(wildcards.batch)]
    return stage_work(wildcards, input, stage, clients)


def personal_work(wildcards, input):
    clients = personal_batch(wildcards)
    return stage_work(wildcards, input, plan_of(wildcards).personal, clients)


def generation_work(wildcards, input):
    experiment = experiment_of(wildcards)
    clients = experiment["clients"]
    tokens = (
        experiment["prompts"]["prefix_tokens"]
        + SEQUENTIAL * experiment["generation"]["max_new_tokens"]
    )
    prompts = clients * experiment["prompts"]["per_client"]
    operations = 2 * parameters(experiment["base_model"]) * prompts * tokens
    # Only the adapters of a batch are read at once.
    stacked = min(clients, experiment["generation"]["rows_per_batch"])
    return operations, 3 * adapter_mb(wildcards.experiment) * stacked


def prompted_work(wildcards, input):
    """Generation after a prompt that also holds passages and a sheet."""
    experiment = experiment_of(wildcards)
    prompts = experiment["clients"] * experiment["prompts"]["per_client"]
    lengths = experiment["prompting"]
    shown = lengths["passages"] * lengths["passage_tokens"] + lengths["sheet_tokens"]
    operations, _ = generation_work(wildcards, input)
    return operations + 2 * parameters(experiment["base_model"]) * prompts * shown, 0


def sheet_work(wildcards, input):
    """A sheet of every client from some of its texts, and a persona from the sheet."""
    experiment = experiment_of(wildcards)
    lengths = experiment["prompting"]
    written = lengths["sheet_tokens"] + lengths["persona_tokens"]
    read = lengths["sheet_texts"] * lengths["sheet_text_tokens"]
    tokens = experiment["clients"] * (read + SEQUENTIAL * written)
    return 2 * parameters(sheet_model(wildcards.experiment)) * tokens, 0


def transfer_work(wildcards, input):
    """Embedding a second corpus: all of its texts at most."""
    return 2 * ENCODER_PARAMETERS * TOKENS_PER_MB * input.size_mb, 0


def pretraining_work(wildcards, input):
    size = parameters(wildcards.model)
    return 6 * size * pretraining(wildcards)["tokens"], 16 * size / 1e6


def backbone_parameters(small):
    """Number of an encoder backbone's parameters."""
    if small is None:
        return ENCODER_PARAMETERS
    layer = 4 * small["hidden"] ** 2 + 2 * small["hidden"] * small["intermediate"]
    return small["layers"] * layer + small["vocabulary"] * small["hidden"]


def encoder_work(wildcards, input):
    training = asce_training(wildcards)
    roles = CONFIG["corpora"][training["corpus"]]["roles"]
    authors = training["authors"] or roles[training["role"]]
    texts = authors * training["training_texts_per_author"] * training["epochs"]
    size = backbone_parameters(training["small"])
    return 6 * size * texts * training["maximum_tokens"], 16 * size / 1e6


def classifier_work(wildcards, input):
    training = assistant_training(wildcards.assistant)
    texts = 2 * CONFIG["assistants"][wildcards.assistant]["texts"] * training["epochs"]
    size = backbone_parameters(training["small"])
    return 6 * size * texts * training["maximum_tokens"], 16 * size / 1e6


def source_work(wildcards, input):
    """Embedding every training text of the clients."""
    clients = clients_of(wildcards.experiment)
    tokens = TOKENS_PER_WORD * words_of(input.texts, clients, False)
    return 2 * ENCODER_PARAMETERS * tokens, 0


def continuation_work(wildcards, input):
    """Encoding every continuation, and the authors' own."""
    experiment = experiment_of(wildcards)
    prompts = experiment["clients"] * experiment["prompts"]["per_client"]
    texts = prompts * len(experiment["seeds"]) * (len(experiment["methods"]) + 1)
    tokens = texts * experiment["generation"]["max_new_tokens"]
    return 2 * ENCODER_PARAMETERS * tokens, 0


def adapter_work(wildcards, input):
    """Reading adapters tensor by tensor, however many, and writing one."""
    return 0, 6 * adapter_mb(wildcards.experiment)


def no_work(wildcards, input):
    return 0, 0


def tables_mb(input):
    """Size of a job's tables. Adapters are read as they are needed; weights are counted by what loads them."""
    tables = [str(path) for path in input if not path.endswith(".safetensors")]
    return sum(os.stat(path).st_size for path in tables) / 1e6


def base_model_of(wildcards):
    if "model" in wildcards.keys():
        return wildcards.model
    return experiment_of(wildcards)["base_model"]


def sheet_model_of(wildcards):
    return sheet_model(wildcards.experiment)


def judge_model(wildcards):
    judges = judges_of(wildcards)
    return judges["base_model"] if judges["model"] == "local" else None


def asks(stage, gpu=None, work=no_work, model=None):
    """The resources of a rule: ``gpu``, its GPUs; ``work``, operations and memory beyond what every job takes; ``model``,
    the base model that it loads."""
    own = CLUSTER["stages"].get(stage, {})
    heavy = work is not no_work or model is not None

    def on_gpu(wildcards):
        return gpu(wildcards) if gpu else 0

    def capped(value, attempt, limit):
        value = max(1, int(value)) * 2 ** (attempt - 1)
        return value if limit is None else min(value, limit)

    def mem_mb(wildcards, input, attempt):
        if "memory_mb" in own:
            size = own["memory_mb"]
        else:
            size = MODEL_MB if heavy else PLAIN_MB
            size += READ_MB_PER_MB * tables_mb(input) + work(wildcards, input)[1]
            name = model(wildcards) if model else None
            size += weights_mb(name, on_gpu(wildcards)) if name else 0
        return capped(size, attempt, CLUSTER["maximum_memory_mb"])

    def runtime(wildcards, input, threads, attempt):
        if "minutes" in own:
            minutes = own["minutes"]
        else:
            operations = work(wildcards, input)[0]
            minutes = MODEL_MINUTES if heavy else PLAIN_MINUTES
            minutes += minutes_of(operations, on_gpu(wildcards), threads)
        return capped(minutes, attempt, CLUSTER["maximum_minutes"])

    def partition(wildcards):
        general = CLUSTER["partition"]
        if on_gpu(wildcards):
            general = CLUSTER["gpu_partition"] or general
        return own.get("partition") or general

    def gpu_model(wildcards):
        model = own.get("gpu_model") or CLUSTER["gpu_model"]
        return model if on_gpu(wildcards) else None

    return {
        "mem_mb": mem_mb,
        "runtime": runtime,
        "slurm_partition": partition,
        "slurm_account": lambda wildcards: CLUSTER["account"],
        "gpu": on_gpu,
        "gpu_model": gpu_model,
        "nodes": 1,
    }


def keep_local():
    """Let cheap rules run where Snakemake does; check the names of rules that the configuration gives."""
    names = {rule.name for rule in workflow.rules}
    for key in ("local", "stages"):
        for name in CLUSTER[key]:
            if name not in names:
                stop(
                    f"config key 'cluster.{key}': there is no stage '{name}'; {nearest(name, names)}"
                )
    workflow.localrules(*CLUSTER["local"])


def fix_threads():
    """Tell jobs how many threads they are configured to compute with, also where --cores grants fewer.

    Sums of floats depend on their number, so that results would on --cores.
    """
    for each in workflow.rules:
        each.resources["compute_threads"] = each.resources["_cores"].raw
