"""Three quota shares that divide three GPU instances: AWS's own example of quota management."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import Stack
from constructs import Construct

from quota_constructs import QuotaManagedQueue, ResourceSharing
from stacks.outputs import output_what_submitting_needs

INSTANCE_TYPE: Final = "ml.g5.xlarge"


class ThreeQuotaStack(Stack):
    """One instance each for background, standard and reserved work.

    ``background`` borrows what ``standard`` leaves idle and gives it back when asked, ``standard`` lends and never
    borrows, ``reserved`` is always there for its owner. AWS names the queue, so the stack deploys any number of
    times side by side.
    """

    def __init__(self, scope: Construct, id: str, **kwargs: Any) -> None:
        super().__init__(scope, id, description="GPU quotas for background, standard and reserved training", **kwargs)

        gpus = QuotaManagedQueue(self, "Gpus", capacity_limits={INSTANCE_TYPE: 3})
        gpus.add_quota_share(
            "Background",
            quota_share_name="background",
            capacity_limits={INSTANCE_TYPE: 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
            in_share_preemption=True,
        )
        gpus.add_quota_share(
            "Standard",
            quota_share_name="standard",
            capacity_limits={INSTANCE_TYPE: 1},
            resource_sharing=ResourceSharing.lend(),
        )
        gpus.add_quota_share(
            "Reserved",
            quota_share_name="reserved",
            capacity_limits={INSTANCE_TYPE: 1},
            resource_sharing=ResourceSharing.reserve(),
        )
        for share in gpus.quota_shares:
            share.publish(self.published_as(str(share.design.name)))
        output_what_submitting_needs(self, gpus, INSTANCE_TYPE)

    def published_as(self, share: str) -> str:
        """Return the parameter prefix with which other stacks import a share of this name."""
        return f"/gpu-quotas/{self.stack_name}/{share}"
