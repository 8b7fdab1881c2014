"""The four invented companies."""

from lib.data.demo.companies.haddenmoor import HADDENMOOR
from lib.data.demo.companies.orvellow import ORVELLOW
from lib.data.demo.companies.tarnbeck import TARNBECK
from lib.data.demo.companies.veyloria import VEYLORIA

COMPANIES = {company.key: company for company in (TARNBECK, ORVELLOW, VEYLORIA, HADDENMOOR)}
