"""Haddenmoor Stores, Inc.: a retailer; quarterly books, fiscal years to January 31, in millions."""

from tools.demo.company import Company
from tools.demo.economics import Economics, Note, Segment

_ECONOMICS = Economics(
    seasons=(0.215, 0.232, 0.223, 0.330),
    segments=(
        Segment("Home & Garden", 2948, 0.027, 0.071),
        Segment("Apparel", 2483, 0.012, 0.066),
        Segment("Online Marketplace", 1127, 0.093, 0.083),
    ),
    notes=(Note(4.00, 2014, 2022, 300), Note(3.75, 2016, 2026, 400), Note(3.10, 2020, 2030, 350)),
    drivers={
        "gross_margin": (0.341, 0.012),
        "selling": (0.262, 0.008),
        "other_income": (2, 3),
        "tax_rate": (0.244, 0.016),
        "deferred_tax": (0.03, 0.06),
        "stock_compensation": (0.007, 0.001),
        "options": (0.002, 0.001),
        "capex": (0.029, 0.006),
        "depreciation": (0.132, 0.008),
        "amortization": (0.08, 0.0),
        "disposals": (0.005, 0.004),
        "repurchases": (0.046, 0.012),
        "share_price": (54, 9),
        "fx": (0, 6),
        "receivables": (0.021, 0.003),
        "inventories": (0.152, 0.017),
        "prepaid": (0.017, 0.003),
        "leases": (0.213, 0.006),
        "other_assets": (0.024, 0.002),
        "payables": (0.109, 0.012),
        "accrued": (0.083, 0.006),
        "other_liabilities": (0.036, 0.002),
    },
    events={
        ("growth:Apparel", 2020): -0.142,
        ("growth:Apparel", 2021): 0.163,
        ("growth:Home & Garden", 2022): -0.067,
        ("growth:Apparel", 2022): 0.048,
        ("growth:Online Marketplace", 2022): -0.021,
    }
    | {("dividends_per_share", year): 0.60 + 0.06 * (year - 2016) for year in range(2016, 2023)},
    opening={
        "cash": 436,
        "ppe": 1214,
        "accumulated_depreciation": 1682,
        "goodwill": 322,
        "intangibles": 88,
        "deferred_taxes": 74,
        "lease_gap": 61,
        "paid_in": 842,
        "treasury": -1103,
        "aoci": -39,
        "shares": 131.7,
    },
)

HADDENMOOR = Company(
    key="HADDENMOOR",
    name="Haddenmoor Stores, Inc.",
    short="Haddenmoor Stores",
    sector="Consumer Discretionary",
    ticker="HADM",
    year_end=1,
    ends_next_year=True,
    economics=_ECONOMICS,
    regions=(("United States", 0.93), ("Canada", 0.07)),
    labels={
        "revenue": "Net sales",
        "cost_of_sales": "Cost of goods sold and occupancy",
        "inventories": "Merchandise inventories",
        "receivables": "Receivables, net",
        "capex": "Spending on stores and equipment",
        "ppe": "Property and equipment, net",
    },
    wording={
        "chief": "Calvin Torreby",
        "finance": "Yusra Marchbank",
        "city": "Eastmarsh",
        "state": "Minnesota",
        "incorporated": "Delaware",
        "exchange": "New York Stock Exchange",
        "market": "clothing, furniture and household goods",
        "inputs": "merchandise",
        "sales_word": "net sales",
    },
    figures={"stores": (611, 16, ".0f"), "space": (38.6, 0.5, ".1f"), "opened": (9, 4, ".0f")},
    buybacks=((2019, 2000),),
    chronicle={
        2021: {
            "interim_legal": "In March 2021 the attorney general of Minnesota asked us for documents on the fees that "
            "sellers pay on our marketplace. We are answering the request and cannot say what may follow.",
            "authorized": "March 2019",
            "revolver_expiry": "July 2024",
            "leadership": "Home & Garden",
        },
        2022: {
            "interim_legal": "In May 2022 we agreed with the attorney general of Minnesota to pay $6.5 million and to "
            "change the way in which we show fees to sellers on our marketplace. The matter is closed. A former "
            "employee sued us in June 2022 on behalf of hourly workers in California over breaks.",
            "authorized": "March 2019",
            "revolver_expiry": "July 2027",
        },
    },
)
