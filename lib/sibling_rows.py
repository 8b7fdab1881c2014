"""The sibling studies' rows of the method table: the strategies that their claims are about."""

from lib.method import Method

SIBLING_ROWS: tuple[Method, ...] = ()
