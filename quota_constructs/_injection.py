"""Property injection: an organisation's defaults for our constructs, given in CDK's standard way.

Upstream's class decorator for it exists in TypeScript only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from aws_cdk import PropertyInjectors
from constructs import Construct

from quota_constructs._construction import expect

_Init = TypeVar("_Init", bound=Callable[..., None])
_injectors_around: WeakKeyDictionary[Construct, list[PropertyInjectors]] = WeakKeyDictionary()


def property_injectable(init: _Init) -> _Init:
    """Let the nearest property injector for the class's ``PROPERTY_INJECTION_ID`` change what ``__init__`` is given.

    The injector gets the keyword arguments as a dictionary, without those that are ``None`` and so left out, and
    returns one. Looking for injectors means asking every construct above, so it is done once for each scope: attach
    injectors before the first construct of this library is made in a scope.
    """

    @wraps(init)
    def injecting(self: Any, scope: Construct, id: str, **props: Any) -> None:
        expect(
            isinstance(scope, Construct), "scope", scope, "a construct", "give the stack, or what else it belongs to"
        )
        injectors = _injectors_around.get(scope)
        if injectors is None:
            injectors = _injectors_around[scope] = _find_injectors(scope)
        for container in injectors:
            injector = container.for_(self.PROPERTY_INJECTION_ID)
            if injector is not None:
                given = {name: value for name, value in props.items() if value is not None}
                props = injector.inject(given, id=id, scope=scope)
                break
        init(self, scope, id, **props)

    return cast("_Init", injecting)


def inherit_injectors(construct: Construct, scope: Construct) -> None:
    """Let what is defined in a construct that was made just now find the injectors that its scope has."""
    _injectors_around[construct] = _injectors_around[scope]


def _find_injectors(scope: Construct) -> list[PropertyInjectors]:
    """Return the injector containers around a scope, the nearest first."""
    around = reversed(scope.node.scopes)
    return [
        PropertyInjectors.of(construct) for construct in around if PropertyInjectors.has_property_injectors(construct)
    ]
