"""Map the URLs of recordings to those of the provider table.

The provider table has the documented URLs. The URL of a recording may differ: it may be that of a gateway or of a
user's own server, and some clients join base URL and path with two slashes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api, Place

# https://developers.cloudflare.com/ai-gateway/usage/providers/: the gateway passes answers on unchanged. Its own
# OpenAI-shaped endpoint, `compat`, is left out, because it translates the answers of many providers.
_CLOUDFLARE = "https://gateway.ai.cloudflare.com/v1/"
_BEHIND_CLOUDFLARE: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("https://api.anthropic.com",),
    "cerebras": ("https://api.cerebras.ai/v1", "https://api.cerebras.ai"),
    "cohere": ("https://api.cohere.com",),
    "deepseek": ("https://api.deepseek.com",),
    "google-ai-studio": ("https://generativelanguage.googleapis.com",),
    "google-vertex-ai": ("https://aiplatform.googleapis.com",),
    "grok": ("https://api.x.ai", "https://api.x.ai/v1"),
    "groq": ("https://api.groq.com/openai/v1",),
    "mistral": ("https://api.mistral.ai",),
    "openai": ("https://api.openai.com/v1",),
    "openrouter": ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
    "perplexity-ai": ("https://api.perplexity.ai",),
}

# Maps paths on users' own servers to APIs. /v1/messages is left out, because such servers count tokens differently
# there.
_OWN_SERVERS: Mapping[str, str] = {
    "/chat/completions": "http://localhost:8000/v1/chat/completions",
    "/responses": "http://localhost:8000/v1/responses",
    "/v1/completions": "http://localhost:8000/v1/completions",
    "/api/generate": "http://localhost:11434/api/generate",
    "/api/chat": "http://localhost:11434/api/chat",
}
# The URL of an answer that the provider has stored: https://platform.openai.com/docs/api-reference/responses/get and
# https://ai.google.dev/gemini-api/docs/interactions. The stored answer is the same as that of the call.
_STORED = re.compile(r"(?P<call>.+/(?:responses|interactions))/[^/?]+(?P<query>[?].*)?")

_OWN_NAMES = re.compile(r"localhost|[^.]+|.+\.(?:local|localhost|internal|lan|home\.arpa)")


@dataclass(frozen=True)
class Recognised:
    """The API to which a recorded request was sent.

    Attributes:
        api: The API.
        place: The parts of the URL.
        uri: The URL as the provider table writes it.
        is_guess: Whether only the path shows the API. Any server may have that path.
        is_stored: Whether the request fetches the answer of an earlier call.
    """

    api: Api
    place: Place
    uri: str
    is_guess: bool = False
    is_stored: bool = False


def recognise(uri: str, request: Mapping[str, Any] | None = None) -> Recognised | None:
    """Return the API to which a recorded request was sent; None if the provider table does not have it.

    `request` is the body of the request. It decides if several APIs share the URL and the model.
    """
    plain = _plain(uri)
    for spelling in (uri, plain, *_behind_cloudflare(plain)):
        known = table.recognise(spelling, request)
        if known is not None:
            return Recognised(*known, spelling)
    stored = _STORED.fullmatch(plain)
    known = stored and table.recognise(stored["call"])
    if stored and known:
        return Recognised(*known, stored["call"], is_stored=True)
    return _on_own_server(plain)


def recognise_stated(uri: str, api: Api) -> Recognised | None:
    """Return the API that a recording states; None if the path does not fit it. The host does not matter.

    The returned URL is that of the provider table.
    """
    path = urlsplit(_plain(uri)).path
    spelling = api.base_urls[0] + api.path
    known = table.recognise(spelling) if path.endswith(api.path) else None
    return known and Recognised(api, known[1], spelling, is_guess=True)


def _plain(uri: str) -> str:
    """Return a URI without the default port of its scheme, and without empty path segments."""
    location, question_mark, query = uri.partition("?")
    scheme, _, rest = location.partition("://")
    host, slash, path = rest.partition("/")
    host = host.removesuffix({"https": ":443", "http": ":80"}.get(scheme, ":"))
    return f"{scheme}://{host}{slash}{re.sub('/+', '/', path).lstrip('/')}{question_mark}{query}"


def _behind_cloudflare(uri: str) -> Iterator[str]:
    """Yield the URLs to which Cloudflare's AI Gateway may have sent a request."""
    found = re.fullmatch(rf"{re.escape(_CLOUDFLARE)}[^/]+/[^/]+/([^/]+)(/.*)", uri)
    if found is None:
        return
    provider, path = found.groups()
    for base_url in _BEHIND_CLOUDFLARE.get(provider, ()):
        yield base_url + path
    if provider == "aws-bedrock":
        service, _, rest = path.lstrip("/").partition("/")
        region, _, rest = rest.partition("/")
        domain = "api.aws" if service == "bedrock-mantle" else "amazonaws.com"
        yield f"https://{service}.{region}.{domain}/{rest}"
    if provider == "azure-openai":
        resource, _, rest = path.lstrip("/").partition("/")
        yield f"https://{resource}.openai.azure.com/openai/deployments/{rest}"
    if provider == "workers-ai":
        account = uri.removeprefix(_CLOUDFLARE).partition("/")[0]
        yield f"https://api.cloudflare.com/client/v4/accounts/{account}/ai{path}"
        yield f"https://api.cloudflare.com/client/v4/accounts/{account}/ai/run{path}"


def _on_own_server(uri: str) -> Recognised | None:
    """Return the API of a user's own server, with the URL that the provider table has for it."""
    try:
        parts = urlsplit(uri)
        is_own = _is_own(parts.hostname or "")
    except ValueError:  # not a URL with a host
        return None
    spellings = [known for path, known in _OWN_SERVERS.items() if is_own and parts.path.endswith(path)]
    known = table.recognise(spellings[0]) if spellings else None
    return known and Recognised(*known, spellings[0], is_guess=True)


def _is_own(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _OWN_NAMES.fullmatch(host) is not None
    return address.is_private or address.is_unspecified
