"""Two groups' results: differences computed by hand, and every way in which they may not be compared."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import permutation_test
from tests.exports.conftest import refusal

from favor import cli
from favor.analysis.schemas import GROUP_DIFFERENCES, GROUP_OUTPUTS, GROUP_ROWS
from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.method_names import PAPER
from favor.federation.schemas import GENERATIONS
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.report.comparison import shared
from favor.report.comparison.command import run
from favor.report.comparison.merging import Merged, merge
from favor.report.comparison.page import comparison_page, findings
from favor.report.comparison.reading import Group, read_group, share
from favor.scores.schemas import UTILITY

AUTHORS, PROMPTS_EACH, SEEDS = 6, 2, (1, 2)
TEXT = " ".join(f"word{number}" for number in range(25))
JUDGED = ("unseen", "author_accuracy_failures_wrong")
# Outputs that are in the next author's voice, by method: (author, prompt) under both seeds.
ALL = {(author, prompt) for author in range(AUTHORS) for prompt in range(PROMPTS_EACH)}
A = {"favor": set(), "local_only": {(0, 0)}, "mine": set()}
B = {"favor": ALL - {(0, 0)}, "local_only": {(0, 0)}, "theirs": ALL}


def settings(methods) -> dict:
    generation = {"samples": 1, "temperature": 0, "top_p": 1, "minimum_words": 20, "clients_per_job": 3}
    experiment = {
        "clients": AUTHORS, "skip_clients": 0, "withdrawn": [], "seeds": list(SEEDS), "allocation": {"total_words": 9},
        "prompts": {"per_client": PROMPTS_EACH, "common": None}, "training": {"learning_rate": 0.001},
        "generation": generation | {"minimum_distinct_bigram_ratio": 0.15, "rows_per_batch": 8},
        "style_encoder": "style", "outputs_of": None, "title": "Short", "tables": [],
        "evaluation": {
            "encoders": ["judge"], "semantic_encoder": None, "bertscore": {"layer": 5},
            "bootstrap": {"draws": 400, "seed": 3},
        },
    }  # fmt: skip
    row = {"hyperparameters": {"epochs": 1}, "generation": {"temperature": 0}}
    titles = {name: PAPER[name].title if name in PAPER else name.title() for name in methods}
    rows = {name: {**row, "plan": {"display": titles[name]}} for name in methods}
    return {"experiment": experiment, "words": "paper", "methods": rows}


def results(folder, wrong, failed=(), change=lambda found: None, names="client_{:03d}", turn=0.0) -> Path:
    """Write a folder of results in which an author's voice is one direction of the space.

    wrong: (author, prompt) of outputs in the next author's voice, by method. failed: (method, author, prompt) that did
    not pass the filter. turn: how far the encoders turn human continuations away.
    """
    found = settings(wrong)
    change(found)
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(found))
    directions = np.eye(AUTHORS + 1, dtype=np.float32)
    texts, sources, gold, prompts, made, vectors = [], [], [], [], [], []
    for author in range(AUTHORS):
        client = names.format(author)
        for number in range(2):
            text = f"author {author} wrote {number} of them"
            texts.append((client, f"{client}-{number}", "train", "t", "", text, 6, 6, text))
            sources.append((client, f"{client}-{number}", "train", "t", directions[author]))
        for seed in SEEDS:
            for prompt in range(PROMPTS_EACH):
                item = f"{client}-{seed}-{prompt}"
                begin = f"author {author} begins {seed} {prompt}"
                prompts.append((seed, client, item, item, "t", begin, [1, 2], f"{TEXT} {author}", 25))
                gold.append((client, item, "gold", "t", directions[author] + turn * directions[-1]))
                for method, others in wrong.items():
                    passed = (method, author, prompt) not in failed
                    voice = directions[(author + 1) % AUTHORS if (author, prompt) in others else author]
                    made.append((seed, method, client, item, 0, TEXT, 25, 25, 1.0, passed))
                    vectors.append((seed, method, client, item, 0, voice))
    frame = pd.DataFrame(prompts, columns=["seed", *PROMPTS.names])
    for seed, own in frame.groupby("seed"):
        write_parquet(own.drop(columns="seed"), folder / f"seed{seed}/prompts.parquet", PROMPTS)
    generations = pd.DataFrame(made, columns=GENERATIONS.names)
    for (seed, method), own in generations.groupby(["seed", "method"]):
        write_parquet(own, folder / f"seed{seed}/{method}/generations.parquet", GENERATIONS)
    measured = generations[["seed", "method", "client", "prompt_id", "sample"]]
    likeness = np.where(measured["method"] == "favor", 0.75, 0.5)
    utility = measured.assign(bertscore_f1=likeness, semantic_similarity=0.25)
    write_parquet(utility, folder / "utility.parquet", UTILITY)
    write_parquet(pd.DataFrame(texts, columns=CLIENT_TEXTS.names), folder / "clients/texts.parquet", CLIENT_TEXTS)
    for encoder in ("style", "judge"):
        embedded = pd.DataFrame(vectors, columns=GENERATION_EMBEDDINGS.names)
        write_parquet(embedded, folder / f"embeddings/{encoder}.parquet", GENERATION_EMBEDDINGS)
        for rows, place in ((sources, f"clients/embeddings/{encoder}"), (gold, f"embeddings/{encoder}.gold")):
            known = pd.DataFrame(rows, columns=SOURCE_EMBEDDINGS.names)
            write_parquet(known, folder / f"{place}.parquet", SOURCE_EMBEDDINGS)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("groups")
    return results(base / "a/short", A, failed={("local_only", 1, 0)}), results(base / "b/short", B)


@pytest.fixture(scope="module")
def groups(folders) -> tuple[Group, Group]:
    """Both folders as they are read; not to be changed."""
    first, second = map(read_group, folders)
    return first, second


@pytest.fixture(scope="module")
def merged(groups) -> Merged:
    return merge(*groups)


@pytest.fixture
def theirs(groups, tmp_path) -> Path:
    share(groups[1], tmp_path / "theirs")
    return tmp_path / "theirs"


def of(merged, method, measure) -> pd.Series:
    found = merged.differences.set_index(["method", "encoder", "metric"])
    return found.loc[(method, *measure)]


def test_paired_differences_are_those_by_hand(merged) -> None:
    """FAVoR is right in all 24 outputs of A and in 2 of B: authors' sums are -2 of 4, then -4 five times."""
    row = of(merged, "favor", JUDGED)
    assert (row["a"], row["b"], row["n"], row["authors"]) == (1.0, pytest.approx(2 / 24), 24, AUTHORS)
    assert row["delta"] == pytest.approx(22 / 24)
    sums = np.array([2.0, 4, 4, 4, 4, 4])
    exact = permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False)
    assert row["p"] == pytest.approx(exact.pvalue) == 2 / 2**AUTHORS
    assert row["low"] < row["delta"] < row["high"]
    # What failed in A, of author 1 under both seeds, counts as wrong there; that of author 0 is wrong in both.
    local = of(merged, "local_only", JUDGED)
    assert (local["a"], local["b"]) == (pytest.approx(20 / 24), pytest.approx(22 / 24))
    assert local["p"] == 1.0  # one author alone differs: either sign is as likely
    assert of(merged, "local_only", ("", "pass_rate"))["delta"] == pytest.approx(-2 / 24)
    # What a failed output has no value of is compared over the others.
    assert of(merged, "local_only", ("judge", "author_accuracy"))[["a", "b", "n"]].tolist() == [20 / 22, 20 / 22, 22]
    # An output in the next author's voice has cosine 0 with its own: its margin is 0 - 1 / 5, else 1.
    margin = of(merged, "favor", ("judge", "author_margin"))
    assert margin["delta"] == pytest.approx(1 - (2 * 1 + 22 * -0.2) / 24)


