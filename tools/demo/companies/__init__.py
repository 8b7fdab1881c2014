"""The four invented companies."""

from tools.demo.companies.haddenmoor import HADDENMOOR
from tools.demo.companies.orvellow import ORVELLOW
from tools.demo.companies.tarnbeck import TARNBECK
from tools.demo.companies.veyloria import VEYLORIA

COMPANIES = {company.key: company for company in (TARNBECK, ORVELLOW, VEYLORIA, HADDENMOOR)}
