"""Chats and mails that no reader knows are refused by name, and what only looks like one is read."""

import json

import pytest

from favor.corpora.posts import ReaderSettings
from favor.exports.conversations import several_people
from favor.exports.files import Files
from favor.exports.formats import open_export
from favor.exports.text_folder import items
from favor.foundation.errors import UserError


def turns(form, one="Ann Lee", other="Bo") -> str:
    """Six messages in turn; ``form`` has places for the speaker and for a digit of the time."""
    return "\n".join(form.format(name=one if number % 2 else other, at=number) for number in range(6))


# What is said of texts, nothing of those of one person, and the texts.
TEXTS = {
    "looks like a chat in a form that is not read; export it again": [
        turns("[05/03/2021 10:0{at} AM] {name}\nhi there\nand more\n"),  # Discord, Teams
        turns("{name} — Today at 10:0{at} AM\nhi there\n"),  # Discord, copied
        turns("May 17, 2022  5:29:4{at} PM (Read by you after 5 seconds)\n{name}\nHi!\n", "+15555555555"),  # iMessage
        turns("[2019-05-29 15:0{at}:11] **{name}**: How"),  # Signal
        turns("10:0{at} < {name}> hi", "ann"),  # IRC
        turns("<{name}> hi", "@ann"),
        turns("[{name}] [오전 10:0{at}] hi"),  # KakaoTalk
        turns("2021. 5. 3. 오전 10:0{at}, {name} : hi"),
        turns("2021-05-03 10:0{at}:11 {name}\nhi\n", "Ann(12345)", "Bo<b@x.org>"),  # QQ, WeChat
        turns("10:02:1{at} From {name} to Everyone:\n\thi"),  # Zoom
        turns("(10:02:1{at} AM) {name}: hi", other="b@x.org"),  # Pidgin
        turns("{name}  10:0{at} AM\nhi there"),  # Slack, copied
        turns("Mon, May 3, 2021, 10:0{at} - {name}: hi"),  # Matrix
        turns("[ 3 May 2021 10:0{at} ] {name}: hi"),  # Viber
        turns('2021-05-03 10:0{at},{name},"hi there, you"'),
        turns("2021-05-03 10:0{at} | {name} | hi"),
        turns("{name} (10:0{at}): hi"),
        turns("{name}\n  10:0{at} AM\nhi there"),
        turns("{name} says:\nMay 3, 2021 at 10:0{at} am\nhi\n\nReply\n"),  # comments below a post
        "06.08.2018 kl. 22:30 - Ann: hi\n06.08.2018 kl. 22:31 - Bo: hi\n",
        "٥\u200f/٥\u200f/٢٠٢١, ١٠:٠٢ م - Ann: hi\n٥\u200f/٥\u200f/٢٠٢١, ١٠:٠٣ م - Bo: hi\n",
        "[2018-08-06 22:30] Ann Lee: hi\n[2018-08-06 22:31] Bo: hello\n",
        "2018-08-06 22:30 Ann: hi\n" * 4,  # of one who writes to nobody
        "2018/08/06(Mon)\n10:30 PM\tAnn\thi\n10:31 PM\tBo\thello\n",  # LINE
    ],
    "looks like a mail; name it .eml if it is one": [
        "Von: Ann <a@x.org>\nGesendet: Montag, 3. Mai 2021 10:00\nAn: Bo\nBetreff: hi\n\nText",
        "差出人: Ann <a@x.org>\n送信日時: 2021年5月3日 10:00\n宛先: Bo\n件名: hi\n\nText",
        "hi\nAnn <a@x.org>\tMay 3, 2021 at 10:00 AM\nTo: Bo\n\nText\n\nBo <b@x.org>\tMon, May 3, 2021 at 11:00 AM\n",
    ],
    "is a backup of text messages": ['<smses><sms address="1" body="hi"/></smses>'],
    "is a file of subtitles": ["1\n00:00:01,000 --> 00:00:04,000\nAnn: hi\n"],
    "is a conversation with an assistant": [
        turns("{name} said:\nSure.\n", "ChatGPT", "You"),
        turns("## {name}\n\nSure.\n", "Assistant", "User"),
        turns("## {name}:\n\nSure.\n", "Response", "Prompt"),
    ],
    "": [
        "\n".join(f"10:{number:02d}\nWe walked until the rain came.\n" for number in range(12)),
        "\n".join(f"Dienstag, {number}. Mai 2021, 10.30 Uhr\nWir gingen.\n" for number in range(1, 20)),
        "\n".join(f"{day}, 3 May 2021, 10:30\nWe walked.\n" for day in ["Monday", "Tuesday", "Sunday"] * 4),
        "ANN: Who is there?\nBO: Nobody.\n" * 4,  # a play
        "10:00 Breakfast\n11:00 Talk by Ann Lee\n12:00 Lunch\n13:00 Walk\n14:00 Talk by Bo\n",
        "\n".join(f"1:{number} In the beginning {'abcdefghijklmnopqrst'[number]}" for number in range(1, 20)),
        "Ann came at 10:30 and left.\nBo came at 11:30 and left.\n" * 3,
        "Title: Soup\nTime: 10:30\nServes: 4\nFlour: 300 g\n\nCook it.",
        "You:\nwere there.\n\nMe:\nas well.\n" * 3,
        "Monday\n10:30\nWe walked, and Ann said: go.\nTuesday\n11:30\nIt rained.\n" * 3,
        "2018-08-06 22:30 Home: we walked.\n2018-08-07 22:30 Home: it rained.\n",
    ],
}


