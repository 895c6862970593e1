"""What things cost, each figure against a reference measured in the same run: ``python -m benchmarks``.

A benchmark is a module here with a function ``measure() -> Iterable[Measurement]``; it is found by its name.
"""
