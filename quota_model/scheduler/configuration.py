"""From a design to the books: limits, ceilings and who lends, at the start and whenever the design changes."""

from __future__ import annotations

from dataclasses import replace

from quota_model.design import (
    UNLIMITED,
    DesignError,
    QuotaQueue,
    QuotaShare,
    ServiceEnvironment,
    SharingStrategy,
    State,
    Unknown,
)
from quota_model.scheduler.books import UNBOUNDED, Account, Pool
from quota_model.scheduler.job import Shape
from quota_model.scheduler.machines import start_nominated
from quota_model.scheduler.options import OwnCapacityOrder, Rounding, SchedulerOptions
from quota_model.scheduler.share import Share, new_share
from quota_model.scheduler.state import State as SchedulerState

__all__ = [
    "account_of",
    "add_share",
    "design",
    "new_state",
    "remove_share",
    "replace_share",
    "set_environment",
    "shape",
]


def new_state(queue: QuotaQueue, options: SchedulerOptions) -> SchedulerState:
    """Return the state of a queue without jobs."""
    state = SchedulerState(queue, options)
    state.queue_enabled = _is_enabled(queue.state, "the job queue")
    set_environment(state, queue.service_environment)
    for share in queue.quota_shares:
        add_share(state, share)
    return state


def design(state: SchedulerState) -> QuotaQueue:
    """Return the queue as it is configured now."""
    return replace(
        state.queue,
        service_environment=state.environment,
        quota_shares=tuple(share.design for share in state.shares.values()),
        state=State.ENABLED if state.queue_enabled else State.DISABLED,
    )


def set_environment(state: SchedulerState, environment: ServiceEnvironment) -> None:
    """Let the environment have these limits and this state."""
    limits = environment.capacity_limits.as_instances()
    enabled = _is_enabled(environment.state, "the service environment")
    start_nominated(state)
    state.environment, state.environment_enabled = environment, enabled
    for pool in state.pools.values():
        pool.capacity = limits.get(pool.unit, 0)
    for unit in limits:
        _pool(state, unit)
    rebalance(state)


def add_share(state: SchedulerState, share: QuotaShare) -> None:
    """Create a share."""
    name = share.name
    if isinstance(name, Unknown):
        raise DesignError("a quota share's name is known only at deployment; give a name")
    if name in state.shares:
        raise DesignError(f"the queue has a quota share {name!r} already; give another name")
    settings = _Settings(share, state.options)
    state.shares[name] = new_share(name, share, state.options.head_of_line)
    settings.apply(state, state.shares[name])


def replace_share(state: SchedulerState, share: QuotaShare) -> None:
    """Let the share of this name have these properties."""
    settings = _Settings(share, state.options)
    settings.apply(state, state.shares[str(share.name)])


def remove_share(state: SchedulerState, share: Share) -> None:
    """Take a share's limits away; it is kept aside until its last job has stopped."""
    start_nominated(state)
    del state.shares[share.name]
    if share.live:
        state.leaving.append(share)
    share.borrows = share.enabled = share.in_share_preemption = False
    for account in share.accounts.values():
        account.limit = account.ceiling = account.in_share_ceiling = 0
        account.lends = False
        if not share.live:
            account.pool.accounts.remove(account)
    rebalance(state)


def account_of(state: SchedulerState, share: Share, unit: str) -> Account:
    """Return a share's account for an instance type; one that it has no limit for gets an empty account."""
    if unit not in share.accounts:
        by_priority = state.options.own_capacity_order is OwnCapacityOrder.PRIORITY
        share.accounts[unit] = Account(share, _pool(state, unit), by_priority)
        _set_limit(share.accounts[unit], 0, state.options)
        _balance(state, share.accounts[unit].pool)
    return share.accounts[unit]


def shape(state: SchedulerState, share: Share, request: tuple[tuple[str, int], ...]) -> Shape:
    """Return the shape of a request."""
    if request not in share.shapes:
        counts = dict(sorted(request))
        parts = tuple((account_of(state, share, unit), instances) for unit, instances in counts.items())
        share.shapes[request] = Shape(parts, share.lanes_of(counts))
    return share.shapes[request]


