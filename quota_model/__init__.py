"""What a quota design is, which rules it must keep, and how AWS Batch schedules jobs on it.

The ground floor of the project: it needs the standard library and nothing else.
"""
