"""ollama 0.6.3: a refused connection is a ConnectionError, but with `stream=True` httpx's ConnectError.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import socket
import sys
import traceback

import ollama


def main():
    """Return the exit code."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]  # nothing listens there once this is closed
    seen = []
    for stream in (False, True):
        try:
            list(
                ollama.Client(f"http://127.0.0.1:{port}").chat("m", [{"role": "user", "content": "Hi"}], stream=stream)
            )
        except Exception as error:
            seen.append(f"{type(error).__module__}.{type(error).__qualname__}")
    if seen == ["builtins.ConnectionError", "builtins.ConnectionError"]:
        print("mended: both are a ConnectionError")
        return 0
    if seen != ["builtins.ConnectionError", "httpx.ConnectError"]:
        raise AssertionError(seen)
    print(f"seen: {seen[0]}, and with stream=True {seen[1]}")
    print("expected: the same for both")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
