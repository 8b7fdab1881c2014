"""Management's discussion: sentences that explain the movements which the books show, in the right direction."""

from tools.demo.company import Company
from tools.demo.ledger import Books
from tools.demo.slots import money, percent
from tools.demo.text import Paragraph, rows


def sales(company: Company, now: Books, prior: Books, period: str, before: str) -> list[Paragraph]:
    """How revenue moved, first in total and then by segment, with the reason that fits the direction.

    Returns:
        Marked paragraphs: ``sales_total``, and ``sales_by_segment``.
    """
    change = now["revenue"] - prior["revenue"]
    word = company.wording["sales_word"]
    total = (
        f"{word.capitalize()} of {period} {_moved(change)} by {money(company, abs(change))}, or "
        f"{percent(abs(change), prior['revenue'])} percent, to {money(company, now['revenue'])}. "
        f"Volumes explain {'most' if abs(change) > 0.03 * prior['revenue'] else 'about half'} of the change and "
        f"prices and exchange rates the rest."
    )
    sentences = [
        f"{name} {_moved(growth)} {abs(100 * growth):.1f} percent to "
        f"{money(company, now[f'revenue:{name}'])}; the main cause was {cause}."
        for name, growth, cause in segment_causes(company, now, prior)
    ]
    return [
        Paragraph(total, "sales_total"),
        Paragraph(f"Compared with {before}, " + " ".join(sentences), "sales_by_segment"),
    ]


def segment_causes(company: Company, now: Books, prior: Books) -> list[tuple[str, float, str]]:
    """Each segment's growth as a fraction, and the cause that fits its direction."""
    found = []
    for name, up, down in rows(company.key.lower(), "reasons"):
        growth = now[f"revenue:{name}"] / prior[f"revenue:{name}"] - 1
        found.append((name, growth, up if growth > 0 else down))
    return found


def margins(company: Company, now: Books, prior: Books) -> list[Paragraph]:
    """Gross margin, selling expenses and operating margin; marks ``gross_margin`` and ``operating_margin``."""
    causes = dict(rows(company.key.lower(), "margin"))

    def share(books: Books, line: str) -> float:
        return books[line] / books["revenue"]

    gross = share(now, "gross_profit") - share(prior, "gross_profit")
    selling = share(now, "selling") - share(prior, "selling")
    operating = share(now, "operating_income") - share(prior, "operating_income")
    first = (
        f"Gross profit was {100 * share(now, 'gross_profit'):.1f} percent of {company.wording['sales_word']}, after "
        f"{100 * share(prior, 'gross_profit'):.1f} percent. The {'gain' if gross > 0 else 'loss'} comes from "
        f"{causes['gross_up' if gross > 0 else 'gross_down']}."
    )
    second = (
        f"Selling, general and administrative expenses took {100 * share(now, 'selling'):.1f} percent, after "
        f"{100 * share(prior, 'selling'):.1f} percent, because of "
        f"{causes['selling_up' if selling > 0 else 'selling_down']}. "
    )
    if now["restructuring"] or prior["restructuring"]:
        second += (
            f"Restructuring cost {money(company, now['restructuring'])}, after "
            f"{money(company, prior['restructuring'])}. "
        )
    second += (
        f"As a result operating income {_moved(now['operating_income'] - prior['operating_income'])} to "
        f"{money(company, now['operating_income'])}, and what remains of each dollar sold before interest and taxes "
        f"went {'up' if operating > 0 else 'down'} by {abs(1e4 * operating):.0f} basis points to "
        f"{100 * share(now, 'operating_income'):.1f} percent."
    )
    return [Paragraph(first, "gross_margin"), Paragraph(second, "operating_margin")]


def below_the_line(company: Company, now: Books, prior: Books) -> list[Paragraph]:
    """Interest, taxes and net income."""
    return [
        Paragraph(
            f"Interest expense was {money(company, now['interest'])}, after {money(company, prior['interest'])}. The "
            f"effective tax rate was {percent(now['income_tax'], now['pretax'])} percent, after "
            f"{percent(prior['income_tax'], prior['pretax'])} percent; the note on income taxes explains the change. "
            f"Net income {_moved(now['net_income'] - prior['net_income'])} to {money(company, now['net_income'])}, or "
            f"${now['eps_diluted']:.2f} per diluted share, after ${prior['eps_diluted']:.2f}.",
            "net_income_text",
        )
    ]


def _moved(change: float) -> str:
    return "increased" if change > 0 else "decreased"