def rebalance(state: SchedulerState) -> None:
    """Draw up all books anew after a change; what is borrowed above the lendable now is a debt, which no head has to
    make up for unless the options say so.
    """
    state.freed = True
    for pool in state.pools.values():
        _balance(state, pool)
        pool.debt = 0 if state.options.heads_pay_off_debts else max(0, pool.borrowed - pool.lendable)
    for share in state.shares.values():
        state.heads.touched[share] = None


class _Settings:
    """What a share's design says, read before anything is changed."""

    def __init__(self, share: QuotaShare, options: SchedulerOptions) -> None:
        place = f"quota share {str(share.name)!r}"
        sharing = share.resource_sharing
        if isinstance(sharing.strategy, Unknown) or isinstance(sharing.borrow_limit, Unknown):
            raise DesignError(f"{place}: resource sharing is known only at deployment; give a strategy")
        if isinstance(share.in_share_preemption, Unknown):
            raise DesignError(f"{place}: in-share preemption is known only at deployment; give true or false")
        borrow_limit = sharing.borrow_limit
        if borrow_limit is not None and (borrow_limit != int(borrow_limit) or borrow_limit < UNLIMITED):
            raise DesignError(f"{place}: borrow limit {borrow_limit} is not a percentage; give a whole number or -1")
        self.design = share
        self.limits = share.capacity_limits.as_instances()
        self.in_share_preemption = share.in_share_preemption
        self.enabled = _is_enabled(share.state, place)
        self.borrow_limit = UNLIMITED if borrow_limit is None else int(borrow_limit)
        self.borrows = sharing.strategy is SharingStrategy.LEND_AND_BORROW
        self.lends = sharing.lends and (self.enabled or options.disabled_shares_lend)

    def apply(self, state: SchedulerState, share: Share) -> None:
        """Let the share have these settings; nominated jobs that can start do so before."""
        start_nominated(state)
        share.design = self.design
        share.enabled, share.borrows = self.enabled, self.borrows
        share.held_back = not (self.enabled or state.options.disabled_shares_dispatch)
        share.borrow_limit = self.borrow_limit
        share.in_share_preemption = self.in_share_preemption
        for unit in self.limits:
            account_of(state, share, unit)
        for unit, account in share.accounts.items():
            _set_limit(account, self.limits.get(unit, 0), state.options)
            account.lends = self.lends
        rebalance(state)


def _set_limit(account: Account, limit: int, options: SchedulerOptions) -> None:
    account.limit = limit
    account.ceiling = _ceiling(account.share, limit, options)
    account.in_share_ceiling = account.ceiling if options.in_share_preemption_borrows else limit


def _ceiling(share: Share, limit: int, options: SchedulerOptions) -> int:
    """Return what a share may use of an instance type with borrowing."""
    if not share.borrows:
        return limit
    if share.borrow_limit == UNLIMITED:
        return UNBOUNDED if limit or options.borrow_without_limit else limit
    hundredths = limit * share.borrow_limit
    return limit + (-(-hundredths // 100) if options.borrow_limit_rounding is Rounding.UP else hundredths // 100)


def _pool(state: SchedulerState, unit: str) -> Pool:
    if unit not in state.pools:
        pool = state.pools[unit] = Pool(unit)
        pool.capacity = state.environment.capacity_limits.as_instances().get(unit, 0)
    return state.pools[unit]


def _balance(state: SchedulerState, pool: Pool) -> None:
    accounts = pool.accounts
    pool.used = sum(account.used for account in accounts)
    pool.borrowed = sum(max(0, account.used - account.limit) for account in accounts)
    pool.lendable = sum(max(0, account.limit - account.used) for account in accounts if account.lends)
    unowned = 0
    if state.options.borrow_unowned_capacity:
        unowned = max(0, pool.capacity - sum(account.limit for account in accounts))
        pool.lendable += unowned
    lent_at_most = unowned + sum(account.limit for account in accounts if account.lends)
    for account in accounts:
        account.own_and_lendable = account.limit
        if account.share.borrows:
            others = lent_at_most - (account.limit if account.lends else 0)
            account.own_and_lendable += others
        account.largest = min(account.ceiling, pool.capacity, account.own_and_lendable)


def _is_enabled(state: State | Unknown, place: str) -> bool:
    if isinstance(state, Unknown):
        raise DesignError(f"{place}: its state is known only at deployment; give ENABLED or DISABLED")
    return state is State.ENABLED
