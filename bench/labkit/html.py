"""One HTML page with the tables and pictures inside: no script, no font, nothing fetched from elsewhere."""

from html import escape

from .tables import BAR, LEFT_OUT, LIMITED

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2330; background: #fff; margin: 0 auto; max-width: 76rem;
       padding: 1.5rem 2rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .8rem; } h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; } h4 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
.legend, .facts { color: #4a5365; max-width: 60rem; } .facts { padding-left: 1.1rem; font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0 1rem; font-size: .88rem; }
th, td { padding: .22rem .65rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e3e6ec; }
th { font-weight: 600; background: #f5f6f9; border-bottom: 1px solid #c8cdd8; }
th:first-child, td:first-child { text-align: left; }
td.best { font-weight: 700; background: #eaf3ea; } td.bar, th.bar { color: #a9b0be; padding: 0 .2rem; }
td.missing { color: #a9b0be; } .mark { color: #8a5a00; } .star { color: #1a6b2f; }
img { max-width: 100%; height: auto; display: block; margin: .6rem 0 1.4rem; }
nav a { margin-right: 1rem; } a { color: #2a54a0; }
"""


def page(title, legend, parts, pictures):
    """parts: [(session, runs, sections)]; pictures: for each part {heading: [(alt text, data URI)]}"""
    from .report import notes, provenance_lines
    body = [f"<h1>{escape(title)}</h1>", f'<p class="legend">{_inline(legend)}</p>']
    for number, ((session, runs, sections), drawn) in enumerate(zip(parts, pictures)):
        body.append(f'<h2 id="s{number}">{escape(session.label)}</h2>')
        body.append(_list(provenance_lines(session)))
        shown = {heading for heading, _ in sections}
        for heading, tables in [*sections, *((h, []) for h in drawn if h not in shown)]:
            body.append(f"<h3>{escape(heading)}</h3>")
            body += [f'<img alt="{escape(alt)}" src="{uri}">' for alt, uri in drawn.get(heading, [])]
            body += [f"<h4>{escape(t.title)}</h4>{_table(t)}" for t in tables]
        told = notes(session, runs)
        if told:
            body += ["<h3>Runs with a remark</h3>", _list(told)]
    if len(parts) > 1:
        links = "".join(f'<a href="#s{i}">{escape(s.label)}</a>' for i, (s, _, _) in enumerate(parts))
        body.insert(1, f"<nav>{links}</nav>")
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n" + "\n".join(body)
            + "\n</body></html>\n")


def _inline(text):
    """The little Markdown of our own sentences: bold, and a star that is meant as one."""
    pieces = escape(text.replace("\\*", "\0")).split("**")
    out = "".join(f"<b>{p}</b>" if i % 2 else p for i, p in enumerate(pieces))
    return out.replace("\0", "*")


def _list(lines):
    if not lines:
        return ""
    return '<ul class="facts">' + "".join(f"<li>{escape(line.removeprefix('* '))}</li>" for line in lines) + "</ul>"


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
