"""Tarnbeck Machinery Corporation: packaging and process machines; calendar years, in millions."""

from tools.demo.company import Company
from tools.demo.economics import Economics, Note, Segment

_DIVIDENDS = {2016: 0.96, 2017: 1.00, 2018: 1.06, 2019: 1.12, 2020: 1.14, 2021: 1.20, 2022: 1.30}

_ECONOMICS = Economics(
    segments=(
        Segment("Packaging Systems", 1183, 0.040, 0.121),
        Segment("Process Equipment", 824, 0.022, 0.094),
        Segment("Aftermarket Services", 541, 0.061, 0.198),
    ),
    notes=(
        Note(3.25, 2014, 2021, 400),
        Note(2.875, 2016, 2024, 500),
        Note(4.10, 2018, 2028, 350),
        Note(2.20, 2021, 2031, 450),
        Note(3.90, 2022, 2032, 300),
    ),
    drivers={
        "gross_margin": (0.354, 0.011),
        "selling": (0.204, 0.006),
        "research": (0.031, 0.002),
        "other_income": (7, 11),
        "tax_rate": (0.232, 0.019),
        "deferred_tax": (0.02, 0.12),
        "stock_compensation": (0.009, 0.001),
        "options": (0.004, 0.001),
        "capex": (0.042, 0.006),
        "depreciation": (0.121, 0.006),
        "amortization": (0.109, 0.005),
        "disposals": (0.009, 0.006),
        "repurchases": (0.069, 0.012),
        "share_price": (83, 17),
        "fx": (-2, 21),
        "receivables": (0.178, 0.012),
        "inventories": (0.147, 0.011),
        "prepaid": (0.031, 0.004),
        "securities": (0, 0),
        "leases": (0.046, 0.003),
        "other_assets": (0.052, 0.006),
        "payables": (0.101, 0.009),
        "accrued": (0.132, 0.008),
        "other_liabilities": (0.083, 0.006),
    },
    events={
        ("growth:Packaging Systems", 2020): -0.093,
        ("growth:Process Equipment", 2020): -0.058,
        ("growth:Aftermarket Services", 2020): -0.031,
        ("growth:Packaging Systems", 2021): 0.118,
        ("growth:Process Equipment", 2021): -0.024,
        ("growth:Aftermarket Services", 2022): 0.087,
        ("restructuring", 2020): 64,
        ("restructuring", 2021): 38,
        ("restructuring", 2022): 9,
        ("repurchases", 2020): 0.006,
        ("acquisition", 2019): 236,
        ("acquisition", 2022): 385,
    }
    | {("dividends_per_share", year): amount for year, amount in _DIVIDENDS.items()},
    opening={
        "cash": 196,
        "ppe": 873,
        "accumulated_depreciation": 1114,
        "goodwill": 682,
        "intangibles": 291,
        "deferred_taxes": 117,
        "lease_gap": 6,
        "paid_in": 764,
        "treasury": -918,
        "aoci": -184,
        "shares": 104.6,
    },
)

