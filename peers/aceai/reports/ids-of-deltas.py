"""Deltas of OpenAI's calls have another id than the calls.

`LLMToolCallDelta.id` and `call_id` of its segment are the id of the output item (`fc_...`), while `LLMToolCall.call_id` is the id of the call (`call_...`), documented as the "stable identifier used to correlate streaming deltas and tool outputs". The name of the tool is missing from the deltas as well.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.openai import OpenAI
from openai import AsyncOpenAI

MODEL = "gpt-5.4-2026-03-05"
SENT = b"""\
event: response.created
data: {"type":"response.created","response":{"id":"resp_08e7d6663bad9c9a016a5a650f083e81b9fbe740efe96d8ce5","object":"response","created_at":1784309007,"status":"in_progress","background":false,"completed_at":null,"error":null,"frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":"gpt-5.5-2026-04-23","moderation":null,"output":[],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"medium","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"auto","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[{"type":"function","description":"Next high tide","name":"tide","output_schema":null,"parameters":{"type":"object","properties":{"port":{"type":"string"}},"required":["port"]},"strict":true},{"type":"function","description":"Time aboard","name":"now","output_schema":null,"parameters":{"type":"object","properties":{}},"strict":true}],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":null,"user":null,"metadata":{}},"sequence_number":0}

event: response.in_progress
data: {"type":"response.in_progress","response":{"id":"resp_08e7d6663bad9c9a016a5a650f083e81b9fbe740efe96d8ce5","object":"response","created_at":1784309007,"status":"in_progress","background":false,"completed_at":null,"error":null,"frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":"gpt-5.5-2026-04-23","moderation":null,"output":[],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"medium","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"auto","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[{"type":"function","description":"Next high tide","name":"tide","output_schema":null,"parameters":{"type":"object","properties":{"port":{"type":"string"}},"required":["port"]},"strict":true},{"type":"function","description":"Time aboard","name":"now","output_schema":null,"parameters":{"type":"object","properties":{}},"strict":true}],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":null,"user":null,"metadata":{}},"sequence_number":1}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"rs_08e7d6663bad9c9a016a5a650fde1d81b9abc76ee67a6ad788","type":"reasoning","content":[],"encrypted_content":"gAAAAABqWmUP21_xYp6R3S8v1vCo5dzo7EpxqZXmP4MWpDOUaGKyEDMBJimVIaRO9ALp02QTgsqNDsqppfX8ewAdHaQkV4LfqqlYYP6OQZuS2vxOvdMAqjFCRMrRc6fm8YkAhE_2Kgx36UvnhAw-Hh9O9ZniZ9MTdvObPsh38-fnqoslDk-ZxbgxETqQSzde-Tx1O37kJ1lI","summary":[]},"output_index":0,"sequence_number":2}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"rs_08e7d6663bad9c9a016a5a650fde1d81b9abc76ee67a6ad788","type":"reasoning","content":[],"encrypted_content":"gAAAAABqWmUPXflY1TisaqKV9TuTvwRbNTzPgnLdUUAVSTEXCp2i6y7y242InzBt0Erroowy8SuoqRacDM95-wDa7F0r4y1j7W4Q5g-yeyfN66GzpL1eENQo4dFaatWhVoGMXBoj0FEpj7Rdo7deFXwNDKesLj7ZVuml2c787Ta2-D8rxrABUnUkBjv3_r9CeZVyPHAwVPUaaSZCKO9mCRbptQqZteKIw5XW6fLWnDR8ZOhI2sGhQnRIDJkxxngnOBk2yV1Zsd_q","summary":[]},"output_index":0,"sequence_number":3}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","type":"function_call","status":"in_progress","arguments":"","call_id":"call_F1AvLUArX3vUhDbwuUQcKaUM","name":"tide"},"output_index":1,"sequence_number":4}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"{\\"por","item_id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","obfuscation":"TePMyZNGPxy","output_index":1,"sequence_number":5}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"t\\":\\"Brest","item_id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","obfuscation":"kg07774","output_index":1,"sequence_number":6}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"\\"}","item_id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","obfuscation":"8QSekvnCfIUhMv","output_index":1,"sequence_number":7}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","arguments":"{\\"port\\":\\"Brest\\"}","item_id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","output_index":1,"sequence_number":8}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","type":"function_call","status":"completed","arguments":"{\\"port\\":\\"Brest\\"}","call_id":"call_F1AvLUArX3vUhDbwuUQcKaUM","name":"tide"},"output_index":1,"sequence_number":9}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"fc_08e7d6663bad9c9a016a5a65110f6581b9d1ff809a9442d328","type":"function_call","status":"in_progress","arguments":"","call_id":"call_gXM6Nsms3zXbN8lEMZxSvSbr","name":"now"},"output_index":2,"sequence_number":10}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"{}","item_id":"fc_08e7d6663bad9c9a016a5a65110f6581b9d1ff809a9442d328","obfuscation":"irYnxkYLi6kG9N","output_index":2,"sequence_number":11}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","arguments":"{}","item_id":"fc_08e7d6663bad9c9a016a5a65110f6581b9d1ff809a9442d328","output_index":2,"sequence_number":12}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"fc_08e7d6663bad9c9a016a5a65110f6581b9d1ff809a9442d328","type":"function_call","status":"completed","arguments":"{}","call_id":"call_gXM6Nsms3zXbN8lEMZxSvSbr","name":"now"},"output_index":2,"sequence_number":13}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1SijZdBHjBd9c873KDYcu27G","name":"tide"},"output_index":3,"sequence_number":14}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"{\\"por","item_id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","obfuscation":"7Ern4tDxyaB","output_index":3,"sequence_number":15}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"t\\":\\"Saint","item_id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","obfuscation":"NwC5zFr","output_index":3,"sequence_number":16}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"-Malo","item_id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","obfuscation":"2fDqZo0q6Uy","output_index":3,"sequence_number":17}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","delta":"\\"}","item_id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","obfuscation":"3ZJTDGVk5eY5Ce","output_index":3,"sequence_number":18}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","arguments":"{\\"port\\":\\"Saint-Malo\\"}","item_id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","output_index":3,"sequence_number":19}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","type":"function_call","status":"completed","arguments":"{\\"port\\":\\"Saint-Malo\\"}","call_id":"call_1SijZdBHjBd9c873KDYcu27G","name":"tide"},"output_index":3,"sequence_number":20}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_08e7d6663bad9c9a016a5a650f083e81b9fbe740efe96d8ce5","object":"response","created_at":1784309007,"status":"completed","background":false,"completed_at":1784309009,"error":null,"frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":"gpt-5.5-2026-04-23","moderation":null,"output":[{"id":"rs_08e7d6663bad9c9a016a5a650fde1d81b9abc76ee67a6ad788","type":"reasoning","content":[],"encrypted_content":"gAAAAABqWmUPXflY1TisaqKV9TuTvwRbNTzPgnLdUUAVSTEXCp2i6y7y242InzBt0Erroowy8SuoqRacDM95-wDa7F0r4y1j7W4Q5g-yeyfN66GzpL1eENQo4dFaatWhVoGMXBoj0FEpj7Rdo7deFXwNDKesLj7ZVuml2c787Ta2-D8rxrABUnUkBjv3_r9CeZVyPHAwVPUaaSZCKO9mCRbptQqZteKIw5XW6fLWnDR8ZOhI2sGhQnRIDJkxxngnOBk2yV1Zsd_q","summary":[]},{"id":"fc_08e7d6663bad9c9a016a5a651013cd81b9a92a20bda5b4c3fe","type":"function_call","status":"completed","arguments":"{\\"port\\":\\"Brest\\"}","call_id":"call_F1AvLUArX3vUhDbwuUQcKaUM","name":"tide"},{"id":"fc_08e7d6663bad9c9a016a5a65110f6581b9d1ff809a9442d328","type":"function_call","status":"completed","arguments":"{}","call_id":"call_gXM6Nsms3zXbN8lEMZxSvSbr","name":"now"},{"id":"fc_08e7d6663bad9c9a016a5a651210b781b9e9ff5eda5eeb97a0","type":"function_call","status":"completed","arguments":"{\\"port\\":\\"Saint-Malo\\"}","call_id":"call_1SijZdBHjBd9c873KDYcu27G","name":"tide"}],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"medium","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[{"type":"function","description":"Next high tide","name":"tide","output_schema":null,"parameters":{"type":"object","properties":{"port":{"type":"string"}},"required":["port"]},"strict":true},{"type":"function","description":"Time aboard","name":"now","output_schema":null,"parameters":{"type":"object","properties":{}},"strict":true}],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":{"input_tokens":120,"input_tokens_details":{"cache_write_tokens":0,"cached_tokens":0},"output_tokens":88,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":208},"user":null,"metadata":{}},"sequence_number":21}

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = OpenAI(AsyncOpenAI(api_key="key", base_url=url, max_retries=0), default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    events = [event async for event in service.stream(messages=messages)]
    deltas = {event.tool_call_delta.id for event in events if event.event_type.endswith("arguments.delta")}
    calls = {call.call_id for call in events[-1].response.tool_calls}
    return f"ids of deltas {sorted(deltas)}, of calls {sorted(calls)}", not deltas & calls


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "three function calls, each with id and call_id")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
