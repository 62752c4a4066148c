"""``favor init``: shapes of corpora that people have, each read as meant, and what cannot work in one line."""

import random
import re
import zipfile
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from gguf import GGUFWriter
from tests.exports.conftest import refusal

from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.config.starting import command
from favor.config.starting.columns import Column, form_of, look, roles_of
from favor.config.starting.sizes import REAL_BASE, sizes_of
from favor.config.starting.source import look_at
from favor.corpora.dates import day_of
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.settings import Splitting
from favor.foundation.errors import UserError

WORDS = ["river", "and", "morning", "walked", "quietly", "over", "old", "bridges", "while", "nobody", "bread", "today"]


@pytest.fixture(autouse=True)
def no_base_in_the_working_folder(tmp_path, monkeypatch) -> None:
    """A base that ``make real-base`` brought into the repository is found from its folder."""
    monkeypatch.chdir(tmp_path)


def posts(authors=8, each=12, words=160) -> pd.DataFrame:
    """Posts with columns of every kind: a number per row, an author, a sex, a topic, a date and a text."""
    draw = random.Random(7)
    rows = [
        (1000 * author + post, f"w{author}", "mf"[author % 2], ("work", "home", "sea")[post % 3],
         f"{post % 28 + 1:02d}.{author % 12 + 1:02d}.2019", " ".join(draw.choices(WORDS, k=words)).capitalize() + ".")
        for author in range(authors)
        for post in range(each)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["id", "writer", "sex", "topic", "date", "text"])


def write_gguf(path, licence="") -> None:
    """A file of one tensor, whose header says what a configuration is checked against."""
    writer = GGUFWriter(path, "llama")
    if licence:
        writer.add_license(licence)
    writer.add_context_length(2048)
    writer.add_token_list(["a", "b"])
    writer.add_tensor("token_embd.weight", np.ones((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def letters(folder, frame=None, **options) -> Path:
    (posts() if frame is None else frame).to_csv(folder / "letters.csv", index=False, **options)
    return folder / "letters.csv"


def started(path, tmp_path, real=True, date_format=None) -> dict:
    """Write a configuration in an empty folder, which ``favor check`` accepts; return what YAML reads of it."""
    home = tmp_path / "home"
    (home / "resources").mkdir(parents=True)
    if real:
        write_gguf(home / REAL_BASE)
    command.run(path, tmp_path / "own.yaml", home, date_format)
    resolve(read_files([tmp_path / "own.yaml"]))
    return yaml.safe_load((tmp_path / "own.yaml").read_text())


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".csv", "|")])
def test_a_csv_with_columns_of_other_names(tmp_path, suffix, separator) -> None:
    """The first column is called id and numbers posts, so it is no author."""
    path = tmp_path / f"letters{suffix}"
    posts().rename(columns={"date": "Datum", "text": "Inhalt"}).to_csv(path, index=False, sep=separator)
    corpus = started(path, tmp_path)["corpora"]["own"]
    assert corpus["columns"] == {"text": "Inhalt", "author": "writer", "topic": "topic", "date": "Datum"}
    assert corpus.get("separator") == (None if separator in ",\t" else separator)
    assert corpus["date_format"] == "%d.%m.%Y"
    assert corpus["roles"] == {"clients": 8, "asce_a": 0, "asce_b": 0, "background": 0}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("letters", "letters"),
        ("My posts (2024)", "my_posts_2024"),
        ("Überblick", "uberblick"),
        ("2024", "own_2024"),
        ("encoders", "own_encoders"),
        ("писма", "own"),
        ("n" * 200, "n" * 50),
    ],
)
def test_corpus_experiment_and_results_are_named_after_the_data(tmp_path, name, key) -> None:
    """Two data sets of one folder do not replace each other's results."""
    (tmp_path / "resources").mkdir()
    write_gguf(tmp_path / REAL_BASE)
    output = tmp_path / f"{name}.yaml"
    command.run(letters(tmp_path), output, tmp_path)
    found = yaml.safe_load(output.read_text())
    assert [*found["corpora"], *found["experiments"], found["results"]] == [key, key, f"results/{key}"]
    assert found["experiments"][key]["corpus"] == key


