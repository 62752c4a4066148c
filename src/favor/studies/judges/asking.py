"""Asks a judge every question once: what was answered before is read from the cache, what is answered is kept at once.

A question's digest covers the judge's settings, both messages, the number of the judgement and the number of the
repeat (an answer that cannot be read is asked for again); equal texts share their answers. The cache holds answers,
not questions.
"""

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.text import storable
from favor.running.folder.leftovers import is_truncated, set_aside
from favor.running.jobs.progress import Progress
from favor.studies.judges.prompts import RATINGS, MalformedAnswerError, Verdict, parse_answer
from favor.studies.judges.schemas import JUDGE_RESPONSES

ROWS_PER_PART = 64  # answers of one file of the cache; the last file is written again with every answer
CHARACTERS_PER_TOKEN = 4  # of English text, roughly; for the estimate only
REPEATS = 3  # answers asked for before a judgement is recorded as missing


@dataclass(frozen=True)
class Question:
    """One request: a row of ``judge_requests``, and which repeat of it."""

    kind: str
    item: str
    judgement: int
    system: str
    user: str
    repeat: int
    digest: str


@dataclass(frozen=True)
class Answer:
    """What came back: the text, why it ended ("stop", "length", "content_filter"), and the tokens it cost."""

    content: str
    finish: str
    input_tokens: int
    output_tokens: int


class Judge(Protocol):
    """A model that answers questions: an endpoint, or one on this machine."""

    name: str

    def settings(self) -> Mapping[str, object]:
        """What an answer depends on beside the question."""

    def ask(self, question: Question) -> Answer:
        """Answer one question."""


