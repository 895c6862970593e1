"""CloudFormation templates as they come: one file, or all of a cloud assembly, each with what is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quotactl.designs.documents import JsonObject, UnusableInputError, read_document

__all__ = ["Template", "read_assembly", "read_template"]

_NESTED_STACK = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, eq=False)
class Template:
    """A synthesized template and the stack it is for.

    ``account`` and ``region`` are ``None`` for a stack that can go anywhere; ``name`` is the stack's name once
    deployed, ``None`` if only a deployment decides it. A nested stack has a ``parent``, which gives its
    parameters their ``arguments``.
    """

    file: Path
    body: JsonObject
    name: str | None = None
    account: str | None = None
    region: str | None = None
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    parent: Template | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    nested: dict[str, Template] = field(default_factory=dict)

    def section(self, name: str) -> JsonObject:
        """Return a top-level section such as ``Resources``; what is not an object counts as empty."""
        value = self.body.get(name)
        return value if isinstance(value, dict) else {}

    def resources(self) -> Iterator[tuple[str, str, JsonObject]]:
        """Yield logical id, type and definition of each resource."""
        for logical_id, resource in self.section("Resources").items():
            if isinstance(resource, dict) and isinstance(resource.get("Type"), str):
                yield logical_id, resource["Type"], resource

    def construct_path(self, logical_id: str) -> str | None:
        """Return the path of the construct that a resource comes from, if the CDK wrote it down."""
        path = _object(_object(self.section("Resources").get(logical_id)).get("Metadata")).get("aws:cdk:path")
        return path if isinstance(path, str) else self.construct_paths.get(logical_id)


def read_template(file: Path, body: JsonObject) -> list[Template]:
    """Return the template of one file, with its nested stacks where the CDK has put them beside it."""
    template = Template(file, body)
    return [template, *_nested_templates(template, {})]


def read_assembly(directory: Path) -> list[Template]:
    """Return the templates of all stacks of a cloud assembly (``cdk.out``), of its stages and nested stacks too.

    Raises :class:`UnusableInputError`.
    """
    manifest_file = directory / "manifest.json"
    if not manifest_file.exists():
        raise UnusableInputError(
            f"{directory} has no manifest.json, so it is no cloud assembly; run `cdk synth`, and name its output (cdk.out)"
        )
    manifest = read_document(manifest_file)
    artifacts = _object(_object(manifest).get("artifacts"))
    templates: list[Template] = []
    for artifact_id, artifact in artifacts.items():
        properties = _object(_object(artifact).get("properties"))
        match _object(artifact).get("type"):
            case "aws:cloudformation:stack":
                templates += _stack_templates(directory, artifact_id, artifact, properties)
            case "cdk:cloud-assembly":
                templates += read_assembly(_beside(manifest_file, properties.get("directoryName")))
    return templates


def _stack_templates(directory: Path, artifact_id: str, artifact: JsonObject, properties: JsonObject) -> list[Template]:
    manifest_file = directory / "manifest.json"
    file = _beside(manifest_file, properties.get("templateFile"))
    body = read_document(file)
    if not isinstance(body, dict):
        raise UnusableInputError(f"{file} is not a template; run `cdk synth` again")
    name = properties.get("stackName", artifact_id)
    account, region = _environment(artifact.get("environment"))
    metadata = _object(artifact.get("metadata"))
    if isinstance(artifact.get("additionalMetadataFile"), str):
        metadata = {**_object(read_document(_beside(manifest_file, artifact["additionalMetadataFile"]))), **metadata}
    paths = _construct_paths(metadata)
    template = Template(file, body, name if isinstance(name, str) else None, account, region, paths)
    return [template, *_nested_templates(template, _file_assets(directory, artifact_id))]


def _beside(manifest_file: Path, name: object) -> Path:
    """Return the path of a file that a manifest names; it must lie in or below the manifest's directory."""
    if not isinstance(name, str) or not _is_below(name):
        raise UnusableInputError(
            f"{manifest_file} names {name!r} where a file beside it belongs; run `cdk synth` again"
        )
    return manifest_file.parent / name


def _is_below(name: str) -> bool:
    path = Path(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _environment(value: object) -> tuple[str | None, str | None]:
    """Split ``aws://account/region``; what the CDK calls unknown is ``None``."""
    account, _, region = str(value).removeprefix("aws://").partition("/")
    known_account = account if account.isdigit() else None
    return known_account, region if region and region != "unknown-region" else None


def _construct_paths(metadata: JsonObject) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for path, entries in metadata.items():
        for entry in entries if isinstance(entries, list) else ():
            if _object(entry).get("type") == "aws:cdk:logicalId" and isinstance(entry.get("data"), str):
                found.setdefault(entry["data"], []).append(path.removeprefix("/"))
    # A nested stack's resources stand here too, and may have the same logical id as one of the stack's own.
    return {logical_id: paths[0] for logical_id, paths in found.items() if len(paths) == 1}


def _file_assets(directory: Path, artifact_id: str) -> dict[str, str]:
    """Return the file of each asset of a stack by the asset's hash."""
    file = directory / f"{artifact_id}.assets.json"
    if not file.exists():
        return {}
    assets = _object(_object(read_document(file)).get("files"))
    paths = {key: _object(_object(asset).get("source")).get("path") for key, asset in assets.items()}
    return {key: path for key, path in paths.items() if isinstance(path, str)}


def _nested_templates(parent: Template, assets: dict[str, str]) -> Iterator[Template]:
    for logical_id, kind, resource in parent.resources():
        file = _nested_file(parent.file, resource, assets) if kind == _NESTED_STACK else None
        if file is None or file in _files_above(parent):
            continue
        body = read_document(file)
        if not isinstance(body, dict):
            raise UnusableInputError(f"{file} is not a template; run `cdk synth` again")
        nested = Template(
            file,
            body,
            account=parent.account,
            region=parent.region,
            parent=parent,
            arguments=_object(_object(resource.get("Properties")).get("Parameters")),
        )
        parent.nested[logical_id] = nested
        yield nested
        yield from _nested_templates(nested, assets)


def _nested_file(parent_file: Path, resource: JsonObject, assets: dict[str, str]) -> Path | None:
    """Return the template of a nested stack: the CDK names it in the metadata, and its hash ends the URL."""
    name = _object(resource.get("Metadata")).get("aws:asset:path")
    if not isinstance(name, str):
        url = _last_text(_object(resource.get("Properties")).get("TemplateURL"))
        name = assets.get(url.rpartition("/")[2].partition(".")[0])
    if name is None or not _is_below(name):
        return None
    file = parent_file.parent / name
    return file if file.is_file() else None


def _last_text(value: object) -> str:
    """Return the last literal of a URL that is a text or a join of texts."""
    while isinstance(value, list | dict) and value:
        value = value[-1] if isinstance(value, list) else value.get("Fn::Join", value.get("Fn::Sub"))
    return value if isinstance(value, str) else ""


def _files_above(template: Template) -> Iterator[Path]:
    above: Template | None = template
    while above is not None:
        yield above.file
        above = above.parent


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