@pytest.mark.parametrize("nested", ["jsonl", "parquet"])
def test_what_an_object_holds_is_a_column_with_a_dotted_name(tmp_path, nested) -> None:
    """Tweets have their author in an object. Times since 1970 are dates, which pandas stores as floating point."""
    frame = posts()[["id", "text"]].rename(columns={"text": "full_text"})
    frame["created_utc"] = [1.2e9 + 86400.0 * row for row in range(96)]
    frame["user"] = [{"screen_name": writer, "about": {"site": "x"}} for writer in posts()["writer"]]
    path = tmp_path / f"tweets.{nested}"
    frame.to_parquet(path) if nested == "parquet" else frame.to_json(path, orient="records", lines=True)
    corpus = started(path, tmp_path)["corpora"]["own"]
    columns = {"text": "full_text", "author": "user.screen_name", "date": "created_utc"}
    assert (corpus["columns"], corpus["date_format"]) == (columns, "seconds")
    settings = ReaderSettings(columns=columns, date_format="seconds")
    found = list(open_reader("table").read(path, settings))
    assert [post.author for post in found] == [f"w{row // 12}" for row in range(96)]
    assert day_of(found[3].date, "seconds") == day_of("2008-01-13")


@pytest.mark.parametrize("columns", [["writer", "text"], ["text", "writer"], ["date", "writer", "text"]])
def test_a_csv_without_a_header_is_found_out(tmp_path, columns) -> None:
    """Its first post would be taken for names of columns, and lost."""
    path = letters(tmp_path, posts()[columns], header=False)
    with pytest.raises(UserError, match="its first line is a row, not the names of columns: "):
        started(path, tmp_path)


def test_a_folder_of_a_text_file_per_post_and_of_another_encoding(tmp_path, capsys) -> None:
    """One old file among new ones: the others stay what they are."""
    for row in posts().itertuples():
        file = tmp_path / "letters" / row.writer / f"{row.Index}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Café. {row.text}")
    assert started(tmp_path / "letters", tmp_path / "new")["corpora"]["own"]["reader"] == "text_folder"
    file = tmp_path / "letters" / "w0" / "7.txt"
    file.write_bytes(file.read_text().encode("cp1252"))
    with pytest.raises(UserError, match=r"7\.txt: line 1: byte 3 is not utf-8; give --encoding"):
        started(tmp_path / "letters", tmp_path)
    with pytest.raises(UserError, match="encoding 'idna' is unknown or not one of text; use"):
        command.run(tmp_path / "letters", None, tmp_path / "home", encoding="idna")
    output = tmp_path / "my folder" / "own.yaml"
    command.run(tmp_path / "letters", output, tmp_path / "home", encoding="cp1252")
    printed = capsys.readouterr()
    assert "letters: 1 of 96 files are not UTF-8 and are read as cp1252" in printed.err
    assert f"Next: favor check '{output}'\n" in printed.out
    assert f"# Next: favor check '{output}'\n" in output.read_text()
    corpus = yaml.safe_load(output.read_text())["corpora"]["own"]
    found = open_reader("text_folder").read(tmp_path / "letters", ReaderSettings(encoding="cp1252"))
    assert (corpus["encoding"], {post.text[:4] for post in found}) == ("cp1252", {"Café"})


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("posts.xlsx", "posts.xlsx: .xlsx is not read; save it as CSV"),
        ("posts.arrow", r"posts.arrow: Arrow is not read; .*datasets.Dataset.from_file\('.*posts.arrow'\).to_parquet"),
        ("saved/data-00000-of-00001.arrow", r"datasets.load_from_disk\('.*saved'\).to_parquet\('posts.parquet'\)"),
        ("saved/test/data-00000-of-00001.arrow", r"datasets.load_from_disk\('.*saved'\)\['test'\].to_parquet"),
        ("posts.json", "posts.json: .json is not read; write it as JSON Lines"),
        ("posts.jsonl", r"posts.jsonl: line 1 begins a JSON array; write one object per line"),
        ("posts.zip", "posts.zip: .zip is not read; unpack it, or name .* such as posts.csv.zip"),
    ],
)
def test_what_is_no_table_here_has_a_remedy(tmp_path, name, line) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"[]")
    with pytest.raises(UserError, match=line):
        started(tmp_path / name.split("/")[0], tmp_path)


