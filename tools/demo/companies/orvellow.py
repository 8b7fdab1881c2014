"""Orvellow Foods, Inc.: packaged food; fiscal years to June 30, in millions."""

from tools.demo.company import Company
from tools.demo.economics import Economics, Note, Segment

_DIVIDENDS = {2016: 0.74, 2017: 0.78, 2018: 0.82, 2019: 0.86, 2020: 0.88, 2021: 0.92, 2022: 0.92}

_ECONOMICS = Economics(
    segments=(
        Segment("Frozen Meals", 2054, 0.021, 0.118),
        Segment("Snacks", 1377, 0.043, 0.139),
        Segment("Foodservice", 1092, 0.030, 0.087),
    ),
    notes=(
        Note(3.60, 2013, 2022, 550),
        Note(3.95, 2015, 2025, 700),
        Note(4.25, 2017, 2027, 600),
        Note(2.45, 2020, 2030, 500),
        Note(4.70, 2022, 2032, 750),
    ),
    drivers={
        "gross_margin": (0.287, 0.007),
        "selling": (0.156, 0.004),
        "other_income": (-4, 7),
        "tax_rate": (0.224, 0.016),
        "deferred_tax": (0.05, 0.10),
        "stock_compensation": (0.006, 0.001),
        "options": (0.003, 0.001),
        "capex": (0.052, 0.006),
        "depreciation": (0.108, 0.004),
        "amortization": (0.061, 0.003),
        "disposals": (0.006, 0.004),
        "repurchases": (0.047, 0.011),
        "share_price": (47, 8),
        "fx": (-1, 17),
        "receivables": (0.086, 0.006),
        "inventories": (0.117, 0.009),
        "prepaid": (0.016, 0.002),
        "leases": (0.038, 0.002),
        "other_assets": (0.041, 0.004),
        "payables": (0.112, 0.008),
        "accrued": (0.091, 0.007),
        "other_liabilities": (0.057, 0.004),
    },
    events={
        ("growth:Foodservice", 2020): -0.117,
        ("growth:Frozen Meals", 2021): 0.089,
        ("growth:Foodservice", 2021): -0.064,
        ("growth:Frozen Meals", 2022): -0.013,
        ("growth:Snacks", 2022): 0.094,
        ("growth:Foodservice", 2022): 0.171,
        ("gross_margin", 2021): 0.291,
        ("gross_margin", 2022): 0.263,
        ("restructuring", 2021): 47,
        ("restructuring", 2022): 21,
        ("acquisition", 2018): 310,
        ("acquisition", 2022): 612,
    }
    | {("dividends_per_share", year): amount for year, amount in _DIVIDENDS.items()},
    opening={
        "cash": 143,
        "securities": 0,
        "ppe": 1463,
        "accumulated_depreciation": 1837,
        "goodwill": 1524,
        "intangibles": 968,
        "deferred_taxes": 341,
        "lease_gap": 9,
        "paid_in": 1042,
        "treasury": -627,
        "aoci": -241,
        "shares": 158.3,
    },
)