@pytest.mark.parametrize(("said", "text"), [(said, text) for said, texts in TEXTS.items() for text in texts])
def test_texts_of_several_people_are_known_in_any_form(said, text) -> None:
    found = several_people(text)
    assert found.startswith(said)
    assert bool(found) == bool(said)


PAGES = {
    "a chat of Discord": '<div class="chatlog__message-group"><span class="chatlog__author">Ann</span>hi</div>',
    "a chat of Signal": "<div class=msg sender-Bo><span class=date>2021-05-03 10:00</span>hi</div>",
    "a chat of iMessage": '<div class="message"><div class="sent iMessage"><span>May 17, 2022</span>hi</div></div>',
    "a chat of Facebook or Instagram": '<div class="_3-95 _2pim _a6-h _a6-i">Ann</div><div class="_a6-p">hi</div>',
    "a page of several people's words": "".join(
        f'<li><cite class="comment-author"><b>{name}</b></cite><p>hi</p></li>' for name in ("Ann", "Bo") * 2
    ),
}


@pytest.mark.parametrize("what", PAGES)
def test_pages_of_chats_are_refused(tmp_path, what) -> None:
    (tmp_path / "page.html").write_text(f"<html><body>{PAGES[what]}</body></html>")
    with pytest.raises(UserError, match=f"page.html is {what}"):
        list(items(Files(tmp_path), ReaderSettings()))


MESSAGES = {
    "a chat of Discord": {"guild": {"id": "1"}, "messages": [{"type": "Default", "content": "hi"}]},
    "a chat of Facebook or Instagram": {"participants": [], "messages": [{"sender_name": "Ann", "content": "hi"}]},
    "a chat of Slack": [{"client_msg_id": "1", "type": "message", "text": "hi"}],
    "a chat of Teams or Skype": {"conversations": [{"MessageList": []}]},
}


@pytest.mark.parametrize("what", MESSAGES)
@pytest.mark.parametrize("alone", [True, False])
def test_chats_as_json_are_refused(tmp_path, what, alone) -> None:
    (tmp_path / "result.json").write_text(json.dumps(MESSAGES[what]))
    with pytest.raises(UserError, match=f"result.json is {what}, which is not read; make a CSV of your own messages"):
        open_export(tmp_path / "result.json" if alone else tmp_path)


def test_exports_in_a_folder_are_to_be_given_by_themselves(tmp_path) -> None:
    (tmp_path / "Sent.mbox").write_bytes(b"From x Mon May 03 10:00:00 2021\n")
    with pytest.raises(UserError, match=r"it holds Sent.mbox. Give Sent.mbox by itself, or one of: an archive"):
        open_export(tmp_path)


def test_a_folder_whose_only_text_says_what_it_holds_is_no_folder_of_texts(tmp_path) -> None:
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages" / "messages.json").write_text("[]")
    (tmp_path / "README.txt").write_text("This is your package.")
    name, export, files = open_export(tmp_path)
    assert name == "text_folder"
    with pytest.raises(UserError, match=r"holds no text but README.txt, so it is an export that is not read"):
        list(export.items(files, ReaderSettings()))
    (tmp_path / "messages" / "messages.json").unlink()
    assert [item.text for item in export.items(Files(tmp_path), ReaderSettings())] == ["This is your package."]