class AnswerCache:
    """The answers in a folder of Parquet parts. Every answer is on disk before the next one is looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, Answer] = {}
        # The parts are outputs of no rule, so no start looks at them.
        for path in filter(is_truncated, folder.glob("part*.parquet")):
            set_aside(path)
        parts = sorted(folder.glob("part*.parquet"))
        for path in parts:
            for row in read_parquet(path, JUDGE_RESPONSES).to_dict("records"):
                digest = str(row.pop("digest"))
                self.answers[digest] = Answer(**{str(key): value for key, value in row.items()})
        self._part = 1 + max((int(path.stem.removeprefix("part")) for path in parts), default=-1)
        self._rows: list[dict[str, object]] = []

    def put(self, digest: str, answer: Answer) -> None:
        """Keep an answer, whatever it holds: it is paid for."""
        answer = replace(answer, content=storable(answer.content), finish=storable(answer.finish))
        self.answers[digest] = answer
        self._rows.append({"digest": digest, **asdict(answer)})
        frame = pd.DataFrame(self._rows, columns=JUDGE_RESPONSES.names)
        write_parquet(frame, self.folder / f"part{self._part:05d}.parquet", JUDGE_RESPONSES)
        if len(self._rows) == ROWS_PER_PART:
            self._part, self._rows = self._part + 1, []


def question(row: Any, settings: Mapping[str, object], repeat: int) -> Question:
    """Return the question of a row of ``judge_requests`` (a named tuple) to the judge of these settings."""
    content = [settings, row.system, row.user, int(row.judgement), repeat]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return Question(row.kind, row.item, int(row.judgement), row.system, row.user, repeat, digest)


def estimate(judge: str, total: int, unanswered: Sequence[Question], answer_tokens: int) -> str:
    """Return as one line what ``total`` judgements cost, of which these are still to be asked for."""
    number, characters = len(unanswered), sum(len(entry.system) + len(entry.user) for entry in unanswered)
    return (
        f"judge {judge}: {total:,} judgements, {number:,} still to ask for: about "
        f"{math.ceil(characters / CHARACTERS_PER_TOKEN):,} tokens in (at {CHARACTERS_PER_TOKEN} characters each), at "
        f"most {answer_tokens * number:,} out, before repeats of unreadable answers"
    )


def judge_all(
    judge: Judge,
    requests: pd.DataFrame,
    cache: AnswerCache,
    maximum_requests: int,
    answer_tokens: int,
    parallel: int = 1,
) -> pd.DataFrame:
    """Return the table ``judgements`` of all ``requests`` (table ``judge_requests``), asked in their order.

    The estimate is printed before anything is asked. Raises ``UserError``, keeping what was answered, where more than
    ``maximum_requests`` answers would be paid for, repeats counted, and where the judge cannot be reached.
    """
    settings = judge.settings()
    rows: list[Any] = list(requests.sort_values("position").itertuples())
    # Two methods may have written the same text: it is asked about once for both.
    unanswered = [(row, entry) for row in rows if (entry := _answered(row, settings, cache)[0]) is not None]
    waiting = {entry.digest: (row, entry) for row, entry in unanswered}
    asked_for = [entry for _, entry in waiting.values()]
    print(estimate(judge.name, len(rows), asked_for, answer_tokens), file=sys.stderr, flush=True)
    if len(waiting) > maximum_requests:
        raise UserError(
            f"judges: {len(waiting):,} requests are more than studies.judges.maximum_requests ({maximum_requests:,}); "
            "raise it, or judge fewer outputs"
        )
    progress = Progress(f"judge {judge.name}", len(waiting), "judgements")
    asked = 0
    with ThreadPoolExecutor(max_workers=parallel) as pool:
        running: dict[Future[Answer], tuple[Any, Question]] = {}
        todo = list(reversed(waiting.values()))
        try:
            while todo or running:
                while todo and len(running) < parallel:
                    if asked == maximum_requests:
                        raise UserError(
                            f"judges: {asked:,} requests were paid for (studies.judges.maximum_requests) and "
                            f"{len(todo):,} are left, unreadable answers among them; raise it and run again"
                        )
                    row, entry = todo.pop()
                    running[pool.submit(judge.ask, entry)] = row, entry
                    asked += 1
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    row, entry = running.pop(future)
                    cache.put(entry.digest, future.result())
                    again = _answered(row, settings, cache)[0]
                    if again is None:
                        progress.update()
                    else:
                        todo.append((row, again))
        except BaseException:
            # What is under way is paid for: keep it too.
            for future, (_, entry) in running.items():
                if not future.cancel() and future.exception() is None:
                    cache.put(entry.digest, future.result())
            raise
    progress.close()
    return pd.DataFrame([_judgement(row, settings, cache, judge.name) for row in rows])


def _answered(
    row: Any, settings: Mapping[str, object], cache: AnswerCache
) -> tuple[Question | None, Verdict, str, int]:
    """Return what is still to be asked about a request, and what is known of it.

    That is the next question, or None once an answer can be read, a filter refused it or all repeats were spent; the
    verdict, why there is none, and how many answers there are.
    """
    reason, count = "", 0
    for repeat in range(REPEATS):
        entry = question(row, settings, repeat)
        answer = cache.answers.get(entry.digest)
        if answer is None:
            return entry, Verdict(), reason, count
        count += 1
        try:
            return None, _read(row.kind, answer), "", count
        except MalformedAnswerError as error:
            reason = str(error)
        if answer.finish == "content_filter":
            break
    return None, Verdict(), reason, count


def _read(kind: str, answer: Answer) -> Verdict:
    """Return the verdict of an answer; :class:`MalformedAnswerError` where it has none."""
    if answer.finish == "content_filter":
        raise MalformedAnswerError("refused by the endpoint's content filter")
    if answer.finish == "length":
        raise MalformedAnswerError("the answer was cut at its longest length")
    return parse_answer(kind, answer.content)


def _judgement(row: Any, settings: Mapping[str, object], cache: AnswerCache, judge: str) -> dict[str, object]:
    _, found, reason, count = _answered(row, settings, cache)
    return {
        **{name: getattr(row, name) for name in ("kind", "item", "judgement")},
        **{name: found.ratings.get(name, 0) for name in RATINGS},
        "choice": found.choice,
        "judge": judge,
        "reason": reason,
        "answers": count,
    }
