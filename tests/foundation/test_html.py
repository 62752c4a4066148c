"""What templates fill in is text, whatever it holds; a value that is missing is an error."""

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from favor.foundation.html import render


def test_what_is_filled_in_is_text_unless_it_is_html(tmp_path) -> None:
    template = "{{ name }}|{{ part }}|{{ count }}|<b title='{{ name }}'>|{{ file('x.css') }}"
    (tmp_path / "page.html").write_text(template)
    (tmp_path / "x.css").write_text("a::after { content: '{{ name }}' }")
    shown = render(tmp_path, "page.html", name="<i> & \"x\" 'y' \x07", part=Markup("<i>"), count=3)
    name = "&lt;i&gt; &amp; &quot;x&quot; &#x27;y&#x27; U+0007"
    assert shown == f"{name}|<i>|3|<b title='{name}'>|a::after {{ content: '{{{{ name }}}}' }}"
    assert isinstance(shown, Markup)


def test_a_missing_value_is_an_error(tmp_path) -> None:
    (tmp_path / "page.html").write_text("{{ name }}")
    with pytest.raises(UndefinedError, match="name"):
        render(tmp_path, "page.html")
