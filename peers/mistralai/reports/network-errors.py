"""mistralai 3.7.0: network errors are not those that its README says to catch.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import importlib.metadata
import socket
import sys
import traceback

from mistralai.client import Mistral


def main():
    """Return the exit code."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]  # nothing listens there once this is closed
    readme = importlib.metadata.metadata("mistralai").get_payload()
    documented = [name for name in ("httpx2.RequestError", "httpx.RequestError") if f"[`{name}`]" in readme]
    client = Mistral(api_key="key", server_url=f"http://127.0.0.1:{port}", retry_config=None)
    try:
        client.chat.complete(model="mistral-small-latest", messages=[{"role": "user", "content": "Hello"}])
    except Exception as error:
        bases = {f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__}
        if not documented or bases & set(documented) or "Mistral" in str(bases):
            print(f"mended: {error!r}; the README says {documented}")
            return 0
        if "httpx2.RequestError" not in bases:
            raise
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}, a subclass of httpx2.RequestError")
        print(f"documented, under Error Handling: {documented[0]}")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
