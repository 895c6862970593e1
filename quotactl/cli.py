"""The commands of ``quotactl``; what each does lives in a module of its own, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quotactl.local.commands import app as local

__all__ = ["app"]

app = typer.Typer(
    name="quotactl",
    no_args_is_help=True,
    # Plain help and plain errors: rich is imported where a table is printed, not to start.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"quotactl {version('quota-constructs')}")
        raise typer.Exit


@app.callback()
def quotactl(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """GPU quotas for SageMaker Training jobs on AWS Batch."""


app.add_typer(local)


@app.command()
def check(
    design: Annotated[
        Path,
        typer.Argument(
            help="A synthesized template, a cdk.out directory, or a design file in JSON or YAML.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Judge quotas before they are deployed.

    Prints each queue's quota shares, and everything in them that AWS would refuse, that can never work, or that
    is probably not meant. Exits with 0, with 1 if there is an error, and with 2 if DESIGN holds no design.
    """
    from quota_model.rules import Severity
    from quotactl.check import check as check_designs
    from quotactl.designs import UnusableInputError
    from quotactl.output import printable

    try:
        report = check_designs(design)
    except UnusableInputError as error:
        typer.echo(f"quotactl: {printable(error)}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        import json

        typer.echo(json.dumps(report.to_json(), indent=2))
    else:
        from quotactl.check_table import print_report
        from quotactl.output import console

        print_report(report, console())
    raise typer.Exit(1 if report.count(Severity.ERROR) else 0)
