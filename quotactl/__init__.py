"""Check, predict, run on your machine and operate the GPU quotas of AWS Batch: the command line ``quotactl``.

Nothing here imports aws_cdk, and each command imports what it needs when it runs: the start costs milliseconds.
"""
