from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quota_constructs.functions.quota_metrics.ledger import Account, Balance, balances


def test_what_is_used_above_the_limit_is_borrowed() -> None:
    # The example of AWS's notebook: one instance each, the first share uses the second one's too.
    accounts = [
        Account("background", limit=1, used=2, lends=True),
        Account("standard", limit=1, used=0, lends=True),
        Account("reserved", limit=1, used=0, lends=False),
    ]

    assert balances(accounts) == [
        Balance("background", limit=1, used=2, borrowed=1, lent=0, idle=0),
        Balance("standard", limit=1, used=0, borrowed=0, lent=1, idle=0),
        Balance("reserved", limit=1, used=0, borrowed=0, lent=0, idle=1),
    ]


def test_lenders_share_what_is_borrowed_in_proportion_to_what_they_leave_unused() -> None:
    accounts = [
        Account("borrower", limit=2, used=5, lends=True),
        Account("big", limit=6, used=2, lends=True),
        Account("small", limit=2, used=0, lends=True),
    ]

    # 3 are borrowed of 4 + 2 that are unused: half of each.
    assert [(line.lent, line.idle) for line in balances(accounts)] == [(0, 0), (2, 2), (1, 1)]


def test_a_debt_that_a_lowered_limit_leaves_is_not_lent_by_anybody() -> None:
    accounts = [
        Account("lowered", limit=1, used=4, lends=True),
        Account("lender", limit=2, used=0, lends=True),
        Account("reserve", limit=3, used=0, lends=False),
    ]

    assert [(line.borrowed, line.lent, line.idle) for line in balances(accounts)] == [(3, 0, 0), (0, 2, 0), (0, 0, 3)]


def test_nothing_is_made_up_for_a_share_that_the_snapshot_leaves_out() -> None:
    accounts = [
        Account("listed", limit=2, used=3, lends=True),
        Account("reserve", limit=2, used=1, lends=False),
        Account("unlisted", limit=4, used=None, lends=True),
    ]

    assert balances(accounts) == [
        Balance("listed", limit=2, used=3, borrowed=1, lent=None, idle=None),
        Balance("reserve", limit=2, used=1, borrowed=0, lent=0, idle=1),
        Balance("unlisted", limit=4, used=None, borrowed=None, lent=None, idle=None),
    ]


ACCOUNTS = st.lists(
    st.builds(Account, st.just("share"), st.integers(0, 64), st.integers(0, 64), st.booleans()), max_size=20
)


@given(ACCOUNTS)
def test_own_use_lent_and_idle_always_add_up_to_the_limit(accounts: list[Account]) -> None:
    for line in balances(accounts):
        assert line.used is not None
        assert line.borrowed is not None
        assert line.lent is not None
        assert line.idle is not None
        assert line.used - line.borrowed + line.lent + line.idle == pytest.approx(line.limit)
        assert min(line.borrowed, line.lent, line.idle) >= 0


@given(ACCOUNTS)
def test_what_is_lent_is_always_what_is_borrowed_as_far_as_there_is_capacity_to_lend(accounts: list[Account]) -> None:
    lines = balances(accounts)
    borrowed = sum(line.borrowed or 0 for line in lines)
    lendable = sum(max(0, account.limit - (account.used or 0)) for account in accounts if account.lends)

    assert sum(line.lent or 0 for line in lines) == pytest.approx(min(borrowed, lendable))
    assert all(line.lent == 0 for line, account in zip(lines, accounts, strict=True) if not account.lends)
