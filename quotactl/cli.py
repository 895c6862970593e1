"""The commands of ``quotactl``; what each does lives in a module of its own, imported when it runs."""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    name="quotactl",
    help="GPU quotas of AWS Batch: judge a design before it is deployed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _quotactl() -> None:
    pass


@app.command()
def check(design: str) -> None:
    """Judge the quotas of a template, a cdk.out or a design file."""