def test_the_remedy_for_a_file_of_arrow_works(tmp_path) -> None:
    posts().to_feather("posts.feather")
    exec(refusal(started, tmp_path / "posts.feather", tmp_path).split("Arrow is not read; ")[1].split("in Python: ")[1])
    assert pd.read_parquet("posts.parquet").equals(posts())


def test_what_every_row_has_another_of_is_no_topic(tmp_path) -> None:
    """Authors would share none, and pairs of one topic would not exist."""
    frame = posts().drop(columns="topic").assign(subject=[f"Re: letter {number}" for number in range(96)])
    assert "topic" not in started(letters(tmp_path, frame), tmp_path)["corpora"]["own"]["columns"]


def test_json_lines_with_numbers_lists_and_iso_dates(tmp_path) -> None:
    path, numbers = tmp_path / "letters.jsonl", posts()["writer"].str[1:].astype(int) + 7
    table = posts().assign(writer=numbers, date="2019-02-03", tags=[["a"]] * 96, score=0.5)
    table.to_json(path, orient="records", lines=True)
    corpus = started(path, tmp_path)["corpora"]["own"]
    assert corpus["columns"]["author"] == "writer"
    assert "date_format" not in corpus


def test_parquet_with_dates_of_its_own_and_nothing_that_names_the_author(tmp_path) -> None:
    """Of w, sex and topic the first has most values, so it is the author; a line says that it was told so."""
    path = tmp_path / "letters.parquet"
    table = posts().rename(columns={"writer": "w"}).assign(date=pd.to_datetime("2019-02-03").date(), score=0.5)
    table.to_parquet(path)
    assert started(path, tmp_path)["corpora"]["own"]["columns"]["author"] == "w"
    assert 'author: "w" # told by what is in it' in (tmp_path / "own.yaml").read_text()


def test_a_folder_with_an_export_per_author(tmp_path) -> None:
    """Mail, which begins with "From "; what is one export alone is one author's."""
    for author, rows in posts().groupby("writer"):
        head = f"From a@b Thu Jan  1 00:00:00 2019\nFrom: {author}@example.org\n\n"
        file = tmp_path / "mails" / f"{author}.mbox"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(f"{head}{text}\n" for text in rows["text"]))
    assert started(tmp_path / "mails", tmp_path)["corpora"]["own"]["reader"] == "mbox"
    with pytest.raises(UserError, match=r"1 of 1 authors .*what 'favor voice' is for$"):
        started(tmp_path / "mails" / "w1.mbox", tmp_path / "other")


def write_chat(path, form, first, days=14) -> None:
    """A chat of WhatsApp of eight people: a long message of each, every day."""
    draw = random.Random(5)
    lines = [
        f"{(first + timedelta(days=day)).strftime(form)}, 10:{who:02d} - w{who}: {' '.join(draw.choices(WORDS, k=160))}"
        for day in range(days)
        for who in range(8)
    ]
    path.write_text("\n".join(lines) + "\n")


def test_the_order_of_dates_of_whatsapp_is_found_or_asked_for(tmp_path) -> None:
    """A date that exists in one order tells it, and so does a chat that would go back in time in the others."""
    path = tmp_path / "chat.txt"
    for form, first, found in (
        ("%m/%d/%y", date(2023, 4, 13), "%m/%d/%Y"),
        ("%d.%m.%y", date(2011, 3, 28), "%d.%m.%Y"),  # 2028 to 2001 where years were first
        ("%Y/%m/%d", date(2023, 1, 1), "%Y-%m-%d"),
    ):
        write_chat(path, form, first)
        corpus = started(path, tmp_path / found[:2])["corpora"]["own"]
        assert (corpus["reader"], corpus["date_format"]) == ("whatsapp", found)
    write_chat(path, "%d/%m/%y", date(2023, 4, 1), days=12)
    with pytest.raises(UserError, match=r"chat.txt: dates of WhatsApp may be dmy or mdy .*; give --date-format"):
        started(path, tmp_path / "either")
    assert not (tmp_path / "either" / "own.yaml").exists()
    corpus = started(path, tmp_path / "given", date_format="%d/%m/%y")["corpora"]["own"]
    assert corpus["date_format"] == "%d/%m/%y"


