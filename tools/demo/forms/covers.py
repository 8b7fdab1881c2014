"""First and last pages: the cover of a report to the commission, and its signatures."""

from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.ledger import Books
from tools.demo.pdf import Row, Sheets
from tools.demo.typeset import BOLD, ITALIC

INVENTED = "This is a demonstration document: the registrant, its business and its figures are invented."
_FORMS = {
    "10-K": "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    "10-Q": "QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    "8-K": "CURRENT REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
}


def commission_cover(sheets: Sheets, company: Company, form: str, when: str) -> None:
    """The head that every report has: form, date, name, address."""
    wording = company.wording
    for text, font, size in (
        ("UNITED STATES", BOLD, 11),
        ("SECURITIES AND EXCHANGE COMMISSION", BOLD, 12),
        ("Washington, D.C. 20549", "helv", 9.5),
        (f"FORM {form}", BOLD, 16),
        ("(Mark one)  [X]  " * (form != "8-K") + _FORMS[form], "helv", 9.5),
        (when, BOLD, 10),
        (company.name.upper(), BOLD, 17),
        ("(Exact name of registrant as specified in its charter)", ITALIC, 8),
        (f"{wording['incorporated']} (State of incorporation)     1-00{sum(map(ord, company.key))} "
         "(Commission file number)", "helv", 9),
        (f"{wording['city']}, {wording['state']} (Address of principal executive offices)", "helv", 9),
    ):  # fmt: skip
        sheets.centered(text, font, size)
        sheets.space(5)


def securities(sheets: Sheets, company: Company, period: Period) -> None:
    """What is registered under Section 12(b); marked ``securities``."""
    ticker, exchange = company.ticker, company.wording["exchange"]
    rows = [Row("Common stock, par value $0.01 per share", (ticker, exchange))]
    for note in company.economics.notes:
        if note.is_outstanding(period):
            series = f"{note.coupon:.3f}% Notes due {note.matures}"
            rows.append(Row(series, (f"{ticker}{note.matures % 100}", exchange)))
    sheets.paragraph("Securities registered pursuant to Section 12(b) of the Act:")
    sheets.table(
        ("Trading symbol", "Name of exchange"),
        rows,
        mark="securities",
        caption="Title of each class",
        column_width=150,
    )


def boilerplate(sheets: Sheets, books: Books) -> None:
    """The check marks, and how many shares there are."""
    value = books["shares"] * books.get("share_price", 0)
    for text in (
        "Indicate by check mark whether the registrant (1) has filed all reports required to be filed by Section 13 or "
        "15(d) of the Securities Exchange Act of 1934 during the preceding 12 months and (2) has been subject to such "
        "filing requirements for the past 90 days.  Yes [X]  No [ ]",
        "Indicate by check mark whether the registrant has submitted electronically every Interactive Data File "
        "required to be submitted during the preceding 12 months.  Yes [X]  No [ ]",
        "Indicate by check mark whether the registrant is a large accelerated filer, an accelerated filer, a "
        "non-accelerated filer, a smaller reporting company, or an emerging growth company.  Large accelerated filer "
        "[X]  Accelerated filer [ ]  Non-accelerated filer [ ]  Smaller reporting company [ ]",
        "Indicate by check mark whether the registrant is a shell company.  Yes [ ]  No [X]",
        f"The aggregate market value of the common stock held by non-affiliates was about ${value:,.0f} million. "
        f"At the end of the period {books['shares']:.1f} million shares were outstanding.",
        INVENTED,
    ):
        sheets.paragraph(text)


def signatures(sheets: Sheets, company: Company, when: str, chief: str, finance: str) -> None:
    sheets.section("Signatures", new_page=False)
    sheets.paragraph(
        "Pursuant to the requirements of the Securities Exchange Act of 1934, the registrant has duly caused this "
        "report to be signed on its behalf by the undersigned, thereunto duly authorized."
    )
    sheets.paragraph(f"{company.name.upper()}")
    sheets.paragraph(f"By: /s/ {chief}, Chief Executive Officer        Date: {when}")
    sheets.paragraph(f"By: /s/ {finance}, Chief Financial Officer        Date: {when}")
