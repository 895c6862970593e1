"""Publishes CloudWatch metrics of one quota-managed job queue; runs on what AWS Lambda's Python runtime brings."""