def test_one_measure_is_one_family_of_tests(merged) -> None:
    tested = merged.differences[merged.differences["p"].notna()].set_index("method")
    assert set(zip(tested["encoder"], tested["metric"], strict=True)) == {JUDGED}
    assert tested["p_holm"].to_dict() == {"favor": 2 * 2 / 2**AUTHORS, "local_only": 1.0}
    assert "the smallest p, 0.03125, is 0.062 after Holm's correction" in " ".join(findings(merged))
    assert merged.judge == "unseen"  # the mean of what neither run trains with: "judge" alone


def test_all_rows_of_both_runs_stand_in_one_table(merged) -> None:
    rows = merged.rows[(merged.rows["encoder"] == "judge") & (merged.rows["metric"] == JUDGED[1])]
    assert sorted(zip(rows["run"], rows["method"], rows["paired"], strict=True)) == [
        ("A", "favor", True), ("A", "gold", False), ("A", "local_only", True), ("A", "mine", False),
        ("B", "favor", True), ("B", "gold", False), ("B", "local_only", True), ("B", "theirs", False),
    ]  # fmt: skip
    value = rows.set_index(["run", "method"])["value"]
    assert value["A", "mine"] == 1.0
    assert value["B", "theirs"] == 0.0
    assert ((rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])).all()
    assert "theirs" not in set(merged.differences["method"])


