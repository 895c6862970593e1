"""What quota shares cost as constructs, against the same written with CDK's L1 classes by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory

from aws_cdk import App, Resource, Stack
from aws_cdk import aws_batch as batch
from constructs import Construct

from benchmarks.measurement import Measurement, fastest
from quota_constructs import QuotaManagedQueue, QuotaShare, ResourceSharing, TrainingJobQueue

_QUEUES = 15
_SHARES_OF_A_QUEUE = 20
_SHARES = _QUEUES * _SHARES_OF_A_QUEUE
_UNIT = "ml.g5.xlarge"
_QUEUE_ARN = "arn:aws:batch:us-east-1:111122223333:job-queue/gpus"
_GOAL = 1.3
_Share = batch.CfnQuotaShare


def measure() -> Iterator[Measurement]:
    """Measure building and synthesizing an app of hundreds of shares, with all that a CDK app does by default."""
    with TemporaryDirectory() as directory:
        for name, builders in {
            "in queues of 20": (_queues, _queues_of_l1),
            "alone": (_shares, _shares_of_l1, _shares_of_smallest_l2),
        }.items():
            synthesize = [partial(_synthesize, build, directory) for build in builders]
            for warm_up in synthesize:
                warm_up()
            ours, l1, *smallest_l2 = (seconds / _SHARES * 1000 for seconds in fastest(*synthesize, rounds=8))
            met = ours <= _GOAL * l1
            yield Measurement(f"quota share, {name}", ours, "ms", l1, "the same in L1", f"at most {_GOAL} times", met)
            for smallest in smallest_l2:
                yield Measurement(f"quota share, {name}", ours, "ms", smallest, "a bare Resource around the same L1")


def _synthesize(build: Callable[[Stack], None], directory: str) -> None:
    app = App(outdir=directory)
    build(Stack(app, "Stack"))
    app.synth()


def _queues(stack: Stack) -> None:
    for number in range(_QUEUES):
        gpus = QuotaManagedQueue(stack, f"Gpus{number}", capacity_limits={_UNIT: _SHARES_OF_A_QUEUE})
        for share in range(_SHARES_OF_A_QUEUE):
            gpus.add_quota_share(
                f"Share{share}",
                capacity_limits={_UNIT: 1},
                resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
                in_share_preemption=True,
            )


def _queues_of_l1(stack: Stack) -> None:
    for number in range(_QUEUES):
        scope = Construct(stack, f"Gpus{number}")
        policy = batch.CfnSchedulingPolicy(
            scope,
            "SchedulingPolicy",
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy="FIFO"
            ),
        )
        environment = batch.CfnServiceEnvironment(
            scope,
            "ServiceEnvironment",
            service_environment_type="SAGEMAKER_TRAINING",
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=_UNIT, max_capacity=_SHARES_OF_A_QUEUE)
            ],
        )
        queue = batch.CfnJobQueue(
            scope,
            "JobQueue",
            job_queue_type="SAGEMAKER_TRAINING",
            priority=1,
            scheduling_policy_arn=policy.attr_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1, service_environment=environment.attr_service_environment_arn
                )
            ],
        )
        before = None
        arn = queue.attr_job_queue_arn
        for share in range(_SHARES_OF_A_QUEUE):
            resource = _share_of_l1(scope, f"Share{share}", arn, f"Share{share}")
            if before is not None:
                resource.add_resource_dependency(before)
            before = resource


def _shares(stack: Stack) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", _QUEUE_ARN)
    for number in range(_SHARES):
        QuotaShare(
            stack,
            f"Share{number}",
            job_queue=queue,
            capacity_limits={_UNIT: 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
            in_share_preemption=True,
        )


def _shares_of_l1(stack: Stack) -> None:
    for number in range(_SHARES):
        _share_of_l1(stack, f"Share{number}", _QUEUE_ARN, f"Share{number}")


def _shares_of_smallest_l2(stack: Stack) -> None:
    for number in range(_SHARES):
        _SmallestL2(stack, f"Share{number}")


class _SmallestL2(Resource):
    """The least that an L2 can be in Python: two constructs, so two trips to CDK's process in place of one."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, physical_name=id)
        _share_of_l1(self, "Resource", _QUEUE_ARN, id)


def _share_of_l1(scope: Construct, id: str, queue_arn: str, name: str) -> batch.CfnQuotaShare:
    return _Share(
        scope,
        id,
        job_queue=queue_arn,
        quota_share_name=name,
        capacity_limits=[_Share.QuotaShareCapacityLimitProperty(capacity_unit=_UNIT, max_capacity=1)],
        preemption_configuration=_Share.QuotaSharePreemptionConfigurationProperty(in_share_preemption="ENABLED"),
        resource_sharing_configuration=_Share.QuotaShareResourceSharingConfigurationProperty(
            strategy="LEND_AND_BORROW", borrow_limit=200
        ),
    )
