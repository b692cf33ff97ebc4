"""One HTML page with the tables and pictures inside: no script, no font, nothing fetched from elsewhere."""

import re
from html import escape

from . import plots
from .tables import BAR, COPYING, LEFT_OUT, LIMITED, NO_PROXY, SPLICING

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #566075; --faint: #a3abba; --paper: #fff; --rule: #e1e5ec;
  --head: #f4f6f9; --best: #e6f2e8; --mark: #96610a; --star: #17702f; --link: #24509c; --grid: #e9ecf1;
  --ours: #d1571a; --copying: #6484b4; --splicing: #4f9a8b; --direct: #b3bac6;
  --line-0: #3f6fb5; --line-1: #2f8f7f; --line-2: #8a63b0; --line-3: #a8852c; --line-4: #b34d6d; --line-5: #5d7f35;
  --line-6: #6b7280; --line-7: #2b8aa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ef; --soft: #a2abbd; --faint: #6f788a; --paper: #14171d;
  --rule: #2a303b; --head: #1c212a; --best: #1c3526; --mark: #e0a94e; --star: #6fd08c; --link: #8db4f5; --grid: #262c36;
  --ours: #f07a3c; --copying: #6f93c9; --splicing: #55ab9a; --direct: #697182;
  --line-0: #6ea3f0; --line-1: #4fc2ae; --line-2: #bb93e6; --line-3: #d9b65a; --line-4: #e67f9f; --line-5: #98bf6a;
  --line-6: #9aa3b2; --line-7: #5cc0de; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 78rem; padding: 1.6rem clamp(.9rem, 3vw, 2.2rem) 4rem; }
h1 { font-size: 1.75rem; margin: 0 0 .8rem; } a { color: var(--link); }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; } h4 { font-size: .95rem; margin: 1.7rem 0 .5rem; }
h3 { font-size: 1.15rem; margin: 2.6rem 0 .4rem; padding-top: .9rem; border-top: 2px solid var(--rule); }
.legend, .facts { color: var(--soft); max-width: 62rem; } .facts { padding-left: 1.1rem; font-size: .9rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 1rem 0; font-size: .92rem; }
.keys { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--soft); font-size: .88rem; margin: .8rem 0; }
.keys i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem;
  vertical-align: -.08rem; background: var(--direct); }