def test_the_other_order_has_the_other_signs(groups, merged) -> None:
    other = merge(*groups[::-1]).differences
    first = merged.differences
    assert first[["method", "encoder", "metric"]].equals(other[["method", "encoder", "metric"]])
    for name, mirror in (("delta", "delta"), ("low", "high"), ("high", "low")):
        np.testing.assert_allclose(first[name], -other[mirror], atol=1e-12)
    np.testing.assert_allclose(first["p_holm"], other["p_holm"])


def test_clients_are_matched_by_their_texts_and_not_by_their_names(groups, merged, tmp_path) -> None:
    renamed = results(tmp_path / "b", B, names="somebody_{:03d}")
    again = merge(groups[0], read_group(renamed))
    pd.testing.assert_frame_equal(again.differences, merged.differences)


def test_what_is_shared_holds_no_text_and_compares_alike(groups, merged, theirs) -> None:
    assert {path.name for path in theirs.iterdir()} == {"group.json", "outputs.parquet"}
    columns = read_parquet(theirs / "outputs.parquet", GROUP_OUTPUTS)
    everything = (theirs / "group.json").read_text() + columns.to_csv()
    assert "wrote" not in everything
    assert "client_" not in everything
    again = merge(groups[0], read_group(theirs))
    assert again.digest == merged.digest
    pd.testing.assert_frame_equal(again.differences, merged.differences)
    pd.testing.assert_frame_equal(again.rows, merged.rows)


def test_what_is_shared_is_whole_and_lies_apart_from_results(folders, theirs) -> None:
    outputs = read_parquet(theirs / "outputs.parquet", GROUP_OUTPUTS)
    write_parquet(outputs.iloc[1:], theirs / "outputs.parquet", GROUP_OUTPUTS)
    assert "outputs.parquet: not the file that group.json was written with; ask for" in refusal(read_group, theirs)
    one, other = map(str, folders)
    for given, line in (
        ([one, "--share", one], "is a folder of results; name another folder"),
        ([one, other, "--output", one], "is a folder of results; name another folder"),
        ([one, other, "--output", str(theirs / "group.json")], "group.json: is a file; name another folder"),
    ):
        assert line in refusal(run, cli.parser().parse_args(["compare", *given]))


def sealed(frame, folder, change=lambda record: None) -> None:
    """Write a share's table as somebody else does, by other means, with a record that says its digest."""
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "outputs.parquet")
    record = json.loads((folder / "group.json").read_text())
    record["digest"] = hashlib.sha256((folder / "outputs.parquet").read_bytes()).hexdigest()
    change(record)
    (folder / "group.json").write_text(json.dumps(record))


def of_rows(method, **values) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A change of the columns of some rows: those of the authors' own continuations ("gold"), or all others."""

    def change(rows) -> pd.DataFrame:
        chosen = (rows["method"] == "gold") == (method == "gold")
        return rows.assign(**{name: rows[name].where(~chosen, value) for name, value in values.items()})

    return change


def first_prompt(rows, **keys) -> pd.Index:
    """The rows of the first prompt with these values."""
    chosen = rows[rows["prompt"] == rows["prompt"].iloc[0]]
    return chosen.index[(chosen[list(keys)] == pd.Series(keys)).all(axis=1)]


FORGED_ROWS = {
    r"bertscore_f1 of one output is 7, outside": of_rows("others", value=7.0),
    r"pass_rate of one output is 0\.5, outside": of_rows("others", value=0.5),
    r"missing or not finite": of_rows("gold", value=np.nan),
    r"holds values that are missing or not finite": of_rows("others", value=np.inf),
    r"two rows share seed 1, method favor, ": lambda rows: pd.concat([rows, rows[rows["method"] != "gold"]]),
    r"metric 'nobody_knows' of encoder ''": lambda rows: rows.replace("bertscore_f1", "nobody_knows"),
    r"of encoder '<img src=x>' is not of": lambda rows: rows.replace("judge", "<img src=x>"),
    r"columns seed, .*, more are not": lambda rows: rows.assign(more="x"),
    r"are not those of the protocol's prompts": lambda rows: rows.assign(prompt="zz" + rows["prompt"]),
    r"its authors are not those of the protocol": lambda rows: rows.assign(author="zz" + rows["author"]),
    r"holds outputs of prompts that": lambda rows: rows.assign(
        prompt=rows["prompt"].where(rows["method"] == "gold", "zz" + rows["prompt"])
    ),
    r"method 'favor' lacks outputs of prompts": lambda rows: rows.drop(first_prompt(rows, method="favor")),
    r"encoder 'judge' judged other outputs of 'favor' than it has": lambda rows: rows.drop(
        first_prompt(rows, method="favor", encoder="judge")
    ),
    r"\(rows 'gold'\) are not those": lambda rows: rows[rows["method"] != "gold"],
    r"rows 'gold' of encoder 'style' are missing": lambda rows: rows.query("method != 'gold' or encoder != 'style'"),
    r"of encoder 'judge' are missing": lambda rows: rows.query("method != 'gold' or metric != 'target_similarity'"),
}


