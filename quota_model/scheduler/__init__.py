"""How AWS Batch schedules jobs on quota shares: state in, decisions out, no I/O and no clock.

>>> from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment
>>> gpus = CapacityLimits.of({"ml.g5.xlarge": 1})
>>> queue = QuotaQueue(ServiceEnvironment(gpus), (QuotaShare("Vision", gpus, ResourceSharing.reserve()),))
>>> scheduler = Scheduler(queue)
>>> scheduler.apply(JobSubmitted(0, "train", "Vision", {"ml.g5.xlarge": 1}))
>>> [type(decision).__name__ for decision in scheduler.run_pass(0)]
['Dispatch']
"""

from quota_model.scheduler.decisions import *  # noqa: F403
from quota_model.scheduler.events import *  # noqa: F403
from quota_model.scheduler.options import *  # noqa: F403
from quota_model.scheduler.scheduler import *  # noqa: F403
from quota_model.scheduler.views import *  # noqa: F403
