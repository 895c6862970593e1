"""A team that uses a quota share which somebody else owns."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import Acknowledgment, CfnOutput, Duration, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct, IConstruct

from quota_constructs import IQuotaShare, QuotaShare, TrainingExecutionRole, acknowledge_batch_wildcards

MAX_PRIORITY: Final = 100
"""The highest priority that the team's jobs may have."""


class TeamStack(Stack):
    """Roles and a workflow with which a team trains on its quota share, and on no other.

    The share is imported from the parameter that its owner publishes, so that neither stack locks the other.

    ``Submitter`` is the role that people or pipelines of the team assume. ``TrainingJob`` is a state machine that
    submits one job and waits for its end; start it with::

        {
          "jobName": "train-42",
          "schedulingPriority": 10,
          "trainingJob": {"TrainingJobName": "...", "AlgorithmSpecification": {}, "ResourceConfig": {}}
        }

    ``trainingJob`` is a CreateTrainingJob request, to which the team's execution role is added;
    ``schedulingPriority`` can be left out and is 0 then. The execution succeeds or fails as the job does, however
    often that is preempted on its way. Stopping it does not stop the job.

    ``execution_role`` is what the training jobs run with. It may write logs and metrics; the team's buckets and images
    are added to it: ``stack.execution_role.add_output(bucket, "models/")``.

    :param share_prefix: the parameter prefix that the share is published under.
    :param team: the value of the tag ``team`` that every job carries, and that the submitter's access goes by.
    :param poll_interval: how often the state machine looks at the job; every 5 minutes by default. A look is 9 of the
        25,000 events that an execution may have, so that 5 minutes reach for 9 days of waiting and training.
    """

    execution_role: TrainingExecutionRole
    """The role that the team's training jobs run with, for the data and images that they need."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        share_prefix: str,
        team: str,
        poll_interval: Duration | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Training on a GPU quota share, for team {team}", **kwargs)
        share = QuotaShare.from_parameters(self, "Share", share_prefix)
        job_tags = {"team": team}
        self.execution_role = TrainingExecutionRole(self, "ExecutionRole")

        machine = sfn.StateMachine(
            self,
            "TrainingJob",
            query_language=sfn.QueryLanguage.JSONATA,
            definition_body=sfn.DefinitionBody.from_chainable(
                _submit_and_wait(self, share, job_tags, self.execution_role, poll_interval or Duration.minutes(5))
            ),
            comment=f"Submit a training job to the quota share of team {team} and wait for its end",
        )
        submitter = iam.Role(
            self,
            "Submitter",
            assumed_by=iam.AccountRootPrincipal(),
            description=f"Submits training jobs of team {team} to its quota share",
        )
        for role in (machine.role, submitter):
            share.grants.submit(role, max_priority=MAX_PRIORITY, job_tags=job_tags, execution_role=self.execution_role)
        # AWS ties DescribeServiceJob to no resource.
        share.grants.actions(machine.role, ["batch:DescribeServiceJob"], resource_arns=["*"])
        share.grants.manage_jobs(submitter, max_priority=MAX_PRIORITY, job_tags=job_tags)
        share.grants.view(submitter)
        machine.grant_start_execution(submitter)
        acknowledge_batch_wildcards(self)
        _acknowledge(machine, "AwsSolutions-SF1", "Step Functions keeps the events of each execution for 90 days")
        _acknowledge(machine, "AwsSolutions-SF2", "the states do nothing but call Batch, so a trace shows nothing more")

        CfnOutput(self, "SubmitterRoleArn", value=submitter.role_arn, description="Role to assume for submitting jobs")
        CfnOutput(self, "StateMachineArn", value=machine.state_machine_arn, description="Submits a job and waits")


def _acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))


def _submit_and_wait(
    scope: Construct,
    share: IQuotaShare,
    job_tags: dict[str, str],
    execution_role: iam.IRole,
    poll_interval: Duration,
) -> sfn.Chain:
    """Return the states. Step Functions has no integration of its own for service jobs, so it polls AWS's SDK."""
    submit = sfn.CustomState(
        scope,
        "Submit",
        # The task that CDK has for SDK calls would allow them without the conditions of our grants.
        state_json={
            "Type": "Task",
            "Resource": f"arn:{Stack.of(scope).partition}:states:::aws-sdk:batch:submitServiceJob",
            "Arguments": {
                "JobName": "{% $states.input.jobName %}",
                "JobQueue": share.job_queue_arn,
                "QuotaShareName": share.quota_share_name,
                "ServiceJobType": "SAGEMAKER_TRAINING",
                "SchedulingPriority": (
                    "{% $exists($states.input.schedulingPriority) ? $states.input.schedulingPriority : 0 %}"
                ),
                "ServiceRequestPayload": (
                    f"{{% $string($merge([$states.input.trainingJob, {{'RoleArn': '{execution_role.role_arn}'}}])) %}}"
                ),
                "Tags": job_tags,
            },
            "Output": {"jobId": "{% $states.result.JobId %}"},
            # Nothing else: whether a submission that ended otherwise has arrived is not known.
            "Retry": [_again_after("Batch.TooManyRequestsException", "Batch.BatchException")],
        },
    )
    look = sfn.CustomState(
        scope,
        "Look",
        state_json={
            "Type": "Task",
            "Resource": f"arn:{Stack.of(scope).partition}:states:::aws-sdk:batch:describeServiceJob",
            "Arguments": {"JobId": "{% $states.input.jobId %}"},
            "Output": {
                "jobId": "{% $states.result.JobId %}",
                "status": "{% $states.result.Status %}",
                "statusReason": "{% $exists($states.result.StatusReason) ? $states.result.StatusReason : '' %}",
            },
            "Retry": [_again_after("States.TaskFailed")],
        },
    )
    wait = sfn.Wait.jsonata(scope, "Wait", time=sfn.WaitTime.duration(poll_interval))
    ended = (
        sfn.Choice.jsonata(scope, "Ended?")
        .when(
            sfn.Condition.jsonata("{% $states.input.status = 'SUCCEEDED' %}"), sfn.Succeed.jsonata(scope, "Succeeded")
        )
        .when(
            sfn.Condition.jsonata("{% $states.input.status = 'FAILED' %}"),
            sfn.Fail.jsonata(scope, "Failed", error="TrainingJobFailed", cause="{% $states.input.statusReason %}"),
        )
        .otherwise(wait)
    )
    return sfn.Chain.start(submit).next(wait).next(look).next(ended)


def _again_after(*errors: str) -> dict[str, object]:
    """Return how to go on after an error, such as of too many calls of an account: 5 submissions a second.

    Batch's model has no error for these, and Step Functions documents no name. ``BatchException`` is what AWS's SDK for
    Java calls whatever the model lacks, a call that is denied too.
    """
    return {
        "ErrorEquals": list(errors),
        "IntervalSeconds": 2,
        "MaxAttempts": 8,
        "BackoffRate": 2,
        "JitterStrategy": "FULL",
    }