@pytest.mark.parametrize("line", FORGED_ROWS)
def test_rows_that_no_run_of_the_protocol_makes_are_refused(theirs, line) -> None:
    sealed(FORGED_ROWS[line](read_parquet(theirs / "outputs.parquet", GROUP_OUTPUTS)), theirs)
    with pytest.raises(UserError, match=rf"outputs\.parquet: .*{line}.*; ask for what 'favor compare RESULTS --share"):
        read_group(theirs)


def test_another_table_in_a_share_is_to_be_got_again(theirs, monkeypatch) -> None:
    """What a reader can delete and make again in results of their own is not theirs here."""
    monkeypatch.setattr(sys, "argv", ["favor", "compare", str(theirs), str(theirs)])
    for values, line in (
        ({"a": [1]}, "column 'seed' of table 'group_outputs' is missing"),
        ({"seed": ["1"]}, "string"),
    ):
        sealed(pd.DataFrame(values), theirs)
        with pytest.raises(SystemExit, match=rf"^error: .*outputs\.parquet: .*{line}.*; get it again$"):
            cli.main()


def test_a_share_is_counted_before_it_is_read_and_taken_as_it_was_written(theirs, monkeypatch) -> None:
    sealed(read_parquet(theirs / "outputs.parquet", GROUP_OUTPUTS), theirs)
    read_group(theirs)
    monkeypatch.setattr(shared, "MOST_ROWS", 10)
    assert "rows are more than the 10 that are read" in refusal(read_group, theirs)


FORGED_RECORDS = {
    r"key 'protocol'": lambda record: record.update(protocol=[]),
    r"key 'settings\.methods'": lambda record: record["settings"].update(methods=5),
    r"key 'display\.favor'": lambda record: record.update(display={"favor": "x" * 10**6}),
    r"key 'protocol\.seeds\.0'": lambda record: record["protocol"].update(seeds=["one"]),
    r"key 'more'": lambda record: record.update(more=1),
}


@pytest.mark.parametrize("line", FORGED_RECORDS)
def test_a_record_of_another_form_is_refused_by_its_key(theirs, line) -> None:
    sealed(read_parquet(theirs / "outputs.parquet", GROUP_OUTPUTS), theirs, FORGED_RECORDS[line])
    with pytest.raises(UserError, match=rf"group\.json: {line}: .*; not what 'favor compare RESULTS --share FOLDER'"):
        read_group(theirs)


def test_a_record_that_is_no_json_or_no_file_is_refused(theirs, tmp_path) -> None:
    record = theirs / "group.json"
    for content in ("[" * 100_000, '{"protocol": NaN', b"\xff\xfe{}"):
        record.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert "group.json: Invalid JSON" in refusal(read_group, theirs)
    record.rename(tmp_path / "elsewhere.json")
    record.symlink_to(tmp_path / "elsewhere.json")
    assert "group.json: cannot be read as a regular file" in refusal(read_group, theirs)


def setting(section, **values) -> Callable[[dict], None]:
    """A change of a record: ``values`` in a section of the experiment, in the experiment itself, or beside it ("")."""

    def change(found) -> None:
        place = {"": [], "experiment": ["experiment"]}.get(section, ["experiment", *section.split(".")])
        reduce(getitem, place, found).update(values)

    return change


