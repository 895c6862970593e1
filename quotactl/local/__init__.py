"""AWS on your machine: a local AWS on 127.0.0.1 in which quota-managed SageMaker Training queues work.

ministack (the extra ``[local]``) brings CloudFormation, IAM, S3, EventBridge and the rest; Batch's side of it and
the part of SageMaker that Batch touches are here. What decides which job runs is :mod:`quota_model.scheduler`,
what refuses a design is :mod:`quota_model.rules`.

``aws.py`` is the whole without any server: it can be called from a test. ``server.py`` serves it.
"""
