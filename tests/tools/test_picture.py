"""The picture shows the design's figures."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment
from tools.picture import picture


def _drawn(*shares: QuotaShare) -> str:
    svg = picture(QuotaQueue(ServiceEnvironment(CapacityLimits.of({"ml.g5.xlarge": 9})), shares))
    ElementTree.fromstring(svg)
    return svg


def _share(name: str, instances: int, sharing: ResourceSharing) -> QuotaShare:
    return QuotaShare(name, CapacityLimits.of({"ml.g5.xlarge": instances}), sharing)


def _squares(svg: str) -> tuple[int, int]:
    """Return how many instances are drawn as owned, and as borrowed."""
    squares = re.findall(r'width="40" height="40" rx="6" fill="(.*?)"', svg)
    return len([fill for fill in squares if fill != "none"]), squares.count("none")


@pytest.mark.parametrize(
    ("borrow_limit", "borrowed"),
    [(None, 3), (-1, 3), (0, 0), (49, 0), (50, 1), (100, 2), (1000, 3)],
)
def test_a_borrower_may_have_what_its_limit_and_the_lenders_allow(borrow_limit: int | None, borrowed: int) -> None:
    svg = _drawn(
        _share("borrower", 2, ResourceSharing.lend_and_borrow(borrow_limit=borrow_limit)),
        _share("lender", 3, ResourceSharing.lend()),
        _share("keeper", 4, ResourceSharing.reserve()),
    )

    assert _squares(svg) == (9, borrowed)
    assert svg.count("lent while idle") == (1 if borrowed else 0)


def test_nobody_borrows_from_a_share_that_keeps_its_own() -> None:
    svg = _drawn(
        _share("borrower", 2, ResourceSharing.lend_and_borrow()), _share("keeper", 4, ResourceSharing.reserve())
    )

    assert _squares(svg) == (6, 0)
    assert "lent while idle" not in svg