.keys i.ours { background: var(--ours); } .keys i.copying { background: var(--copying); }
.keys i.splicing { background: var(--splicing); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0 1rem; font-size: .86rem; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; background: var(--head); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
th:first-child { background: var(--head); } td.words { text-align: left; }
td.best { font-weight: 700; background: var(--best); }
td.bar, th.bar { color: var(--faint); padding: 0 .15rem; } td.missing { color: var(--faint); }
.mark { color: var(--mark); } .star { color: var(--star); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: 1.1rem 2rem;
  margin: .4rem 0 1.1rem; align-items: start; }
.panel { width: 100%; max-width: 27rem; height: auto; font: 11px system-ui, sans-serif; overflow: visible; }
.panel text { fill: var(--ink); font-variant-numeric: tabular-nums; } .panel .title { font-weight: 600; font-size: 12px; }
.panel .unit, .panel .tick { fill: var(--soft); font-size: 10px; } .panel .unit, .panel .label { text-anchor: end; }
.panel .tick { text-anchor: middle; } .panel .value { fill: var(--soft); } .panel .strong { font-weight: 700; }
.panel .ours { fill: var(--ours); } .panel .copying { fill: var(--copying); } .panel .splicing { fill: var(--splicing); }
.panel .direct { fill: var(--direct); } .panel .axis { stroke: var(--faint); } .panel .grid { stroke: var(--grid); }
.panel .spread { stroke: var(--ink); stroke-width: 1.4; } .panel .reach { stroke-width: 2; fill: none; }
.panel .ours.reach { stroke: var(--ours); } .panel .copying.reach { stroke: var(--copying); }
.panel .splicing.reach { stroke: var(--splicing); } .panel .direct.reach { stroke: var(--direct); }
""" + "".join(f".panel .line{i} {{ fill: var(--line-{i}); }} .panel .line{i}.reach {{ stroke: var(--line-{i}); "
              f"fill: none; }}\n" for i in range(plots.LINE_COLOURS)) + """
@media print { body { max-width: none; } .panel { break-inside: avoid; } }
"""
GROUPS = {NO_PROXY: ("direct", "no proxy"), COPYING: ("copying", "copies"), SPLICING: ("splicing", "splices")}


def page(title, legend, parts):
    """parts: [report.Part]"""
    body = [f"<h1>{escape(title)}</h1>", f'<p class="legend">{_inline(legend)}</p>']
    links = []
    for number, part in enumerate(parts):
        if len(parts) > 1:
            body.append(f'<h2 id="s{number}">{escape(part.session.label)}</h2>')
            links.append((f"s{number}", part.session.label))
        body.append(_list(part.provenance))
        if part.lost:
            body += ["<h3>Where a peer is first</h3>", f'<p class="legend">{_inline(part.lost.summary)}</p>',
                     *_tables([part.lost.table], part)]
        for heading, tables in part.sections:
            place = f"s{number}-{re.sub('[^a-z0-9]+', '-', heading.lower())}"
            links.append((place, heading))
            body += [f'<h3 id="{place}">{escape(heading)}</h3>', _keys(part.columns, any(t.kind == "throughput" for t in tables)),
                     *_tables(tables, part)]
        if part.notes:
            body += ["<h3>Runs with a remark</h3>", _list(part.notes)]
    body.insert(2, "<nav>" + "".join(f'<a href="#{place}">{escape(word)}</a>' for place, word in links) + "</nav>")
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n" + "\n".join(filter(None, body))
            + "\n</body></html>\n")


def _tables(tables, part):
    for table in tables:
        yield f"<h4>{escape(table.title)}</h4>" if table.title else ""
        drawn = plots.panels(table, part.runs)
        yield f'<div class="panels">{"".join(drawn)}</div>' if drawn else ""
        yield _table(table)


def _keys(columns, bars):
    """Which colour is which group; headrace has its own."""
    chips = []
    if any(plots.colour_class(c) == "ours" for c in columns):
        chips.append("<span><i class=\"ours\"></i>headrace</span>")
    for group, (kind, word) in GROUPS.items():
        if any(c.group == group and plots.colour_class(c) == kind for c in columns):
            chips.append(f'<span><i class="{kind}"></i>{word}</span>')
    if bars:
        chips.append("<span>bar: median; line over it: worst run to best</span>")
    return f'<div class="keys">{"".join(chips)}</div>'


def _inline(text):
    """The little Markdown of our own sentences: bold, code, and a star that is meant as one."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text.replace("\\*", "\0")))
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", text).replace("\0", "*")


def _list(lines):
    if not lines:
        return ""
    return '<ul class="facts">' + "".join(f"<li>{_inline(line.removeprefix('* '))}</li>" for line in lines) + "</ul>"


def _table(table):
    slots = table.slots
    head = "".join(f'<th class="bar">{BAR}</th>' if s is None else f"<th>{escape(s.label)}</th>" for s in slots)
    rows = []
    for label, cells in table.rows:
        rest = iter(cells)
        inside = "".join(f'<td class="bar">{BAR}</td>' if s is None else _cell(next(rest)) for s in slots)
        rows.append(f"<tr><td>{escape(label)}</td>{inside}</tr>")
    return f'<div class="wide"><table><tr><th>{escape(table.corner)}</th>{head}</tr>{"".join(rows)}</table></div>'


def _cell(cell):
    kind = "best" if cell.bold else "missing" if cell.text.startswith("–") else ""
    marks = (f' <span class="mark" title="client or origin set the pace">{LIMITED}</span>' if cell.limited else "") \
        + (' <span class="star" title="best of the row">*</span>' if cell.star else "") \
        + (f' <span class="mark" title="runs were left out">{LEFT_OUT}</span>' if cell.left_out else "")
    return f'<td class="{kind}">{escape(cell.text)}{marks}</td>'
