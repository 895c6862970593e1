"""The part of Amazon SageMaker that Batch touches: training jobs and training plans."""
