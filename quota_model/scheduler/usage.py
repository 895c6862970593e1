"""Who uses, borrows and lends how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_model.scheduler.views import UnitUsage

if TYPE_CHECKING:
    from quota_model.scheduler.books import Account, Pool
    from quota_model.scheduler.state import State

__all__ = ["lent_by_account", "usage"]


def usage(state: State) -> tuple[UnitUsage, ...]:
    """Return what each share holds of each instance type that it has a limit for or uses."""
    lent = {account: instances for pool in state.pools.values() for account, instances in lent_by_account(pool)}
    return tuple(
        UnitUsage(
            share.name,
            unit,
            account.limit,
            account.used,
            max(0, account.used - account.limit),
            lent[account],
            max(0, account.limit - account.used) - lent[account],
        )
        for share in (*state.shares.values(), *state.leaving)
        for unit, account in share.accounts.items()
        if account.limit or account.used
    )


def lent_by_account(pool: Pool) -> list[tuple[Account, int]]:
    """Return how much each account lends. AWS does not say whose capacity a borrower holds; here environment
    capacity that no share owns goes first, if it can be borrowed at all, then shares in the order of creation.
    """
    idle = {account: max(0, account.limit - account.used) if account.lends else 0 for account in pool.accounts}
    left = pool.borrowed - (pool.lendable - sum(idle.values()))
    lent = []
    for account, instances in idle.items():
        lent.append((account, max(0, min(left, instances))))
        left -= instances
    return lent
