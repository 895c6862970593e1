"""Run the conformance tests against a real AWS account: ``make test-aws``. Asks first."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import BotoCoreError, ClientError

_SETTINGS = {
    "QUOTACTL_CONFORMANCE_ROLE_ARN": "the role that training jobs run with",
    "QUOTACTL_CONFORMANCE_IMAGE": "a training image that has /bin/sleep, in this Region",
    "QUOTACTL_CONFORMANCE_OUTPUT": "an S3 location that the role may write to",
}
_NOTICE = """\
This runs the conformance tests in AWS account {account}, Region {region}, as {principal}.

It creates, and deletes again after each test: scheduling policies, service environments, job queues and quota shares
(free of charge), and the service-linked role AWSServiceRoleForAWSBatchWithSagemaker if there is none (it stays).
It runs about 70 SageMaker training jobs on ml.m5.large and ml.t3.medium, up to four instances at a time, for about
five minutes each: expect some two hours, and roughly 1 to 2 USD. Your quotas for these instance types must allow it.
Stopping it halfway can leave resources behind; their names begin with quotactl-test.
"""


def main() -> int:
    """Say what would happen, ask, and run."""
    missing = [f"  {name}: {what}" for name, what in _SETTINGS.items() if not os.environ.get(name)]
    if missing:
        sys.stderr.write("set these environment variables first:\n" + "\n".join(missing) + "\n")
        return 2
    try:
        session = boto3.Session()
        identity = session.client("sts").get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        sys.stderr.write(f"no AWS account to test with: {error}\n")
        return 2
    if not session.region_name:
        sys.stderr.write("no Region to test in: set AWS_DEFAULT_REGION\n")
        return 2
    account = identity["Account"]
    sys.stdout.write(_NOTICE.format(account=account, region=session.region_name, principal=identity["Arn"]))
    if not sys.stdin.isatty():
        sys.stderr.write("it asks first, and there is nobody to ask: run it in a terminal\n")
        return 2
    if input(f"\nType the account number {account} to go on: ").strip() != account:
        sys.stdout.write("nothing was done\n")
        return 1
    os.environ["QUOTACTL_CONFORMANCE"] = "aws"
    return int(pytest.main([str(Path(__file__).parent), "-v", "-rxXs"]))


if __name__ == "__main__":
    sys.exit(main())
