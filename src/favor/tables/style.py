"""The one style sheet of the HTML report and tables: light and dark, print, and narrow screens."""

from __future__ import annotations

from favor.tables.escape import html_text

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #ffffff; --card: #f6f8fa;
  --accent: #0b5cad; --warn: #fff8e1; --warnline: #b07d00; --figure: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #a0a9b4; --line: #3a424c; --page: #10151b;
  --card: #171e26; --accent: #79b8ff; --warn: #2b2412; --warnline: #d9a520; --figure: #f4f6f8; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 6rem; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 88rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0 .25rem; }
h2 { font-size: 1.4rem; margin: 2.75rem 0 .75rem; padding-top: .75rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.15rem; margin: 2.1rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p, ul, ol, dl { max-width: 48rem; }
a { color: var(--accent); }
.lead { font-size: 1.05rem; color: var(--soft); margin-top: 0; }
nav { position: sticky; top: 0; z-index: 3; background: var(--page); border-bottom: 1px solid var(--line);
  display: flex; flex-wrap: wrap; gap: 0 1.25rem; align-items: center; }
nav > details[open] { flex-basis: 100%; }
nav details { max-height: 80vh; overflow: auto; columns: 20rem; margin: 0; padding: .4rem 0; }
nav summary { column-span: all; }
nav div { break-inside: avoid; margin-bottom: .6rem; }
nav ul { list-style: none; padding: 0; margin: 0; font-size: .92rem; }
.first { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 40rem), 1fr)); gap: 1.5rem; }
.first > * { min-width: 0; }
.first th, .first td { padding: .22rem .45rem; font-size: .86rem; }
.first th[scope=row] { white-space: nowrap; }
.first caption { max-width: min(100%, 92vw); }
.first thead th { white-space: normal; }
dl.opening { display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; max-width: none; }
dl.opening div { display: flex; gap: .5rem; }
h1 + h2 { margin-top: .5rem; border-top: 0; padding-top: 0; }
p.statement, p.finding, p.caution { max-width: none; }
.caution { font-weight: 600; }
.finding { font-size: 1.08rem; font-weight: 500; }
.statement { background: var(--warn); border-left: 4px solid var(--warnline); padding: .6rem .9rem; max-width: 48rem; }
.scroll { position: relative; overflow-x: auto; margin: .75rem 0 .25rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { caption-side: top; text-align: left; color: var(--soft); padding-bottom: .5rem; max-width: min(46rem, 92vw); }
thead th { border-top: 2px solid var(--ink); border-bottom: 1px solid var(--ink); vertical-align: bottom; }
th, td { padding: .32rem .7rem; text-align: right; white-space: nowrap; }
th[scope=row], th[scope=rowgroup], th.stub, .text td, .text th { text-align: left; }
th[scope=row], th[scope=rowgroup] { font-weight: 500; vertical-align: top; }
th[scope=row] { white-space: normal; min-width: 8rem; position: sticky; left: 0; background: var(--page); }
.text td, td.wide { white-space: normal; text-align: left; vertical-align: top; }
td.wide { min-width: 18rem; }
thead th { font-weight: 600; }
tbody + tbody tr:first-child > *, tr.rule > * { border-top: 1px solid var(--line); }
tbody:last-child tr:last-child > * { border-bottom: 2px solid var(--ink); }
tr.control > * { color: var(--soft); font-style: italic; }
td .dev { color: var(--soft); font-size: .82em; }
td .beside { display: block; color: var(--soft); font-size: .78em; font-style: normal; }
td strong { font-weight: 700; }
td u { text-underline-offset: .2em; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.notes { font-size: .85rem; color: var(--soft); margin: .25rem 0 .5rem; padding: 0; list-style: none; }
dl.facts { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: .25rem 1.25rem; margin: .5rem 0; }
dl dt { color: var(--soft); }
dl.facts div { display: contents; }
dl dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.25rem 0; }
figure .drawing { background: var(--figure); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; }
figure .drawing { overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { color: var(--soft); font-size: .92rem; margin-top: .4rem; max-width: 48rem; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--accent); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .92em; }
@media (max-width: 40rem) { main { padding: 1rem .9rem 3rem; } th[scope=row] { max-width: 40vw; min-width: 5rem; }
  .first th[scope=row] { white-space: normal; } h1 { font-size: 1.5rem; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .5rem; } th, td { padding: .3rem .5rem; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --card: #fff; --accent: #000;
  --warn: #fff; --figure: #fff; } body { font-size: 10pt; } main { max-width: none; padding: 0; } nav { display: none; }
  .scroll { overflow: visible; } table { font-size: 8.5pt; } th, td { padding: .2rem .4rem; }
  h2, h3, h4, caption { break-after: avoid; } tr, figure { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; } }
"""


def page(title: str, body: str, script: str = "", style: str = "", demo: bool = False) -> str:
    """Return a whole HTML document around ``body`` (already HTML); nothing is loaded from anywhere.

    ``script`` runs at its end, ``style`` is added to the style sheet. ``demo``: the numbers are a demo's.
    """
    ending = f"<script>{script}</script>\n" if script else ""
    start = "<body data-demo>" if demo else "<body>"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{CSS}{style}</style>\n</head>\n{start}\n<main>\n{body}\n</main>\n{ending}</body>\n</html>\n"
    )
