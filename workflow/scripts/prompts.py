"""List the prompts of every experiment, for somebody else to answer. They quote clients' posts: not for publication."""

import sys

from favor.corpora.schemas import COMMON_PROMPTS
from favor.federation.outside import prompts_to_answer
from favor.federation.settings import PromptLists
from favor.foundation.files import write_text
from favor.foundation.parquet import read_tables
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts

with job(snakemake, PromptLists) as settings:
    for made, output in zip(settings.experiments, snakemake.output, strict=True):
        own = load_prompts(map(int, made.prompts), made.prompts.values())
        asked = prompts_to_answer(own, read_tables(made.common_prompts, COMMON_PROMPTS))
        write_text("".join(f"{each.line}\n" for each in asked), output)
        print(
            f"{output}: {len(asked)} prompts; give each a 'text' and name the file as 'outputs' of a row",
            file=sys.stderr,
        )
