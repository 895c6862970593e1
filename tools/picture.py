"""A picture of a queue's quota shares, as SVG: what each owns, may borrow, and from whom."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from quota_model.design import UNLIMITED, QuotaQueue, QuotaShare, SharingStrategy, Unknown

__all__ = ["picture"]

CARD_WIDTH: Final = 256
CARD_HEIGHT: Final = 216
GAP: Final = 24
MARGIN: Final = 24
CARDS_TOP: Final = 68
SQUARE: Final = 40
LANES_TOP: Final = CARDS_TOP + CARD_HEIGHT
LANE: Final = 34

COLOURS: Final = {
    SharingStrategy.LEND_AND_BORROW: "#2563eb",
    SharingStrategy.LEND: "#047857",
    SharingStrategy.RESERVE: "#475569",
}
CAPTIONS: Final = {
    SharingStrategy.LEND_AND_BORROW: "borrows what others leave idle",
    SharingStrategy.LEND: "lends what it leaves idle",
    SharingStrategy.RESERVE: "keeps its capacity, busy or idle",
}
STYLE: Final = """\
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #0f172a; font-size: 14px }
.name { font-size: 18px; font-weight: 600 }
.strategy { font-size: 12px; font-weight: 600; letter-spacing: .04em }
.quiet { fill: #475569; font-size: 13px }
"""


def picture(queue: QuotaQueue) -> str:
    """Return the picture of a design in which every value is known and each share has one instance type."""
    shares = queue.quota_shares
    loans = list(_loans(shares))
    width = 2 * MARGIN + len(shares) * CARD_WIDTH + (len(shares) - 1) * GAP
    height = LANES_TOP + (2 * LANE * len(loans)) + MARGIN + (12 if loans else 0)
    capacity = ", ".join(
        f"{count} × {unit}" for unit, count in queue.service_environment.capacity_limits.as_instances().items()
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">',
        f"<title>{len(shares)} quota shares of {escape(capacity)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14" fill="#f8fafc" stroke="#cbd5e1"/>',
        _text(MARGIN, 42, "AWS Batch job queue", "name"),
        _text(width - MARGIN, 42, f"service environment: {capacity}", "quiet", anchor="end"),
    ]
    for index, share in enumerate(shares):
        parts += _card(_left(index), share, borrowed=sum(loan for _, to, loan in loans if to == index))
    for lane, (lender, borrower, _) in enumerate(loans):
        parts += _loan(
            LANES_TOP + 2 * LANE * lane,
            lender,
            borrower,
            COLOURS[_strategy(shares[lender])],
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _strategy(share: QuotaShare) -> SharingStrategy:
    strategy = share.resource_sharing.strategy
    if isinstance(strategy, Unknown):
        raise ValueError(f"the strategy of {share.name} is known only at deployment, so there is nothing to draw")
    return strategy


def _left(index: int) -> int:
    return MARGIN + index * (CARD_WIDTH + GAP)


def _loans(shares: tuple[QuotaShare, ...]) -> Iterator[tuple[int, int, int]]:
    """Yield lender, borrower and how many instances the one may have of the other."""
    for borrower, taking in enumerate(shares):
        for lender, giving in enumerate(shares):
            if lender != borrower and taking.resource_sharing.borrows and giving.resource_sharing.lends:
                for unit, limit in taking.capacity_limits.as_instances().items():
                    idle = giving.capacity_limits.as_instances().get(unit, 0)
                    percent = taking.resource_sharing.borrow_limit
                    room = idle if percent in (None, UNLIMITED) else int(limit * percent // 100)  # type: ignore[operator]
                    if min(idle, room) > 0:
                        yield lender, borrower, min(idle, room)


def _card(x: int, share: QuotaShare, *, borrowed: int) -> Iterator[str]:
    strategy = _strategy(share)
    colour = COLOURS[strategy]
    ((unit, limit),) = share.capacity_limits.as_instances().items()
    yield f'<rect x="{x}" y="{CARDS_TOP}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="10" fill="#fff" stroke="#cbd5e1"/>'
    yield f'<rect x="{x}" y="{CARDS_TOP + 16}" width="4" height="40" rx="2" fill="{colour}"/>'
    left = x + 20
    yield _text(left, CARDS_TOP + 32, str(share.name), "name")
    yield f'<text x="{left}" y="{CARDS_TOP + 54}" class="strategy" style="fill: {colour}">{strategy}</text>'
    top = CARDS_TOP + 72
    for index in range(limit + borrowed):
        at = left + index * (SQUARE + 10)
        own = index < limit
        look = f'fill="{colour}"' if own else f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="5 4"'
        yield f'<rect x="{at}" y="{top}" width="{SQUARE}" height="{SQUARE}" rx="6" {look}/>'
    own_text = f"{limit} × {unit}" + (f" + {borrowed} borrowed" if borrowed else "")
    yield _text(left, top + SQUARE + 24, own_text)
    yield _text(left, top + SQUARE + 48, CAPTIONS[strategy], "quiet")
    yield _text(left, top + SQUARE + 70, f"in-share preemption {'on' if share.in_share_preemption else 'off'}", "quiet")
    if share.resource_sharing.borrow_limit is not None:
        yield _text(left, top + SQUARE + 92, f"borrow limit {share.resource_sharing.borrow_limit} %", "quiet")


def _loan(top: int, lender: int, borrower: int, colour: str) -> Iterator[str]:
    """Draw the way of an idle instance to the borrower, and below it the way back."""
    lender_x, borrower_x = _left(lender) + CARD_WIDTH // 2, _left(borrower) + CARD_WIDTH // 2
    middle = (lender_x + borrower_x) // 2
    yield _way(lender_x + 12, borrower_x - 12, top, LANE, colour, dashed=False)
    yield _label(middle, top + LANE, "lent while idle")
    yield _way(borrower_x + 12, lender_x - 12, top, 2 * LANE, colour, dashed=True)
    yield _label(middle, top + 2 * LANE, "taken back by preemption")


def _way(start: int, end: int, top: int, depth: int, colour: str, *, dashed: bool) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    path = f"M{start} {top} V{top + depth - 8} Q{start} {top + depth} {start + _towards(start, end)} {top + depth}"
    path += f" H{end - _towards(start, end)} Q{end} {top + depth} {end} {top + depth - 8} V{top + 8}"
    head = f"M{end - 5} {top + 9} L{end} {top + 1} L{end + 5} {top + 9} Z"
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/><path d="{head}" fill="{colour}"/>'
    )


def _towards(start: int, end: int) -> int:
    return 8 if end > start else -8


def _label(x: int, y: int, text: str) -> str:
    half = int(len(text) * 3.5) + 8
    return f'<rect x="{x - half}" y="{y - 10}" width="{2 * half}" height="20" fill="#f8fafc"/>' + _text(
        x, y + 4, text, "quiet", anchor="middle"
    )


def _text(x: int, y: int, text: str, kind: str = "", *, anchor: str = "start") -> str:
    look = (f' class="{kind}"' if kind else "") + ("" if anchor == "start" else f' text-anchor="{anchor}"')
    return f'<text x="{x}" y="{y}"{look}>{escape(text)}</text>'
