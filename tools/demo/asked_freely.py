"""Novel-generated questions: asked by a reader of one filing, often in words that the filing does not use."""

from tools.demo.companies import COMPANIES
from tools.demo.forms.current import break_fee
from tools.demo.notes import Ledger, remaining_buyback
from tools.demo.obligations import debt_by_year
from tools.demo.questions import Question
from tools.demo.reconciliations import adjusted_ebitda, growth_by_cause
from tools.demo.slots import invented_amount, money


def questions(books: dict[str, Ledger]) -> list[Question]:
    """The questions in the order of their companies."""
    return [*_of_tarnbeck(books["TARNBECK"]), *_of_orvellow(books["ORVELLOW"]), *_of_veyloria(books["VEYLORIA"]),
            *_of_haddenmoor(books["HADDENMOOR"])]  # fmt: skip


def _ask(doc_name: str, question: str, answer: str, mark: str, why: str = "") -> Question:
    return Question("novel-generated", doc_name, question, answer, (mark,), why)


def _of_tarnbeck(ledger: Ledger) -> list[Question]:
    company = COMPANIES["TARNBECK"]
    backlog, before = (invented_amount(company, ledger, "backlog", year) for year in (2020, 2019))
    return [
        _ask(
            "TARNBECK_2020_10K",
            "Was Tarnbeck's order book filling up or running down in the year the pandemic struck?",
            f"It was {'filling up' if backlog > before else 'running down'}: {money(company, before)} a year earlier, "
            f"{money(company, backlog)} at the end of FY2020.",
            "backlog", "Accepted orders that are not yet delivered",
        ),
        _ask(
            "TARNBECK_2021_10K",
            "Did labor unrest stop work at any of Tarnbeck's factories?",
            "Yes, a walk-out of nine days at Dornau before the agreement was renewed in October 2021.",
            "union",
        ),
        _ask(
            "TARNBECK_2022_10K",
            "How much room is left for Tarnbeck to go on buying back its own stock at the close of FY22?",
            f"{money(company, remaining_buyback(company, ledger, (2022, 4)))} of the $750 million authorized in "
            "February 2022.",
            "buyback_program",
        ),
    ]  # fmt: skip


def _of_orvellow(ledger: Ledger) -> list[Question]:
    company = COMPANIES["ORVELLOW"]
    now, prior = ledger[2022, 4], ledger[2021, 4]
    organic = {name: growth[-1] for name, growth in growth_by_cause(company, now, prior).items()}
    laggard = min(organic, key=organic.get)
    due = sum(amount for _, amount in debt_by_year(company, 2022)[:3])
    return [
        _ask(
            "ORVELLOW_2021_10K", "Has an accident put any Orvellow factory out of action?",
            "Yes, a fire in February 2021 destroyed one of two potato lines in Kessing, Idaho.", "incident",
        ),
        _ask(
            "ORVELLOW_2022Q4_EARNINGS", "What Was Orvellow's Adjusted Non GAAP EBITDA for FY 2022",
            f"Orvellow's Adj. EBITDA was {money(company, adjusted_ebitda(company, now, 2022))} in FY 2022.", "ebitda",
        ),
        _ask(
            "ORVELLOW_2022Q4_EARNINGS",
            "If we exclude the impact of M&A and FX movement, which segment has dragged down Orvellow's overall growth "
            "in FY2022?",
            f"{laggard}, which changed by {organic[laggard]:+.1f}% organically.", "organic",
        ),
        _ask(
            "ORVELLOW_2022_10K",
            "How much of its borrowings must Orvellow pay back or refinance over the three years that follow FY2022?",
            money(company, due), "debt_due",
        ),
    ]  # fmt: skip


def _of_veyloria(ledger: Ledger) -> list[Question]:
    company = COMPANIES["VEYLORIA"]
    report, price = "VEYLORIA_2022_8K_dated-2022-03-14", ledger[2022, 4]["acquisition"]
    share = company.printed("customer_share", 2021)
    return [
        _ask(
            "VEYLORIA_2021_10K", "Is Veyloria overly reliant on a single buyer in FY21?",
            f"Yes, one maker of consumer electronics accounted for {share} percent of net revenue.", "customers",
        ),
        _ask(
            report, "What was the key agenda of the Veyloria's 8k filing dated 14th March 2022?",
            f"An agreement to buy Corrandale Optics of Scotland for {money(company, price)} in cash.", "agreement",
        ),
        _ask(
            report, "What will it cost Veyloria if regulators stop the takeover of the Scottish firm?",
            f"A break fee of {break_fee(company, ledger, 2022)}, owed to the sellers.", "termination",
        ),
        _ask(
            report, "Who takes over Veyloria's finances when the incumbent steps down?",
            f"{company.wording['finance']}, treasurer since 2018, on May 1, 2022.", "officers",
        ),
    ]  # fmt: skip


def _of_haddenmoor(ledger: Ledger) -> list[Question]:
    company = COMPANIES["HADDENMOOR"]
    now, prior = ledger[2021, 2], ledger[2020, 2]
    growth = {
        s.name: now[f"revenue:{s.name}"] / prior[f"revenue:{s.name}"] - 1 for s in company.economics.segments
    }
    best = max(growth, key=growth.get)
    stores, before = company.figure("stores", 2022), company.figure("stores", 2021)
    return [
        _ask(
            "HADDENMOOR_2022Q2_EARNINGS",
            "Did Haddenmoor stick to the forecast that it had given investors for FY2022?",
            "No, it lowered the forecast both of net sales and of earnings per share.", "outlook",
        ),
        _ask(
            "HADDENMOOR_2022Q2_10Q",
            "Was there any change in the number of Haddenmoor stores between Q2 of FY2022 and Q2 of FY2021?",
            f"Yes, from {before:.0f} to {stores:.0f}, a change of {100 * (stores / before - 1):+.1f}%.", "stores",
            f"{stores:.0f}/{before:.0f}-1",
        ),
        _ask(
            "HADDENMOOR_2021Q2_10Q",
            "Which Haddenmoor product category performed the best (by top line) during Q2 of FY2021?",
            f"{best}, which grew by {100 * growth[best]:.1f}%.", "segments",
        ),
    ]  # fmt: skip