def test_the_form_of_a_tables_dates_can_be_given(tmp_path, capsys) -> None:
    path = letters(tmp_path, posts().assign(date="03/04/2019"))
    assert "date" not in started(path, tmp_path / "left out")["corpora"]["own"]["columns"]
    said = "dates are not all read: date: 03/04/2019 may be %d/%m/%Y or %m/%d/%Y; give one of them as --date-format"
    assert said in capsys.readouterr().err
    corpus = started(path, tmp_path / "given", date_format="%d/%m/%Y")["corpora"]["own"]
    assert (corpus["columns"]["date"], corpus["date_format"]) == ("date", "%d/%m/%Y")
    said = refusal(started, path, tmp_path / "other", date_format="%d.%m.%Y")
    assert "date: dates such as 03/04/2019 are of another form" in said
    assert "--date-format '%H' names no day" in refusal(started, path, tmp_path / "hours", date_format="%H")


def test_whole_numbers_with_decimals_are_authors(tmp_path) -> None:
    """As databases export them to Parquet: exact, as a floating-point number is not."""
    path = tmp_path / "letters.parquet"
    posts().assign(writer=lambda frame: frame["writer"].str[1:].map(lambda n: Decimal(f"{n}.00"))).to_parquet(path)
    assert started(path, tmp_path)["corpora"]["own"]["columns"]["author"] == "writer"
    assert len(look_at(path, Splitting(minimum_posts=10)).authors) == 8


def test_what_cannot_be_resolved_is_not_written(tmp_path, monkeypatch) -> None:
    path = letters(tmp_path)

    def refuse(config) -> None:
        raise UserError(f"no {config['experiments']['own']['base_model']}")

    monkeypatch.setattr(command, "resolve", refuse)
    with pytest.raises(UserError, match="no base"):
        started(path, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"home", "letters.csv"}
    monkeypatch.undo()
    command.run(path, tmp_path / "own.yaml", tmp_path / "home")


