"""The stacks of the example: quotas for three kinds of work, on shared and on reserved capacity."""
