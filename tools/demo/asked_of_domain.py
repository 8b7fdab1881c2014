"""Domain-relevant questions: what an analyst asks of any company, answered from the books and the text."""

from tools.demo.companies import COMPANIES
from tools.demo.discussion import segment_causes
from tools.demo.ledger import Books
from tools.demo.notes import Ledger
from tools.demo.questions import EXTRACTION, LOGICAL, NUMERICAL, Question
from tools.demo.slots import money
from tools.demo.text import rows

_BOTH = f"{NUMERICAL} OR {EXTRACTION.lower()}"


def questions(books: dict[str, Ledger]) -> list[Question]:
    """The questions in the order of their companies."""
    return [*_of_tarnbeck(books["TARNBECK"]), *_of_orvellow(books["ORVELLOW"]), *_of_veyloria(books["VEYLORIA"]),
            *_of_haddenmoor(books["HADDENMOOR"])]  # fmt: skip


def _ask(
    number: int, doc_name: str, question: str, answer: str, marks: str, reasoning: str, why: str = ""
) -> Question:
    return Question(
        "domain-relevant", doc_name, question, answer, tuple(marks.split()), why, reasoning, f"dg{number:02d}"
    )


def _of_tarnbeck(ledger: Ledger) -> list[Question]:
    company = COMPANIES["TARNBECK"]
    old, now, prior = ledger[2020, 4], ledger[2022, 4], ledger[2021, 4]
    capex, fixed = prior["capex"] / prior["revenue"], prior["ppe"] / prior["total_assets"]
    rates = [100 * books["income_tax"] / books["pretax"] for books in (now, prior)]
    margins = [100 * books["gross_profit"] / books["revenue"] for books in (now, prior)]
    regions = ", ".join(name for name, _ in company.regions)
    return [
        _ask(
            13, "TARNBECK_2022_10K",
            "Does Tarnbeck have an improving gross margin profile as of FY2022? If gross margin is not a useful metric "
            "for a company like this, then state that and explain why.",
            f"{'Yes' if margins[0] > margins[1] else 'No'}. Gross margin went from {margins[1]:.1f}% in FY2021 to "
            f"{margins[0]:.1f}% in FY2022.",
            "income", _BOTH, f"Gross profit / Net sales\n{_over(now, 'gross_profit')}\n{_over(prior, 'gross_profit')}",
        ),
        _ask(
            6, "TARNBECK_2021_10K",
            "Is Tarnbeck Machinery a capital-intensive business based on FY2021 data?",
            f"No. CAPEX/Revenue Ratio: {100 * capex:.1f}%, Fixed assets/Total Assets: {100 * fixed:.0f}%, Return on "
            f"Assets: {100 * prior['net_income'] / prior['total_assets']:.1f}%.",
            "income assets cash_flow", LOGICAL, "CAPEX/Revenue\nFixed assets/Total assets\nNet income/Total assets",
        ),
        _ask(
            9, "TARNBECK_2020_10K",
            "Has Tarnbeck reported any materially important ongoing legal battles from FY2020?",
            "Yes. Brightmead Dairies claims $85 million over a spray dryer, there are asbestos claims over old pumps, "
            "and four former sites have to be cleaned.",
            "legal", EXTRACTION,
        ),
        _ask(
            16, "TARNBECK_2022_10K",
            "By how much did Tarnbeck's effective tax rate change between FY21 and FY22?",
            f"It {'rose' if rates[0] > rates[1] else 'fell'} by {abs(round(rates[0], 1) - round(rates[1], 1)):.1f} "
            f"percentage points, from {rates[1]:.1f}% to {rates[0]:.1f}%.",
            "tax", NUMERICAL,
        ),
        _ask(
            8, "TARNBECK_2020_10K",
            "What are the geographies that Tarnbeck Machinery primarily operates in as of FY2020?",
            f"{regions}. Of net sales of {money(company, old['revenue'])}, the United States had "
            f"{100 * company.regions[0][1]:.0f}%.",
            "regions", EXTRACTION,
        ),
    ]  # fmt: skip


