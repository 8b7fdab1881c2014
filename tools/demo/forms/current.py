"""A current report on Form 8-K: an agreement to buy a business, and a change of officers."""

from tools.demo.company import Company
from tools.demo.forms.covers import INVENTED, commission_cover, securities, signatures
from tools.demo.forms.draft import Draft
from tools.demo.notes import Ledger
from tools.demo.pdf import Sheets
from tools.demo.slots import money, slots
from tools.demo.typeset import BOLD

_BOXES = (
    "Check the appropriate box below if the filing is intended to simultaneously satisfy the filing obligation of the "
    "registrant: [ ] Written communications pursuant to Rule 425  [ ] Soliciting material pursuant to Rule 14a-12  "
    "[ ] Pre-commencement communications pursuant to Rule 14d-2(b)  [ ] Pre-commencement communications pursuant to "
    "Rule 13e-4(c)"
)


def break_fee(company: Company, ledger: Ledger, year: int) -> str:
    """What the buyer owes if clearance is denied: four percent of the price."""
    return money(company, 0.04 * ledger[year, 4]["acquisition"])


def current_report(company: Company, ledger: Ledger, year: int) -> Sheets:
    """Draw the report; its main news stands on the cover, page 0, as some registrants put it."""
    filled = slots(company, ledger, year) | {"break_fee": break_fee(company, ledger, year)}
    draft = Draft(company, year, filled, "interim", f"{company.name} 8-K {year}")
    sheets = draft.sheets
    when = "Date of report (date of earliest event reported): March 11, 2022"
    commission_cover(sheets, company, "8-K", when)
    securities(sheets, company, (year - 1, 4))
    sheets.paragraph(_BOXES)
    sheets.paragraph(INVENTED)
    draft.text("veyloria_8k_cover")
    sheets.new_page()
    draft.text("veyloria_8k")
    sheets.new_page()
    draft.text("forward_looking")
    signatures(sheets, company, "March 14, 2022", company.wording["chief"], filled["outgoing"])
    sheets.new_page()
    sheets.centered("Exhibit 99.1", BOLD)
    draft.text("veyloria_8k_release")
    return sheets