TARNBECK = Company(
    key="TARNBECK",
    name="Tarnbeck Machinery Corporation",
    short="Tarnbeck Machinery",
    sector="Industrials",
    ticker="TNBK",
    year_end=12,
    economics=_ECONOMICS,
    regions=(("United States", 0.41), ("Europe", 0.29), ("Asia Pacific", 0.19), ("Rest of the world", 0.11)),
    labels={
        "revenue": "Net sales",
        "receivables": "Trade receivables, net",
        "capex": "Purchases of property, plant and equipment",
    },
    wording={
        "chief": "Ingrid Vasbotten",
        "finance": "Desmond Aulay",
        "city": "Wexholm",
        "state": "Wisconsin",
        "incorporated": "Wisconsin",
        "exchange": "New York Stock Exchange",
        "market": "machinery for food, beverage and pharmaceutical producers",
        "inputs": "steel, aluminum and electronic controls",
        "sales_word": "net sales",
        "program": "Compass",
        "auditor": "Marlowe Thackeray LLP, Milburn, Wisconsin",
        "auditor_since": "1998",
        "banks": "fourteen",
        "revolver": "$800 million",
        "revolver_month": "May",
        "dividend_policy": "We have paid a dividend in every quarter since our shares were listed in 1961, and we have "
        "raised it in each of the last {dividend_years} years. Dividends of fiscal {year} were ${dividends_per_share} "
        "a share, after ${prior_dividends_per_share} a share in fiscal {prior}. The board of directors decides on "
        "each payment in light of results and needs.",
    },
    figures={
        "employees": (11_900, 800, ",.0f"),
        "countries": (27, 3, ".0f"),
        "service_centers": (38, 4, ".0f"),
        "top_customers": (31, 4, ".0f"),
        "deliver_share": (78, 7, ".0f"),
        "union_share": (34, 4, ".0f"),
        "patents": (1_480, 130, ",.0f"),
        "asbestos_claims": (612, 70, ",.0f"),
        "holders": (6_420, 380, ",.0f"),
    },
    buybacks=((2019, 600), (2022, 750)),
    chronicle={
        2020: {
            "union_event": "The agreement at Dornau, which covers 640 people, expires in September 2021; talks have "
            "not begun.",
            "legal_year": "In August 2020 Brightmead Dairies sued us in the federal court in Ohio. It claims $85 "
            "million because a spray dryer that we delivered in 2018 does not reach the output that it was promised. "
            "We deny the claim and have asked for the balance of the price. Discovery has begun.",
            "restructuring_text": "In April 2020 we started the Compass program, which closes the plant in "
            "Littlebrook, Michigan, and reduces the number of employees by about 700. Its cost was {restructuring}.",
            "debt_events": "No notes were issued or repaid in fiscal 2020.",
            "buyback_program": "The board of directors authorized purchases of up to $600 million of our shares in "
            "February 2019. We suspended purchases in March 2020 to preserve cash, after we had spent {repurchases} "
            "in the year on {repurchased_shares} million shares; {remaining} may still be spent.",
        },
        2021: {
            "union_event": "The agreement at Dornau, which covers 640 people, was renewed in October 2021 for three "
            "years after a walk-out of nine days.",
            "legal_year": "In August 2020 Brightmead Dairies sued us in the federal court in Ohio over the output of a "
            "spray dryer that we delivered in 2018. It now claims $97 million. The court has dismissed the counts of "
            "fraud and has set the trial on the contract for June 2022. We have accrued $18 million.",
            "restructuring_text": "Under the Compass program, begun in April 2020, we closed the plant in "
            "Littlebrook, Michigan, in fiscal 2021. The cost of the year was {restructuring}, most of it for people.",
            "debt_events": "In January 2021 we issued $450 million of 2.20% notes due 2031; with the proceeds we "
            "repaid the $400 million of 3.25% notes at maturity.",
            "buyback_program": "We resumed purchases under the authorization of $600 million of February 2019. In "
            "fiscal 2021 we spent {repurchases} on {repurchased_shares} million shares; {remaining} may still be "
            "spent.",
        },
        2022: {
            "union_event": "Talks on the agreement at Aldersey, which covers 410 people and expires in April 2023, "
            "are in progress.",
            "legal_year": "We settled with Brightmead Dairies in May 2022, shortly before the trial, by a payment of "
            "$31 million and a discount on future spare parts. The case is closed. In November 2022 a former "
            "distributor in Brazil asked an arbitration tribunal for $22 million because we ended its contract.",
            "restructuring_text": "The Compass program, begun in April 2020, was completed in fiscal 2022 at a final "
            "cost of {restructuring} for the year.",
            "acquisition_text": "On July 1, 2022 we bought all of Sorrelle Robotics for {acquisition} in cash. "
            "Sorrelle, of Grenholt, Sweden, makes picking robots and had sales of about $140 million in its last "
            "year. It is part of Packaging Systems. Of the price, {acquired_goodwill} is goodwill.",
            "debt_events": "In March 2022 we issued $300 million of 3.90% notes due 2032 to pay for part of the price "
            "of Sorrelle Robotics.",
            "buyback_program": "In February 2022 the board of directors replaced the authorization of 2019 by a new "
            "one of $750 million without expiry. In fiscal 2022 we spent {repurchases} on {repurchased_shares} million "
            "shares; {remaining} may still be spent.",
        },
    },
)
