"""Declare GPU quotas for SageMaker Training jobs on AWS Batch, in CDK.

Start with :class:`QuotaManagedQueue`; the parts are there for those who need them apart.
"""

from quota_constructs.errors import MalformedArnError, QuotaConstructsError, RefusedDesignError
from quota_constructs.events import JobQueueEvents, RuleOptions, ServiceJobEvent, ServiceJobStatus
from quota_constructs.execution_role import TrainingExecutionRole
from quota_constructs.job_queue import ILookedUpTrainingJobQueue, ITrainingJobQueue, TrainingJobQueue
from quota_constructs.job_queue_grants import JobQueueGrants
from quota_constructs.monitoring import QuotaAlarmThresholds, QuotaMetrics, QuotaMonitoring
from quota_constructs.nag import acknowledge_batch_wildcards
from quota_constructs.preemption_enricher import PreemptionEnricher
from quota_constructs.quota_managed_queue import QuotaManagedQueue
from quota_constructs.quota_share import ILookedUpQuotaShare, IQuotaShare, QuotaShare
from quota_constructs.quota_share_grants import QuotaShareGrants
from quota_constructs.scheduling_policy import IQuotaShareSchedulingPolicy, QuotaShareSchedulingPolicy
from quota_constructs.service_environment import IServiceEnvironment, ServiceEnvironment
from quota_constructs.service_environment_grants import ServiceEnvironmentGrants
from quota_constructs.time_limits import JobStateTimeLimitAction, JobStateTimeLimitReason
from quota_constructs.training_plan import ITrainingPlan, TrainingPlan
from quota_model.design import ResourceSharing, State

__all__ = [
    "ILookedUpQuotaShare",
    "ILookedUpTrainingJobQueue",
    "IQuotaShare",
    "IQuotaShareSchedulingPolicy",
    "IServiceEnvironment",
    "ITrainingJobQueue",
    "ITrainingPlan",
    "JobQueueEvents",
    "JobQueueGrants",
    "JobStateTimeLimitAction",
    "JobStateTimeLimitReason",
    "MalformedArnError",
    "PreemptionEnricher",
    "QuotaAlarmThresholds",
    "QuotaConstructsError",
    "QuotaManagedQueue",
    "QuotaMetrics",
    "QuotaMonitoring",
    "QuotaShare",
    "QuotaShareGrants",
    "QuotaShareSchedulingPolicy",
    "RefusedDesignError",
    "ResourceSharing",
    "RuleOptions",
    "ServiceEnvironment",
    "ServiceEnvironmentGrants",
    "ServiceJobEvent",
    "ServiceJobStatus",
    "State",
    "TrainingExecutionRole",
    "TrainingJobQueue",
    "TrainingPlan",
    "acknowledge_batch_wildcards",
]