BOTH = "'--encoders' compares by those that both have"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (setting("generation", temperature=0.8), "generation.temperature: 0 in A, 0.8 in B"),
        (setting("allocation", total_words=10), "allocation.total_words: 9 in A, 10 in B"),
        (setting("", words="unicode"), "words: paper in A, unicode in B"),
        (setting("evaluation.bertscore", layer=9), "evaluation.bertscore.layer: 5 in A, 9 in B"),
        (setting("evaluation", encoders=[]), f"encoders: judge, style in A, style in B; {BOTH}"),
        (setting("experiment", seeds=[1]), "seeds: 1, 2 in A, 1 in B"),
    ],
)
def test_another_protocol_is_refused_by_key_and_values(groups, tmp_path, change, line) -> None:
    other = read_group(results(tmp_path / "b", B, change=change))
    said = refusal(merge, groups[0], other)
    assert "cannot be compared: " in said
    assert said.endswith(line)


@pytest.mark.parametrize(
    ("file", "table", "column", "line"),
    [
        ("seed2/prompts.parquet", PROMPTS, "prompt_text", r"prompts_of_seed\.2: \w{16} in A, \w{16} in B$"),
        ("seed1/prompts.parquet", PROMPTS, "gold_text", r"prompts_of_seed\.1: \w{16} in A, \w{16} in B$"),
        ("clients/texts.parquet", CLIENT_TEXTS, "training_text", r"authors\.training_texts: \w{16} in A, \w{16} in B$"),
        ("clients/texts.parquet", CLIENT_TEXTS, "text", r"authors\.texts: .* in B; .*prompts_of_seed\.2: "),
    ],
)
def test_other_texts_are_refused(folders, groups, tmp_path, file, table, column, line) -> None:
    changed = tmp_path / "b"
    shutil.copytree(folders[1], changed)
    frame = read_parquet(changed / file, table)
    write_parquet(frame.assign(**{column: frame[column] + " more"}), changed / file, table)
    with pytest.raises(UserError, match=f"cannot be compared: {line}"):
        merge(groups[0], read_group(changed))


def test_an_encoder_of_other_weights_is_refused(groups, tmp_path) -> None:
    """Own continuations turned to another axis by 1 have cosine 1 / sqrt 2 with their author's centre."""
    turned = read_group(results(tmp_path / "b", B, turn=1.0))
    with pytest.raises(UserError, match=r"other weights .*encoders\.judge: .* 1\.0000 in A, 0\.7071 in B"):
        merge(groups[0], turned)
    near = read_group(results(tmp_path / "c", B, turn=0.01))  # cosine 0.99995: another machine
    assert len(merge(groups[0], near).differences)


def test_only_the_named_encoders_are_compared(groups, tmp_path) -> None:
    poorer = read_group(results(tmp_path / "b", B, change=setting("evaluation", encoders=[])))
    found = merge(*(group.within(["style"]) for group in (groups[0], poorer)))
    assert set(found.differences["encoder"]) == {"", "style"}
    assert found.judge == "style"
    assert "is not neutral" in comparison_page(found)
    assert "nothing is measured by encoder 'judge'; it has style" in refusal(poorer.within, ["judge"])


def test_semantic_similarity_goes_with_its_encoder(tmp_path) -> None:
    """Whoever leaves out an encoder, whose weights may differ, leaves out what it says of likeness."""
    change = setting("evaluation", semantic_encoder="judge")
    sides = [read_group(results(tmp_path / name, B, change=change)) for name in ("a", "b")]
    for encoders, expected in ((["style"], False), (["judge", "style"], True)):
        found = merge(*(side.within(encoders) for side in sides))
        assert ("semantic_similarity" in set(found.differences["metric"])) is expected
        assert "bertscore_f1" in set(found.differences["metric"])


def test_a_row_is_named_by_what_runs_in_it(groups, tmp_path) -> None:
    """B's row favor runs FedAvg, and "mine" of A and "theirs" of B run FAVoR: no two are printed alike."""

    def other(found) -> None:
        for row, title in (("favor", "FedAvg"), ("theirs", "FAVoR")):
            found["methods"][row]["plan"]["display"] = title

    found = merge(groups[0], read_group(results(tmp_path / "b", B, change=other)))
    shown = comparison_page(found)
    for name in ("FAVoR in A, FedAvg (favor) in B", "Mine (mine)", "FAVoR (theirs)", ">Local-only<"):
        assert name in shown, name
    assert "FAVoR in A, FedAvg (favor) in B" in " ".join(findings(found))


