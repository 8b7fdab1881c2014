"""The book's Sphinx extension: pages of moved chapters, a chapter's finding below its title, figures for phones, links
to the repository, and markup that axe-core accepts.

The theme's templates that the book changes are in ``book/_templates``.
"""

from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.nodes import NodeVisitor

from lib.book.repository import COMMIT, address, commit_url, path_url
from lib.show.drawn import NARROW

#: Chapters that other pages may still link to by their old names, and where these lead.
MOVED = {
    "08_siblings": "08_claims",
    "09_claims": "08_claims",
    "10_question_sets": "09_question_sets",
    "11_growth": "10_growth",
}


class Picture(nodes.General, nodes.Element):
    """An image with another layout, the address ``narrow``, for phones."""


def setup(app) -> dict:
    """Register what follows."""
    app.connect("html-collect-pages", moved_pages)
    app.connect("doctree-resolved", finding_first)
    app.connect("doctree-resolved", corrected)
    app.connect("doctree-resolved", linked)
    app.add_node(Picture, html=(begin_picture, end_picture))
    app.add_node(nodes.citation, override=True, html=(begin_citation, end_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def moved_pages(app) -> Iterator[tuple[str, dict, str]]:
    """A page that leads on, under each old name of a chapter that is in the book."""
    for old, new in MOVED.items():
        if f"notebooks/{new}" in app.env.all_docs:
            yield f"notebooks/{old}", {"target": f"{new}.html"}, "moved.html"


def finding_first(app, page: nodes.document, name: str) -> None:
    """A chapter's finding, the first bold paragraph that a cell prints, stands below the title."""
    title = next(page.findall(nodes.title), None)
    if title is None or not name.startswith("notebooks/"):
        return
    outputs = (one for one in page.findall(nodes.container) if "cell_output" in one["classes"])
    printed = (one for part in outputs for one in part.findall(nodes.paragraph))
    bold = (one for one in printed if isinstance(next((part for part in one if part.astext()), None), nodes.strong))
    if finding := next(bold, None):
        finding.parent.remove(finding)
        finding["classes"].append("finding")
        title.parent.insert(title.parent.index(title) + 1, finding)


def corrected(app, page: nodes.document, name: str) -> None:
    """On phones, figures that have one show their layout for phones; empty heads of pandas' tables are no heads."""
    narrow = {path.name for path in Path(app.srcdir, "figures", NARROW).glob("*.svg")}
    for image in [*page.findall(nodes.image)]:
        if (file := Path(image["uri"]).name) in narrow:
            picture = Picture(narrow=f"{'../' * name.count('/')}_images/{NARROW}/{file}")
            image.replace_self(picture)
            picture += image
    for raw in page.findall(nodes.raw):
        if "<th></th>" in raw.astext():
            raw.children = [nodes.Text(raw.astext().replace("<th></th>", "<td></td>"))]


def linked(app, page: nodes.document, name: str) -> None:
    """Paths of the project's files and commits lead to the repository, where it has an address."""
    for literal in [*page.findall(nodes.literal)]:
        if (url := path_url(literal.astext())) and not isinstance(literal.parent, nodes.reference | nodes.title):
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=url, internal=False))
    for text in [*page.findall(nodes.Text)] if address() else ():
        if isinstance(text.parent, nodes.paragraph) and COMMIT.search(text):
            pieces = COMMIT.split(text)  # each second one is a commit
            for place in range(1, len(pieces), 2):
                url = commit_url(pieces[place])
                pieces[place] = nodes.reference("", pieces[place], refuri=url, internal=False)
            text.parent.replace(text, [nodes.Text(one) if isinstance(one, str) else one for one in pieces])


def begin_picture(writer: NodeVisitor, node: Picture) -> None:
    """The layout for phones, before the image."""
    writer.body.append(f'<picture><source media="screen and (max-width: 700px)" srcset="{node["narrow"]}">')


def end_picture(writer: NodeVisitor, node: Picture) -> None:
    """As it begins."""
    writer.body.append("</picture>")


def begin_citation(writer: NodeVisitor, node: nodes.citation) -> None:
    """Without the roles that docutils gives it, of which the list holds other things than items."""
    writer.body.append(writer.starttag(node, "div", classes=["citation"]))


def end_citation(writer: NodeVisitor, node: nodes.citation) -> None:
    """As it begins."""
    writer.body.append("</div>\n")
