"""Services other than models, whose calls are recorded beside those of a model. They are recognised by URL or request.

Recordings of their calls are not judged. The summary of a run counts them by service, so that nobody takes the services
for APIs that are missing from the provider table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

_BY_PATH: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "embeddings": r"/(embeddings?|embed)$|:(batchE|e)mbedContents?$|[/.-]embed(ding)?[^/]*(:predict|/invoke)$",
        "reranking": r"/rerank$|/model/[^/]*rerank[^/]*/invoke$",
        "counts of tokens": r"/responses/input_tokens$|/messages/count_tokens$|:countTokens$|/(de)?tokenize$",
        "images": r"/images/(generations|edits|variations)$",
        "audio": r"/audio/(transcriptions|translations|speech)$",
        "moderation": r"/moderations$|/guardrail/[^/]+/version/[^/]+/apply$",
        "batches": r"/v1/(messages/)?batches(/|$)",
        "files": r"/v1(beta)?/(files|uploads)(/|$)",
        "lists of models": r"/(foundation-)?models$|/v1/models/[^/:]+$|/api/(show|tags|ps|models/.+)$",
        "assistants and threads": r"/v1/(assistants|threads)(/|$)",
        "stores for searches": r"/v1/vector_stores(/|$)",
        "traces and telemetry": r"/(traces|tracing|telemetry)(/|$)",
        "calls between agents": r"/mcp/?$|/\.well-known/agent(-card)?\.json$",
    }.items()
}
_BY_HOST: Mapping[str, re.Pattern[str]] = {
    "agents and knowledge bases": re.compile(r"bedrock-agent-runtime\."),
    "signing in": re.compile(r"(oauth2|oidc|portal\.sso)\."),
    "traces and telemetry": re.compile(r"telemetry\."),
}


def service_at(uri: str, request: Mapping[str, Any]) -> str | None:
    """Return the name of the service to which a request was sent; None if it may be a call of a model.

    JSON-RPC, which agents and tools use (A2A, MCP), may have any URL. So it is recognised by the request.
    """
    if "jsonrpc" in request:
        return "calls between agents"
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:  # not a URL with a host
        return None
    by_host = (name for name, pattern in _BY_HOST.items() if pattern.match(host))
    by_path = (name for name, pattern in _BY_PATH.items() if pattern.search(unquote(parts.path)))
    return next(by_host, None) or next(by_path, None)
