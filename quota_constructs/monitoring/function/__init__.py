"""The folder that is zipped for AWS Lambda: ``quota_metrics`` is the whole function."""
