"""The local AWS Batch: quota-managed SageMaker Training queues and their service jobs."""