def test_outputs_that_one_run_lacks_are_counted_out(folders, groups, tmp_path) -> None:
    """In B an author got no outputs, as one that no round sampled and that is dropped: 20 of 24 are paired."""
    fewer = tmp_path / "b"
    shutil.copytree(folders[1], fewer)

    def keep(which) -> Group:
        for file in fewer.glob("seed*/favor/generations.parquet"):
            write_parquet(read_parquet(file, GENERATIONS).query(which), file, GENERATIONS)
        return read_group(fewer)

    found = merge(groups[0], keep("client != 'client_005'"))
    row = of(found, "favor", JUDGED)
    assert (row["n"], row["authors"]) == (20, AUTHORS - 1)
    assert row["b"] == pytest.approx(2 / 20)
    assert "<td>20</td>" in comparison_page(found)
    assert "nan" not in comparison_page(merge(groups[0], keep("client == 'client_000'")))


def test_a_mean_over_fewer_seeds_is_no_row(folders, groups, tmp_path) -> None:
    """In B all outputs of FAVoR in one seed failed the filter: they count as wrong, and have no likeness."""
    fewer = tmp_path / "b"
    shutil.copytree(folders[1], fewer)
    file = fewer / f"seed{SEEDS[0]}/favor/generations.parquet"
    write_parquet(read_parquet(file, GENERATIONS).assign(passed=False), file, GENERATIONS)
    found = merge(groups[0], read_group(fewer))
    rows = found.rows[(found.rows["run"] == "B") & (found.rows["method"] == "favor")]
    assert set(rows["metric"]) == {JUDGED[1], "pass_rate"}
    shown = comparison_page(found)
    assert "A dash: no output of some seed has a value." in shown
    row = of(found, "favor", ("", "bertscore_f1"))  # paired, of the outputs that both have
    assert row["n"] == AUTHORS * PROMPTS_EACH * (len(SEEDS) - 1)


def test_names_have_no_mark_whose_note_is_not_there(groups) -> None:
    found = merge(*(replace(group, display={"favor": "FedDPA†", "local_only": "FedALT‡"}) for group in groups))
    assert not set("†‡") & set("".join([*findings(found), comparison_page(found)]))


def test_what_is_no_finished_experiment_is_one_line(folders, tmp_path) -> None:
    assert "no finished experiment (settings.json is missing); name RESULTS" in refusal(read_group, tmp_path)
    assert "nowhere: folder not found; check its name" in refusal(read_group, tmp_path / "nowhere")
    for name in ("one", "two"):
        shutil.copytree(folders[0], tmp_path / "r" / name)
    assert "several experiments (one, two); name RESULTS/EXPERIMENT" in refusal(read_group, tmp_path / "r")
    assert "a release has no numbers of single outputs" in refusal(read_group, tmp_path / "release.tar.gz")
    half = tmp_path / "r" / "one"
    (half / "seed2/mine/generations.parquet").unlink()
    assert "seed2/mine/generations.parquet: file not found; run the workflow" in refusal(read_group, half)
    old = json.loads((half / "settings.json").read_text())
    del old["words"]
    (half / "settings.json").write_text(json.dumps(old))
    assert "from an older version; run the workflow again" in refusal(read_group, half)


def test_the_command_writes_a_page_and_two_tables(folders, tmp_path, monkeypatch, capsys, violations) -> None:
    def favor(*arguments) -> None:
        monkeypatch.setattr(sys, "argv", ["favor", "compare", *map(str, arguments)])
        cli.main()

    slower = results(tmp_path / "c", B, change=setting("training", learning_rate=1))
    favor(folders[0].parent, slower, "--output", tmp_path / "out")
    printed = capsys.readouterr().out
    assert "By unseen encoders, no difference was found for FAVoR, Local-only." in printed
    assert len(read_parquet(tmp_path / "out/rows.parquet", GROUP_ROWS)) == 6 * 12 + 2 * 10  # no likeness to itself
    assert len(read_parquet(tmp_path / "out/differences.parquet", GROUP_DIFFERENCES)) == 2 * 12
    page = tmp_path / "out/comparison.html"
    shown = page.read_text()
    # Wilson's limit of six authors who are always right, with t = 2.571: 1 / (1 + t^2 / 6).
    for text in ("training.learning_rate", "A, not paired", "B, not paired", "Theirs", "n. s.", "1.00 [0.48, 1.00]"):
        assert text in shown, text
    assert "href" not in shown
    assert violations(page) == []
    for wrong in ((folders[0],), (folders[0], slower, "--share", tmp_path / "x")):
        with pytest.raises(SystemExit, match=r"^error: compare: name two folders, or one folder and --share FOLDER"):
            favor(*wrong)
    favor(folders[0], "--share", tmp_path / "mine")
    assert "without texts" in capsys.readouterr().out
    favor(tmp_path / "mine", slower, "--output", tmp_path / "again")
    for name in ("rows.parquet", "differences.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