ORVELLOW = Company(
    key="ORVELLOW",
    name="Orvellow Foods, Inc.",
    short="Orvellow Foods",
    sector="Consumer Staples",
    ticker="ORVL",
    year_end=6,
    economics=_ECONOMICS,
    regions=(("United States", 0.72), ("Canada", 0.09), ("Europe", 0.19)),
    labels={
        "revenue": "Net sales",
        "cost_of_sales": "Cost of products sold",
        "receivables": "Accounts receivable, less allowances",
        "ppe": "Plant and equipment, net",
        "capex": "Additions to plant and equipment",
        "dividends": "Dividends paid to shareholders",
    },
    wording={
        "chief": "Marguerite Lindqvist-Orr",
        "finance": "Teodor Hallam",
        "city": "Tolliver",
        "state": "Illinois",
        "incorporated": "Delaware",
        "exchange": "New York Stock Exchange",
        "market": "grocery retailing and eating out",
        "inputs": "potatoes, wheat, vegetable oil, cartons and natural gas",
        "sales_word": "net sales",
        "program": "Larder",
        "auditor": "Dunmore Pryce LLP, Tolliver, Illinois",
        "auditor_since": "2007",
        "banks": "nineteen",
        "revolver": "$1,200 million",
        "revolver_month": "November",
        "dividend_policy": "We pay dividends in August, November, February and May. Dividends of fiscal {year} were "
        "${dividends_per_share} a share, after ${prior_dividends_per_share} a share in fiscal {prior}. The board of "
        "directors decides on each payment in light of results, of debt and of needs for capital.",
    },
    figures={
        "employees": (14_300, 700, ",.0f"),
        "new_products": (14, 4, ".0f"),
        "customer_share": (22.5, 2.4, ".1f"),
        "top_customers": (41, 3, ".0f"),
        "union_share": (43, 3, ".0f"),
        "holders": (18_300, 900, ",.0f"),
    },
    buybacks=((2020, 900),),
    chronicle={
        2021: {
            "union_event": "The contract at Millbrace, which covers 880 people, ends in March 2022.",
            "recall_text": "There was no recall of any of our products in fiscal 2021.",
            "legal_year": "In October 2020 eleven potato growers sued us and two other processors in the federal court "
            "in Idaho. They allege that we agreed with each other on the prices that we pay. We have asked the court "
            "to dismiss the complaint, cannot estimate a loss and have accrued nothing.",
            "restructuring_text": "In September 2020 the board of directors approved the Larder program: two "
            "distribution centers close and a layer of management goes. About 460 people leave. Its cost was "
            "{restructuring} in fiscal 2021, and we expect a further $20 million to $25 million in fiscal 2022.",
            "incident_text": "On February 9, 2021 a blaze in the dryer house destroyed one of two potato lines in "
            "Kessing, Idaho. Nobody was hurt. We wrote off equipment with a carrying amount of $13 million, and output "
            "of fries will be lower by a fifth until a new line starts in the spring of 2022. Property insurance "
            "covers the replacement above a deductible of $5 million.",
            "debt_events": "No notes were issued or repaid in fiscal 2021; the 3.60% notes fall due in June 2022.",
            "buyback_program": "In fiscal 2021 we spent {repurchases} on {repurchased_shares} million of our shares "
            "under the authorization of $900 million of August 2019; {remaining} may still be spent.",
        },
        2022: {
            "union_event": "A strike of 23 days at Millbrace, in which 880 people took part, ended in April 2022 with "
            "a contract for five years.",
            "recall_text": "In January 2022 we called back 210,000 cases of nut bars because milk was not declared on "
            "the wrapper; the cost was $7 million.",
            "legal_year": "Eleven potato growers sued us and two other processors in the federal court in Idaho in "
            "October 2020, over an alleged agreement on prices. In February 2022 the court let the claim go forward "
            "as a class action. One of the other defendants has settled. We have accrued $12 million, and a loss of "
            "up to $60 million beyond that is possible.",
            "restructuring_text": "The Larder program, approved in September 2020, closed two distribution centers. "
            "Its cost was {restructuring} in fiscal 2022, after {prior_restructuring} in fiscal 2021; it is complete.",
            "incident_text": "The potato line in Kessing, Idaho, that burned in February 2021 was replaced and started "
            "in May 2022. Insurance has paid $44 million, of which $11 million exceeded the carrying amount of what "
            "was lost and reduced cost of products sold.",
            "acquisition_text": "On December 3, 2021 we bought Bramble & Rye, a maker of crispbread and crackers in "
            "Tannersfield, Vermont, for {acquisition} in cash. Of the price, {acquired_goodwill} is goodwill and most "
            "of the rest is the brand. The business is part of Snacks.",
            "debt_events": "In November 2021 we issued $750 million of 4.70% notes due 2032, mostly to pay for "
            "Bramble & Rye. The $550 million of 3.60% notes was repaid in June 2022.",
            "buyback_program": "In fiscal 2022 we spent {repurchases} on {repurchased_shares} million of our shares "
            "under the authorization of $900 million of August 2019; {remaining} may still be spent.",
        },
    },
)