def test_a_language_without_spaces(tmp_path) -> None:
    """Texts of Chinese are told from names by their characters, and their words are ICU's."""
    draw = random.Random(3)
    words = ["今天", "早上", "走过", "河边", "没有", "面包", "老桥", "安静", "我们", "回家"]
    table = posts().assign(text=["".join(draw.choices(words, k=200)) + "。" for _ in range(96)])
    path = letters(tmp_path, table.rename(columns={"writer": "作者", "text": "正文"}))
    corpus = started(path, tmp_path)["corpora"]["own"]
    assert [corpus["columns"]["text"], corpus["columns"]["author"], corpus["words"]] == ["正文", "作者", "segmented"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_table_in_another_encoding(tmp_path, capsys, encoding) -> None:
    path = letters(tmp_path, posts().assign(text=lambda frame: frame["text"] + " Süß."), encoding=encoding)
    assert started(path, tmp_path)["corpora"]["own"]["encoding"] == encoding
    assert f"what is not UTF-8 is read as {encoding}; --encoding" in capsys.readouterr().err


def test_rows_that_are_dropped_are_counted(tmp_path, capsys) -> None:
    started(letters(tmp_path, pd.concat([posts(), posts()[:7], posts()[:2].assign(text="")])), tmp_path)
    assert "other rows are dropped: empty 2, duplicate same author 7" in capsys.readouterr().err


def test_a_zip_of_the_blog_corpus(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "blogs.zip", "w") as archive:
        for writer, rows in posts().groupby("writer"):
            content = "".join(f"<date>1,May,2004</date><post>{text}</post>" for text in rows["text"])
            archive.writestr(f"blogs/{writer[1:]}.male.24.Arts.Leo.xml", f"<Blog>{content}</Blog>")
    assert started(tmp_path / "blogs.zip", tmp_path)["corpora"]["own"]["reader"] == "blog_xml"


def test_many_authors_train_a_style_encoder_too_and_without_the_real_base_a_base(tmp_path) -> None:
    path = letters(tmp_path, posts(authors=50))
    config = started(path, tmp_path)
    # Half of them, and no more than 24 clients.
    assert config["corpora"]["own"]["roles"] == {"clients": 24, "asce_a": 25, "asce_b": 0, "background": 0}
    assert config["experiments"]["own"]["style_encoder"] == "asce_a"
    toy = started(path, tmp_path / "other", real=False)
    # Half of the 50 pretrain; of the 25 that are left 12 train the style encoder.
    assert toy["corpora"]["own"]["roles"] == {"clients": 13, "asce_a": 12, "asce_b": 0, "background": 25}
    assert toy["base_models"]["base"]["pretrain"]["corpus"] == "own"


@pytest.mark.parametrize("real", [True, False])
def test_every_line_says_why(tmp_path, real) -> None:
    """But for titles, names of the corpus, columns that their names tell, and four sizes that stand below a comment."""
    started(letters(tmp_path, posts(authors=50)), tmp_path, real)
    lines = (tmp_path / "own.yaml").read_text().splitlines()
    silent = {line.split(":")[0].strip() for line in lines if re.search(r": \S", line) and "#" not in line}
    columns = {"text", "author", "topic", "date"}
    sizes = set() if real else {"layers", "heads", "key_value_heads", "intermediate_size"}
    assert silent == {"title", "corpus", *columns, *sizes}


@pytest.mark.parametrize(
    ("authors", "each", "words", "real", "problem"),
    [
        (
            4,
            12,
            160,
            True,
            "4 of 4 authors have 10 posts and 1,500 words, .* but 6 are needed as clients; text = text, author = ",
        ),
        (30, 12, 160, False, "30 of 30 authors .* but 40 are needed .*with the base of 'make real-base' 6 are enough"),
        (8, 6, 400, True, "0 of 8 authors have 10 posts"),
        (8, 40, 60, True, "and 0 of them posts of 80 words to test on"),
    ],
)
def test_too_little_is_refused_with_what_is_missing(tmp_path, authors, each, words, real, problem) -> None:
    path = letters(tmp_path, posts(authors, each, words))
    with pytest.raises(UserError, match=problem):
        started(path, tmp_path, real)
    assert not (tmp_path / "own.yaml").exists()


def test_dates_are_no_authors(tmp_path) -> None:
    """Nothing tells the columns of other languages by name, and there are more days than writers."""
    frame = posts()[["writer", "text"]].assign(jour=[f"2004-05-{1 + row % 20:02d}" for row in range(96)])
    path = letters(tmp_path, frame.rename(columns={"writer": "qui"}))
    assert started(path, tmp_path)["corpora"]["own"]["columns"]["author"] == "qui"


def test_too_little_says_which_columns_were_taken_and_what_cleaning_dropped(tmp_path) -> None:
    path = letters(tmp_path, posts().assign(text=posts()["text"].iloc[0]))
    told = "text = text, author = writer, topic = topic, date = date; other rows are dropped: duplicate same author 88,"
    with pytest.raises(UserError, match=rf"the one author is w0, .*; {told}"):
        started(path, tmp_path)


def test_what_is_no_corpus_is_refused(tmp_path) -> None:
    floats = posts().assign(writer=lambda frame: frame["writer"].str[1:].astype(float))[["writer", "text"]]
    floats = floats.to_json(orient="records", lines=True).encode()
    nobody = posts()[["date", "text"]].assign(date=range(96)).to_csv(index=False).encode()
    one = posts(authors=1)[["writer", "text"]].to_csv(index=False).encode()
    for name, content, problem in (
        ("none.csv", None, "file not found"),
        ("notes/a.csv", b"a\n1\n", "name one table"),
        ("few.csv", b"a,b\n1,2\n1,2\n", "no column holds texts .*; its columns are a, b"),
        ("header.csv", b"author,text\n", "has no row below the names of its columns"),
        ("nul.csv", b"\0" * 1000, "has no row below the names of its columns"),
        ("nobody.csv", nobody, "no column names authors .*; its columns are date, text"),
        ("floats.jsonl", floats, "no column names authors .* such as 123.0 count as none"),
        ("one.csv", one, "'writer' has one author, whose voice is"),
        ("titled.csv", b"My posts\n\nauthor,text\nann,hello\n", "its first line is not the names of columns: row 1"),
        ("picture.png", b"\x89PNG", "neither a table .* nor an export"),
        ("empty/.keep", b"", "holds no folder of text files per author .* and no table$"),
        ("mail/ann/Sent.mbox", b"From ", "and no table; ann/Sent.mbox lies too deep: put it into the folder itself"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(UserError, match=problem):
            look_at(tmp_path / Path(name).parts[0], Splitting(minimum_posts=10))
    (tmp_path / "own.yaml").touch()
    remedy = "own.yaml exists; check it with 'favor check', or name another file with --output"
    assert remedy in refusal(command.run, tmp_path / "few.csv", tmp_path / "own.yaml", tmp_path)


@pytest.mark.parametrize(
    ("dates", "form", "problem"),
    [
        (["2019-02-03", "2019-12-31"], None, ""),
        (["14.05.2004", "01.02.2003"], "%d.%m.%Y", ""),
        (["03/14/2004", "01/02/2003"], "%m/%d/%Y", ""),
        (["03/04/2004"], None, "may be %d/%m/%Y or %m/%d/%Y"),
        (["1084500000"], "seconds", ""),
        (["1084500000123"], "milliseconds", ""),
        (["1084"], None, "of no form that is known"),
        (["2004/05/14 09:30"], "%Y/%m/%d %H:%M", ""),
        (["Fri, 14 May 2004 09:30:00 +0200"], "%a, %d %b %Y %H:%M:%S %z", ""),
        (["Fri, 14 May 2004 09:30:00 GMT"], "%a, %d %b %Y %H:%M:%S GMT", ""),
        (["Fri May 14 09:30:00 +0000 2004"], "%a %b %d %H:%M:%S %z %Y", ""),
        (["14.05.2004"] * 2 + ["5/14/2004"] * 2, None, "several forms, such as 14.05.2004 and 5/14/2004; write all in"),
        (["2004-05-14", "14.05.2004"], None, "50 % of its dates are read, 90 % are asked for, and others are such as"),
        (["12,May,2004"] * 3 + ["02,Maio,2004"], None, "75 % of its dates are read, .* such as 02,Maio,2004; correct"),
        ([], None, "holds no dates"),
        # Two of 22 rows are not read, though they are two of three values.
        (["2019-02-03"] * 20 + ["15,mars,2003", "20,mars,2003"], None, ""),
    ],
)
def test_the_form_of_dates(dates, form, problem) -> None:
    found, why = form_of(Counter(dates))
    assert found == form
    assert re.search(problem, why) if problem else why == ""


def test_a_name_counts_before_content_and_content_before_nothing() -> None:
    """Of two columns that may be authors, the one of the commoner name; a text needs five words per row."""
    words = {"note": "so few", "body": "five words are in here"}
    roles = roles_of(look([{"user": f"u{n % 4}", "name": f"n{n % 6}", **words} for n in range(24)]), "a.csv")
    assert (roles.columns, roles.guessed) == ({"text": "body", "author": "user"}, [])
    assert "no column names authors" in refusal(roles_of, {"body": Column(words=50, rows=10)}, "a.csv")


def test_sizes_by_hand() -> None:
    """Twelve authors with 41 posts and 7,000 words, of whom one has no long post to test on."""
    authors = pd.DataFrame({"documents": 41, "words": 7000, "long_test_posts": [2] * 11 + [0]})
    sizes = sizes_of(authors, True, "a.csv")
    assert (sizes.minimum_posts, sizes.minimum_words, sizes.eligible) == (40, 6000, 12)
    assert (sizes.clients, sizes.asce_a, sizes.background, sizes.words_per_client) == (11, 0, 0, 1000)
    assert sizes.prompts == 2
    assert sizes_of(authors.assign(long_test_posts=[9] * 6 + [1] * 6), True, "a.csv").prompts == 4  # at most
    # Another with 12 posts: the thresholds go down for it, and so does what each trains on: 70 % of 1,600, in hundreds.
    small = pd.DataFrame({"documents": [12], "words": [1600], "long_test_posts": [1]})
    sizes = sizes_of(pd.concat([authors, small]), True, "a.csv")
    assert (sizes.minimum_posts, sizes.clients, sizes.words_per_client) == (10, 12, 1000)