def _of_orvellow(ledger: Ledger) -> list[Question]:
    company = COMPANIES["ORVELLOW"]
    now, prior = ledger[2022, 4], ledger[2021, 4]
    margins = [100 * books["operating_income"] / books["revenue"] for books in (now, prior)]
    causes = dict(rows("orvellow", "margin"))
    gross_fell = now["gross_profit"] / now["revenue"] < prior["gross_profit"] / prior["revenue"]
    return [
        _ask(
            17, "ORVELLOW_2022_10K",
            "What drove operating margin change as of FY2022 for Orvellow? If operating margin is not a useful metric "
            "for a company like this, then please state that and explain why.",
            f"Operating margin went from {margins[1]:.1f}% to {margins[0]:.1f}%, mainly because of "
            f"{causes['gross_down' if gross_fell else 'gross_up']}.",
            "gross_margin operating_margin", LOGICAL,
        ),
        _ask(
            21, "ORVELLOW_2021_10K",
            "What is the quantity of restructuring costs directly outlined in Orvellow's income statements for FY2021? "
            "If restructuring costs are not explicitly outlined then state 0.",
            f"{money(company, prior['restructuring'])}", "income", EXTRACTION,
        ),
        _ask(
            10, "ORVELLOW_2022_10K",
            "What are major acquisitions that Orvellow Foods has done in FY2022 and FY2021?",
            f"Bramble & Rye, a maker of crispbread and crackers, for {money(company, now['acquisition'])} in December "
            "2021. There was none in FY2021.",
            "acquisition", EXTRACTION,
        ),
    ]  # fmt: skip


def _of_veyloria(ledger: Ledger) -> list[Question]:
    company = COMPANIES["VEYLORIA"]
    now, prior = ledger[2022, 4], ledger[2021, 4]
    flows = {name: prior[f"{name}_cash"] for name in ("operating", "investing", "financing")}
    best = max(flows, key=flows.get)
    causes = "; ".join(
        f"{name} {100 * growth:+.1f}% ({cause})"
        for name, growth, cause in segment_causes(company, now, prior)
    )
    return [
        _ask(
            15, "VEYLORIA_2022_10K", "What drove revenue change as of the FY22 for Veyloria?", f"{causes}.",
            "sales_total sales_by_segment", EXTRACTION,
        ),
        _ask(
            19, "VEYLORIA_2021_10K",
            "Among operations, investing, and financing activities, which brought in the most (or lost the least) cash "
            "flow for Veyloria in FY21?",
            f"{best.capitalize()} activities, with {money(company, flows[best])}.", "cash_flow", NUMERICAL,
        ),
        _ask(
            12, "VEYLORIA_2021_10K", "What industry does Veyloria primarily operate in?",
            "Photonics: lasers, optical sensors and optical components for telecommunications.", "business",
            f"{EXTRACTION} OR Logical reasoning",
        ),
    ]  # fmt: skip


def _of_haddenmoor(ledger: Ledger) -> list[Question]:
    now = ledger[2022, 2]
    ratio = (now["current_assets"] - now["inventories"]) / now["current_liabilities"]
    company = COMPANIES["HADDENMOOR"]
    series = [note for note in company.economics.notes if note.is_outstanding((2021, 2))]
    listed = ", ".join(
        f"{n.coupon:.3f}% Notes due {n.matures} ({company.ticker}{n.matures % 100})" for n in series
    )
    return [
        _ask(
            1, "HADDENMOOR_2022Q2_10Q",
            "Does Haddenmoor have a reasonably healthy liquidity profile based on its quick ratio for Q2 of FY2022? If "
            "the quick ratio is not relevant to measure liquidity, please state that and explain why.",
            f"{'Yes' if ratio >= 1 else 'No'}. The quick ratio was {ratio:.2f}.",
            "assets liabilities", LOGICAL, "(Total current assets - inventories) / total current liabilities",
        ),
        _ask(
            4, "HADDENMOOR_2021Q2_10Q",
            "Which debt securities are registered to trade on a national securities exchange under Haddenmoor's name "
            "as of Q2 of 2021?",
            f"{listed}, all on the {company.wording['exchange']}.", "securities", EXTRACTION,
        ),
    ]  # fmt: skip


def _over(books: Books, line: str) -> str:
    return f"{books[line]:.0f}/{books['revenue']:.0f}"
