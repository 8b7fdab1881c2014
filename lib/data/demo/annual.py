"""An annual report on Form 10-K, from its cover to its signatures."""

from lib.data.demo import discussion, notes, statements
from lib.data.demo.company import Company
from lib.data.demo.covers import boilerplate, commission_cover, securities, signatures
from lib.data.demo.ledger import Books
from lib.data.demo.notes import Ledger
from lib.data.demo.pdf import ITALIC, Row, Sheets
from lib.data.demo.slots import last_months, slots
from lib.data.demo.text import Paragraph, paragraphs, rows


class AnnualReport:
    """Draws one company's report for one fiscal year; each method is one part of the form."""

    def __init__(self, company: Company, ledger: Ledger, year: int):
        self.company, self.ledger, self.year = company, ledger, year
        self.slots = slots(company, ledger, year)
        self.sheets = Sheets(f"{company.name} 10-K {year}", "Table of Contents")
        self.unit = f"(in {company.economics.unit}, except per share amounts)"
        self.years = [year, year - 1, year - 2]

    def draw(self) -> Sheets:
        self._cover()
        self.sheets.contents_page()
        self._business()
        self._risks()
        self._properties()
        self._market()
        self._discussion()
        if self.year % 2:  # some years the printer leaves a page between the two parts
            self.sheets.blank_page()
        self._audit()
        self._statements()
        self._notes()
        self._end()
        return self.sheets

    def _books(self, years: list[int]) -> list[Books]:
        return [self.ledger[year, 4] for year in years]

    def _text(self, section: str, name: str = "annual") -> None:
        self._write(paragraphs(name, section, self.year, self.slots))

    def _own_text(self, section: str) -> None:
        self._text(section, self.company.key.lower())

    def _repeat(self, section: str) -> None:
        """The company's own words once more, on a page that no question points at."""
        for item in paragraphs(self.company.key.lower(), section, self.year, self.slots):
            self.sheets.paragraph(item.text)

    def _write(self, found: list[Paragraph]) -> None:
        for item in found:
            if item.is_heading:
                self.sheets.heading(item.text)
            else:
                self.sheets.paragraph(item.text, item.mark)

    def _cover(self) -> None:
        end = self.company.end_of((self.year, 4))
        commission_cover(self.sheets, self.company, "10-K", f"For the fiscal year ended {end}")
        securities(self.sheets, self.company, (self.year, 4))
        boilerplate(self.sheets, self.company, self.ledger[self.year, 4], self.year)

    def _business(self) -> None:
        self.sheets.section("Item 1. Business")
        self._own_text("business")

    def _risks(self) -> None:
        self.sheets.section("Item 1A. Risk Factors")
        # The order changes with the year, as lawyers change it: the same words stand on other pages.
        parts = ["risk_a", "risk_b"] if self.year % 2 else ["risk_b", "risk_a"]
        for part in ("risk_intro", *parts):
            self._text(part)

    def _properties(self) -> None:
        self.sheets.section("Item 2. Properties")
        self._text("properties")
        body = [Row(name, (tenure, area)) for name, _, tenure, area in rows(self.company.key.lower(), "properties")]
        self.sheets.table(("Tenure", "Area"), body, caption="(thousand square feet)", mark="properties")
        for name, places, *_ in rows(self.company.key.lower(), "properties"):
            self.sheets.paragraph(f"{name}: {places}.")
        self.sheets.section("Item 3. Legal Proceedings", new_page=False)
        self._own_text("legal")
        self.sheets.section("Item 4. Mine Safety Disclosures", new_page=False)
        self.sheets.paragraph("Not applicable.")

    def _market(self) -> None:
        self.sheets.section("Item 5. Market for Common Equity and Issuer Purchases of Equity Securities")
        self._text("market_equity")
        months = last_months(self.company, (self.year, 4))
        self.sheets.table(
            ("Shares bought", "Average price", "Left ($ million)"),
            notes.quarter_purchases(self.company, self.ledger, self.year, months),
            mark="purchases", column_width=92,
        )  # fmt: skip
        self.sheets.section("Item 6. Selected Financial Data", new_page=False)
        five = list(range(self.year, self.year - 5, -1))
        self.sheets.table(
            [str(y) for y in five], notes.selected_data(self.company, self._books(five)),
            mark="selected_data", caption=self.unit, column_width=64,
        )  # fmt: skip

    def _discussion(self) -> None:
        company, (now, prior) = self.company, self._books(self.years[:2])
        self.sheets.section("Item 7. Management's Discussion and Analysis")
        self._text("overview")
        brief = "+revenue cost_of_sales =gross_profit selling research restructuring =operating_income +net_income"
        results = statements.lines(company, brief, [now, prior])
        self._table(results, self.years[:2], "results_table", heading="Results of operations")
        self._write(discussion.sales(company, now, prior, f"fiscal {self.year}", f"fiscal {self.year - 1}"))
        self._write(discussion.margins(company, now, prior))
        self._write(discussion.below_the_line(company, now, prior))
        self._own_text("events")
        self.sheets.heading("Liquidity and capital resources")
        self._text("liquidity")
        brief = "operating_cash investing_cash financing_cash"
        self._table(statements.lines(company, brief, self._books(self.years)), self.years, "cash_summary")
        heads, body = notes.obligations(company, self.ledger, self.year)
        self.sheets.table(
            heads, body, mark="obligations", caption=f"(in {company.economics.unit})", column_width=68,
            heading="Contractual obligations",
        )  # fmt: skip
        self.sheets.heading("Critical accounting estimates")
        self._text("critical")
        self.sheets.section("Item 7A. Quantitative and Qualitative Disclosures About Market Risk", new_page=False)
        self._text("market_risk")

    def _audit(self) -> None:
        self.sheets.section("Report of Independent Registered Public Accounting Firm")
        self._text("audit")

    def _statements(self) -> None:
        company, name = self.company, self.company.name.upper()
        three, two = self._books(self.years), self._books(self.years[:2])
        ended = f"Years ended {company.end_of((self.year, 4)).split(',')[0]}"
        self.sheets.section("Item 8. Financial Statements: Consolidated Statements of Income")
        title = (name, "CONSOLIDATED STATEMENTS OF INCOME", ended)
        self._table(statements.income_statement(company, three), self.years, "income", title)
        self._closing_line()
        title = (name, "CONSOLIDATED STATEMENTS OF COMPREHENSIVE INCOME", ended)
        self._table(statements.comprehensive_income(three), self.years, "comprehensive_income", title)
        self.sheets.section("Consolidated Balance Sheets")
        heads = [company.end_of((year, 4)) for year in self.years[:2]]
        title = (name, "CONSOLIDATED BALANCE SHEETS")
        self._table(statements.assets(company, two), heads, "assets", title, 100)
        # In one company's reports the balance sheet goes on over the page.
        if company.key == "ORVELLOW":
            self._text("balance_sheet_foot")
            self.sheets.new_page()
            title = (name, "CONSOLIDATED BALANCE SHEETS (CONTINUED)")
        else:
            title = ()
        self._table(statements.liabilities_and_equity(company, two), heads, "liabilities", title, 100)
        self._closing_line()
        self._text("equity_foot")
        self.sheets.section("Consolidated Statements of Cash Flows")
        title = (name, "CONSOLIDATED STATEMENTS OF CASH FLOWS", ended)
        self._table(statements.cash_flow_statement(company, three), self.years, "cash_flow", title)
        self._closing_line()
        self._text("cash_flow_foot")
        self.sheets.section("Consolidated Statements of Shareholders' Equity")
        movements = statements.equity_movements([(year, self.ledger[year, 4]) for year in reversed(self.years)])
        heads = ["Capital", "Retained", "Treasury", "Other loss", "Total"]
        title = (name, "CONSOLIDATED STATEMENTS OF SHAREHOLDERS' EQUITY", ended)
        self._table(movements, heads, "equity_movements", title, 66)
        self._closing_line()

    def _table(
        self,
        body: list[Row],
        heads: list,
        mark: str,
        title: tuple[str, ...] = (),
        wide: float = 78,
        heading: str = "",
    ) -> None:
        self.sheets.table(list(map(str, heads)), body, mark, self.unit, title, wide, heading)

    def _closing_line(self) -> None:
        self.sheets.paragraph("The accompanying notes are an integral part of these statements.")

    def _notes(self) -> None:
        company, three, two = self.company, self._books(self.years), self._books(self.years[:2])
        plain = self.years[:2]
        self.sheets.section("Notes to Consolidated Financial Statements")
        self.sheets.heading("Note 1. Significant accounting policies")
        self._text("policies")
        self._text("new_standards")
        self._note("Note 2. Segments", statements.segment_results(company, three), self.years, "segments")
        self._note("Note 3. Sales by region", statements.regions(company, three), self.years, "regions")
        self._note("Note 4. Inventories", notes.inventories(company, two), plain, "inventory_note")
        self._note("Note 5. Property, plant and equipment", notes.property_plant(company, two), plain, "property_note")
        self._note("Note 6. Accrued liabilities", notes.accrued(company, two), plain, "accrued_note")
        self.sheets.heading("Note 7. Leases")
        self._text("leases")
        maturities = notes.lease_maturities(two[0], self.year)
        self._table(maturities, [self.slots["year_end"]], "lease_maturities", wide=110)
        debt = notes.notes_outstanding(company, self.ledger, [(year, 4) for year in plain])
        self._note("Note 8. Debt", debt, plain, "debt_table")
        self._text("debt")
        due = [Row(name, (statements.figure(value),)) for name, value in notes.debt_by_year(company, self.year)]
        self._table(due, ["Principal due"], "debt_due")
        self._note("Note 9. Income taxes", notes.tax_reconciliation(three), self.years, "tax")
        self._text("tax_text")
        if any(books["restructuring"] or books["restructuring_reserve"] for books in three):
            reserve = notes.restructuring_reserve(self.ledger, self.years)
            name = f"Note 10. Restructuring: the {company.wording['program']} program"
            self._note(name, reserve, self.years, "restructuring_note")
        self.sheets.heading("Note 11. Commitments and contingencies")
        self._text("contingencies")
        self._repeat("legal")
        self.sheets.heading("Note 12. Retirement and stock-based compensation")
        self._text("retirement")

    def _note(self, heading: str, body: list[Row], heads: list, mark: str) -> None:
        self._table(body, heads, mark, heading=heading)

    def _end(self) -> None:
        self.sheets.section("Items 9A to 14. Controls and Procedures; Directors; Compensation; Accountant")
        self._text("controls")
        self.sheets.section("Item 15. Exhibits", new_page=False)
        for number, text in rows("annual", "exhibits"):
            self.sheets.paragraph(f"{number}   {text}")
        if self.year % 2 == 0:
            self.sheets.new_page()
            self.sheets.centered("(This page has been left blank intentionally.)", ITALIC)
        chief, finance = self.company.wording["chief"], self.company.wording["finance"]
        signatures(self.sheets, self.company, f"the second month after {self.slots['year_end']}", chief, finance)
