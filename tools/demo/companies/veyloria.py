"""Veyloria Photonics, Inc.: lasers and optical components; fiscal years to September 30, in thousands."""

from tools.demo.company import Company
from tools.demo.economics import Economics, Note, Segment

_ECONOMICS = Economics(
    unit="thousands",
    segments=(
        Segment("Industrial Lasers", 402_318, 0.050, 0.148),
        Segment("Optical Sensing", 281_754, 0.072, 0.121),
        Segment("Telecom Components", 236_487, 0.041, 0.102),
    ),
    notes=(Note(3.50, 2018, 2025, 300_000), Note(4.75, 2022, 2029, 200_000)),
    drivers={
        "gross_margin": (0.448, 0.012),
        "selling": (0.169, 0.005),
        "research": (0.143, 0.005),
        "other_income": (1_900, 2_600),
        "tax_rate": (0.151, 0.022),
        "deferred_tax": (-0.10, 0.15),
        "stock_compensation": (0.037, 0.003),
        "options": (0.009, 0.002),
        "capex": (0.083, 0.010),
        "depreciation": (0.181, 0.010),
        "amortization": (0.173, 0.008),
        "disposals": (0.004, 0.003),
        "repurchases": (0.104, 0.014),
        "share_price": (61, 14),
        "fx": (-800, 5_200),
        "receivables": (0.168, 0.014),
        "inventories": (0.181, 0.016),
        "prepaid": (0.035, 0.005),
        "securities": (0.150, 0.030),
        "leases": (0.061, 0.004),
        "other_assets": (0.044, 0.005),
        "payables": (0.079, 0.008),
        "accrued": (0.108, 0.008),
        "other_liabilities": (0.049, 0.004),
    },
    events={
        ("growth:Optical Sensing", 2021): -0.127,
        ("growth:Industrial Lasers", 2021): 0.096,
        ("growth:Optical Sensing", 2022): 0.204,
        ("growth:Telecom Components", 2022): -0.038,
        ("restructuring", 2021): 6_842,
        ("acquisition", 2022): 268_500,
        ("securities", 2022): 0.071,
    },
    opening={
        "cash": 91_446,
        "ppe": 214_902,
        "accumulated_depreciation": 268_377,
        "goodwill": 203_118,
        "intangibles": 94_265,
        "deferred_taxes": 21_730,
        "lease_gap": 1_284,
        "paid_in": 486_259,
        "treasury": -122_804,
        "aoci": -14_391,
        "shares": 58.42,
    },
)

VEYLORIA = Company(
    key="VEYLORIA",
    name="Veyloria Photonics, Inc.",
    short="Veyloria Photonics",
    sector="Information Technology",
    ticker="VEYL",
    year_end=9,
    economics=_ECONOMICS,
    regions=(("United States", 0.23), ("China", 0.28), ("Rest of Asia", 0.27), ("Europe", 0.22)),
    labels={
        "revenue": "Net revenue",
        "cost_of_sales": "Cost of revenue",
        "ppe": "Property and equipment, net",
        "capex": "Payments for property and equipment",
        "receivables": "Accounts receivable, net of allowance",
    },
    wording={
        "chief": "Rohana Estrell",
        "finance": "Piers Wendover",
        "outgoing": "Lionel Abernethy-Voss",
        "city": "Brightwater Falls",
        "state": "Oregon",
        "incorporated": "Delaware",
        "exchange": "Nasdaq Global Select Market",
        "market": "metal working, consumer electronics and telecommunications",
        "inputs": "wafers, optical crystals and integrated circuits",
        "sales_word": "net revenue",
        "program": "Focus",
        "auditor": "Hartnell Quayle LLP, Seddon, Oregon",
        "auditor_since": "2019",
        "banks": "six",
        "revolver": "$250 million",
        "revolver_month": "April",
        "dividend_policy": "We have never declared or paid a cash dividend and do not expect to do so in the "
        "foreseeable future. We intend to use earnings for growth and for the purchase of our own shares.",
    },
    figures={
        "employees": (4_620, 260, ",.0f"),
        "engineers": (29, 3, ".0f"),
        "customer_share": (17, 4, ".0f"),
        "patents": (2_310, 160, ",.0f"),
        "holders": (412, 40, ",.0f"),
    },
    buybacks=((2020, 500),),
    chronicle={
        2021: {
            "finance": "Lionel Abernethy-Voss",  # he retires in the year after
            "union_event": "We have never had a strike.",
            "legal_year": "Lumenfold Ltd sued us in the federal court in Delaware in May 2021. It alleges that our "
            "modules for depth cameras infringe two of its patents, and asks for damages and for an injunction. The "
            "patent office has agreed to review both patents. We have not accrued a loss.",
            "restructuring_text": "In January 2021 we began to move the assembly of transceivers from Suwanee Creek, "
            "California, to Penang. The Focus program cost {restructuring}, chiefly severance for 170 people.",
            "debt_events": "No notes were issued or repaid in fiscal 2021.",
            "buyback_program": "In fiscal 2021 we spent {repurchases} on {repurchased_shares} million of our shares "
            "under the authorization of $500 million of November 2019; {remaining} may still be spent.",
        },
        2022: {
            "union_event": "We have never had a strike.",
            "legal_year": "In the suit that Lumenfold Ltd brought in May 2021 over modules for depth cameras, the "
            "patent office declared one of the two patents invalid in July 2022. The trial on the other one is set "
            "for March 2023. We have not accrued a loss.",
            "acquisition_text": "On June 30, 2022 we bought Corrandale Optics, of Leith Cross, Scotland, for "
            "{acquisition} in cash. Corrandale makes gratings and ultrafast amplifiers. It is part of Industrial "
            "Lasers and added $31.4 million to net revenue of fiscal 2022. Of the price, {acquired_goodwill} is "
            "goodwill.",
            "debt_events": "In June 2022 we issued $200 million of 4.75% notes due 2029 to pay for part of the price "
            "of Corrandale Optics.",
            "buyback_program": "In fiscal 2022 we spent {repurchases} on {repurchased_shares} million of our shares "
            "under the authorization of $500 million of November 2019; {remaining} may still be spent. Purchases have "
            "been suspended since the Corrandale transaction was agreed.",
        },
    },
)
