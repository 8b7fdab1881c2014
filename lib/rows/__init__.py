"""The sibling studies' rows of the method table: the strategies that their claims are about."""

from lib.rows.akarsu import AKARSU_ROWS
from lib.rows.kim import KIM_ROWS
from lib.rows.yepes import YEPES_ROWS

SIBLING_ROWS = (*AKARSU_ROWS, *KIM_ROWS, *YEPES_ROWS)
