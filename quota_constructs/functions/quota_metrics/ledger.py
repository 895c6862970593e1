"""Who borrows, lends and leaves idle how much of one instance type.

AWS tells what each share uses (GetJobQueueSnapshot) and may use (ListQuotaShares), and no more: the rest is derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """What AWS tells of one share and instance type, in instances."""

    share: str
    limit: float
    used: float | None
    """``None``: the snapshot, which lists the top shares, leaves this one out."""
    lends: bool


@dataclass(frozen=True, slots=True)
class Balance:
    """What follows for one share and instance type, in instances; ``None`` where it does not follow."""

    share: str
    limit: float
    used: float | None
    borrowed: float | None
    lent: float | None
    idle: float | None


def balances(accounts: Sequence[Account]) -> list[Balance]:
    """Return the balance of each account of one instance type.

    Borrowed is what is used above the limit. Whose capacity a borrower holds is not AWS's to say, so what all borrow
    is divided over those that lend in proportion to what they leave unused; where one lender has unused capacity, or
    all of it is lent, that is exact. Borrowers that hold more than is lendable, after a limit was lowered, owe the
    rest to nobody.
    """
    part = _lent_part(accounts)
    return [_balance(account, part if account.lends else 0.0) for account in accounts]


def _lent_part(accounts: Sequence[Account]) -> float | None:
    """Return which part of the unused capacity of lenders is lent, 0 to 1."""
    if any(account.used is None for account in accounts):
        return None
    borrowed = sum(_above(account) for account in accounts)
    lendable = sum(_unused(account) for account in accounts if account.lends)
    return min(1.0, borrowed / lendable) if lendable else 0.0


def _balance(account: Account, part: float | None) -> Balance:
    if account.used is None:
        return Balance(account.share, account.limit, None, None, None, None)
    unused = _unused(account)
    lent = None if part is None else unused * part
    idle = None if lent is None else unused - lent
    return Balance(account.share, account.limit, account.used, _above(account), lent, idle)


def _above(account: Account) -> float:
    return max(0.0, (account.used or 0.0) - account.limit)


def _unused(account: Account) -> float:
    return max(0.0, account.limit - (account.used or 0.0))
