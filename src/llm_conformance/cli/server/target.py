"""Turn the options of `llm-conformance server` into the server, the conversations and the rules."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from llm_conformance.cli.command import Options, UsageError
from llm_conformance.server import plan
from llm_conformance.server import run as server_run
from llm_conformance.server.catalogue import FAMILIES, catalogue
from llm_conformance.server.conversations import CAPABILITIES, Conversation
from llm_conformance.server.plan import Target
from llm_conformance.wording import did_you_mean

CLAIMED_BY_OPTIONS = {"keys": "--key-env", "context": "--context"}
"""Maps each capability that an option claims to this option. `--capabilities` does not take these names."""
_LAST_PORT = 65535
_LONGEST_S = 24 * 60 * 60
_LARGEST_CONTEXT = 10_000_000
"""The highest value of `--context`, in tokens.

To exceed the context, the suite sends a word of five bytes for each token.
"""


def free_capabilities() -> list[str]:
    """Return the capabilities that `--capabilities` takes."""
    return [name for name in CAPABILITIES if name not in CLAIMED_BY_OPTIONS]


def target_of(options: Options) -> Target:
    """Return the server. Raises UsageError."""
    if options.replay is not None:
        given = [name for name in ("url", "model", "key_env", "keep") if getattr(options, name)]
        if given or options.capabilities or options.dry_run:
            raise UsageError("--replay judges what is kept; give neither a URL, nor what is about asking a server")
        return server_run.load_target(options.replay)
    if options.url is None or not _is_base_url(options.url):
        raise UsageError(
            "give the base URL of the server, such as http://localhost:8080/v1, without a user, a query and "
            "a fragment; --key-env names the environment variable that has the key"
        )
    if options.model is None:
        raise UsageError("--model is missing: the name of the model in requests")
    for name in ("timeout", "max_tokens", "max_calls"):
        if getattr(options, name) <= 0:
            raise UsageError(f"--{name.replace('_', '-')}={getattr(options, name):g}: must be more than 0")
    if not options.timeout <= _LONGEST_S:
        raise UsageError(f"--timeout={options.timeout:g}: must be at most a day, {_LONGEST_S} s")
    if not 0 <= options.context <= _LARGEST_CONTEXT:
        raise UsageError(f"--context={options.context}: must be from 0 to {_LARGEST_CONTEXT:,}")
    return Target(
        url=options.url.rstrip("/"),
        api=options.api,
        model=options.model,
        claims=_claims(options),
        max_tokens=options.max_tokens,
        token_limit=options.token_limit,
        params=_json_object("--params", options.params),
        reasoning_params=_json_object("--reasoning-params", options.reasoning_params),
        context=options.context,
    )


def _is_base_url(url: str) -> bool:
    try:
        parts = httpx.URL(url)
        parts.raw_host.decode("ascii").encode("idna")  # like the look-up of the address
        has_place = bool(parts.host) and (parts.port is None or 0 < parts.port <= _LAST_PORT)
    except (httpx.InvalidURL, UnicodeError):
        return False
    return parts.scheme in ("http", "https") and has_place and not (parts.query or parts.fragment or parts.userinfo)


def _claims(options: Options) -> frozenset[str]:
    free = free_capabilities()
    claims = set(free) if "all" in options.capabilities else set(options.capabilities)
    for name in sorted(claims - set(free)):
        hint = f": {CLAIMED_BY_OPTIONS[name]} claims it" if name in CLAIMED_BY_OPTIONS else did_you_mean(name, free)
        raise UsageError(f"--capabilities: {name} is none{hint}; there are {', '.join(free)}, all")
    if options.key_env is not None:
        key(options)
        claims.add("keys")
    if options.context > 0:
        claims.add("context")
    return frozenset(claims)


def key(options: Options) -> str:
    """Return the key. Raises UsageError if its environment variable is not set."""
    if options.key_env is None:
        return ""
    key = os.environ.get(options.key_env, "").strip()
    if not key:
        raise UsageError(f"--key-env={options.key_env}: this environment variable is not set")
    return key


def headers_of(options: Options) -> dict[str, str]:
    """Return the further headers of requests. Raises UsageError."""
    found = {}
    for each in options.header:
        name, equals, value = each.partition("=")
        if not (equals and re.fullmatch(r"[A-Za-z0-9-]+", name) and re.fullmatch(r"[\x20-\x7e]+", value)):
            raise UsageError("--header: write NAME=VALUE, in ASCII")
        found[name.lower()] = value
    return found


def _json_object(name: str, text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{name}: must be a JSON object")
    return value


def chosen_by(target: Target, globs: Sequence[str]) -> list[Conversation]:
    """Return the conversations that the globs name. Raises UsageError."""
    for glob in globs:
        if not plan.selected(target.api, [glob]):
            known = [each.id for each in plan.selected(target.api, ())]
            raise UsageError(
                f"--conversation={glob}: no such conversation{did_you_mean(glob, known)}: {', '.join(known)}"
            )
    return plan.selected(target.api, globs)


def rules_of(ids: Sequence[str]) -> list[str]:
    """Return the ids of rules. The name of a family stands for all of its rules."""
    known = catalogue()
    found = []
    for id in ids:
        if id not in known and id not in FAMILIES:
            raise UsageError(f"--rule={id}: no such rule{did_you_mean(id, known, 3)}; docs/servers.md lists them all")
        found += [each for each in known if id in (each, known[each].family)]
    return found
