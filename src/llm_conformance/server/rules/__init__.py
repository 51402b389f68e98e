"""The rules about servers of OpenAI's chat completions. `WIRE` is about what is sent, `SRV` about what is done."""
