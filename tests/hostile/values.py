"""Returned values that are no answer, or have odd values in them."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import pathlib
import re
import types
import uuid
from typing import Any, NamedTuple

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import breaks, fault, right
from tests.hostile.healthy import answer


@fault("returned str 'Eight.', which is neither a mapping")
def the_text_only(http: HttpResponse, call: Call) -> Any:
    return "Eight."


@fault("returned bytes b'{}', which is neither a mapping")
def the_bytes(http: HttpResponse, call: Call) -> Any:
    return b"{}"


@fault("returned list [")
def a_list_of_answers(http: HttpResponse, call: Call) -> Any:
    return [answer()]


@fault("returned tuple (")
def an_answer_and_a_status(http: HttpResponse, call: Call) -> Any:
    return answer(), 200


@fault("returned bool True")
def success_as_true(http: HttpResponse, call: Call) -> Any:
    return True


@fault("returned float nan")
def not_a_number(http: HttpResponse, call: Call) -> Any:
    return float("nan")


@fault("returned ellipsis Ellipsis")
def an_ellipsis(http: HttpResponse, call: Call) -> Any:
    return ...


@fault("returned NotImplementedType NotImplemented")
def not_implemented(http: HttpResponse, call: Call) -> Any:
    return NotImplemented


@fault("returned type <class 'dict'>")
def a_class(http: HttpResponse, call: Call) -> Any:
    return dict


@fault("returned function <function")
def a_function(http: HttpResponse, call: Call) -> Any:
    return answer


@fault("returned module <module")
def a_module(http: HttpResponse, call: Call) -> Any:
    return re


@fault("returned generator <generator")
def a_generator_instead_of_an_answer(http: HttpResponse, call: Call) -> Any:
    return (each for each in [answer()])


@fault("returned ValueError ValueError(")
def an_exception_instead_of_raising_it(http: HttpResponse, call: Call) -> Any:
    return ValueError("bad answer")


@fault("returned set {")
def a_set(http: HttpResponse, call: Call) -> Any:
    return {"Eight."}


@fault("returned object <object")
def an_object_without_anything(http: HttpResponse, call: Call) -> Any:
    return object()


@right
def a_simple_namespace_with_to_dict(http: HttpResponse, call: Call) -> Any:
    return types.SimpleNamespace(to_dict=answer)


@fault("returned SimpleNamespace namespace(")
def a_simple_namespace(http: HttpResponse, call: Call) -> Any:
    return types.SimpleNamespace(**answer())


@fault("returned Answer Answer(")
def a_named_tuple(http: HttpResponse, call: Call) -> Any:
    class Answer(NamedTuple):
        message: str

    return Answer("Eight.")


@right
def an_ordered_dict(http: HttpResponse, call: Call) -> Any:
    return collections.OrderedDict(answer())


@right
def a_default_dict(http: HttpResponse, call: Call) -> Any:
    return collections.defaultdict(list, answer())


@right
def a_chain_map(http: HttpResponse, call: Call) -> Any:
    return collections.ChainMap({}, answer())


@right
def a_user_dict(http: HttpResponse, call: Call) -> Any:
    return collections.UserDict(answer())


@right
def a_mapping_proxy(http: HttpResponse, call: Call) -> Any:
    return types.MappingProxyType(answer())


@right
def tuples_for_lists(http: HttpResponse, call: Call) -> Any:
    return answer(segments=tuple(answer()["segments"]))


@right
def a_deque_for_a_list_is_a_sequence_too(http: HttpResponse, call: Call) -> Any:
    return answer(segments=collections.UserList(answer()["segments"]))


@right
def a_string_enum(http: HttpResponse, call: Call) -> Any:
    class Finish(enum.StrEnum):
        STOP = "stop"

    return answer(finish_reason=Finish.STOP)


@right
def a_user_string_subclass(http: HttpResponse, call: Call) -> Any:
    class Text(str):
        __slots__ = ()

    return answer(message=Text("Eight."))


@breaks("SHP-1", "PRV-2")
def an_enum_that_is_no_text(http: HttpResponse, call: Call) -> Any:
    class Finish(enum.Enum):
        STOP = "stop"

    return answer(finish_reason=Finish.STOP)


@breaks("SHP-1", "PRV-2")
def bytes_in_the_message(http: HttpResponse, call: Call) -> Any:
    return answer(message=b"Eight.")


@breaks("SHP-1", "PRV-2")
def a_user_string(http: HttpResponse, call: Call) -> Any:
    return answer(message=collections.UserString("Eight."))


@breaks("SHP-1", "PRV-2")
def a_date(http: HttpResponse, call: Call) -> Any:
    return answer(created=datetime.datetime(2025, 1, 21, 17, 35, 52, tzinfo=datetime.UTC))


@breaks("SHP-1", "PRV-2")
def a_uuid_as_id(http: HttpResponse, call: Call) -> Any:
    return answer(id=uuid.UUID(int=1))


@breaks("SHP-1", "PRV-2")
def a_path_as_model(http: HttpResponse, call: Call) -> Any:
    return answer(model=pathlib.PurePath("deepseek-reasoner"))


@breaks("SHP-1", "PRV-2")
def a_pattern_as_message(http: HttpResponse, call: Call) -> Any:
    return answer(message=re.compile("Eight."))


@breaks("SHP-1", "PRV-2")
def a_set_of_segments(http: HttpResponse, call: Call) -> Any:
    return answer(segments={"Eight."})


@breaks("SHP-1", "PRV-2")
def a_generator_of_segments(http: HttpResponse, call: Call) -> Any:
    return answer(segments=(each for each in answer()["segments"]))


@breaks("SHP-1", "PRV-2")
def a_map_of_segments(http: HttpResponse, call: Call) -> Any:
    return answer(segments=map(dict, answer()["segments"]))


@breaks("PRV-2")
def a_function_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"retry": answer})


@breaks("PRV-2")
def an_exception_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"error": ValueError("x")})


@breaks("PRV-2")
def a_file_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"file": io.BytesIO(b"x")})


@breaks("PRV-2")
def a_memory_view(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"view": memoryview(b"x")})


@breaks("PRV-2")
def keys_that_are_tuples(http: HttpResponse, call: Call) -> Any:
    return answer(extras={(1, 2): 3})


@breaks("PRV-2")
def a_key_that_is_none(http: HttpResponse, call: Call) -> Any:
    return answer(extras={None: 3})


@breaks("PRV-2")
def a_key_that_is_bytes(http: HttpResponse, call: Call) -> Any:
    return {**answer(), b"message": "Eight."}


@right
def a_field_that_nobody_knows(http: HttpResponse, call: Call) -> Any:
    return answer(massage="Eight.")


@breaks("PRV-2")
def a_list_that_contains_itself(http: HttpResponse, call: Call) -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return answer(extras={"endless": endless})


@breaks("PRV-2")
def a_dict_that_contains_itself(http: HttpResponse, call: Call) -> Any:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    return answer(extras=endless)


@breaks("PRV-2")
def an_answer_that_contains_itself(http: HttpResponse, call: Call) -> Any:
    endless = answer()
    endless["extras"] = {"answer": endless}
    return endless


@breaks("PRV-2")
def lists_a_hundred_thousand_deep(http: HttpResponse, call: Call) -> Any:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return answer(extras={"deep": deep})


@right
def lists_a_hundred_deep(http: HttpResponse, call: Call) -> Any:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    return answer(extras={"deep": deep})


@breaks("MSG-2")
def half_an_emoji(http: HttpResponse, call: Call) -> Any:
    return answer(message="Eight\ud83d.")


@breaks("PRV-1")
def half_an_emoji_in_the_id(http: HttpResponse, call: Call) -> Any:
    return answer(id="\ude00")


@right
def half_an_emoji_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"\ud83d": "\ude00"})


@breaks("PRV-1")
def a_nul_in_the_id(http: HttpResponse, call: Call) -> Any:
    return answer(id="a-1\0")


@breaks("MSG-2")
def terminal_codes_in_the_message(http: HttpResponse, call: Call) -> Any:
    return answer(message="\x1b[2J\x1b]0;green\x07Eight.")


@breaks("MSG-2")
def the_message_in_another_normal_form(http: HttpResponse, call: Call) -> Any:
    return answer(message="Eight.\u200b")


@breaks("MSG-2")
def ten_megabytes_of_message(http: HttpResponse, call: Call) -> Any:
    return answer(message="Eight." * 1_700_000)


@right
def a_million_items_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"items": [0] * 1_000_000})


@right
def marks_of_the_line_protocol_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"done": True, "error": {"error_type": "x"}, "facts": {}, "op": "describe"})


@breaks("PRV-2")
def a_mark_of_an_odd_value_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"x": {"$llm-conformance": ["odd", "nothing"]}})


@right
def a_mark_of_bytes_that_is_malformed(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"x": {"$llm-conformance": ["bytes", 7]}})


@breaks("SHP-1")
def an_array(http: HttpResponse, call: Call) -> Any:
    return answer(segments=array.array("i", [1]))


@breaks("SHP-1")
def counts_as_texts(http: HttpResponse, call: Call) -> Any:
    return answer(usage={"prompt_tokens": "12", "completion_tokens": "30", "total_tokens": "42"})


@breaks("SHP-1", "PRV-2")
def a_fraction_of_a_token(http: HttpResponse, call: Call) -> Any:
    return answer(usage={"prompt_tokens": fractions.Fraction(12), "completion_tokens": 30, "total_tokens": 42})


@breaks("SHP-1", "PRV-2")
def a_decimal_that_signals(http: HttpResponse, call: Call) -> Any:
    return answer(usage={"prompt_tokens": decimal.Decimal("sNaN"), "completion_tokens": 30, "total_tokens": 42})


@breaks("SHP-1", "PRV-2")
def a_message_that_is_a_coroutine_function(http: HttpResponse, call: Call) -> Any:
    async def message() -> str:
        return "Eight."

    return answer(message=message)


@fault("returned", "SHP-1")
def a_class_of_a_dataclass(http: HttpResponse, call: Call) -> Any:
    @dataclasses.dataclass
    class Answer:
        message: str

    return Answer


@breaks("SHP-1", "FIN-1", "PRV-5", "RSN-1", "RSN-3", "USE-3")
def a_dataclass_with_a_few_fields(http: HttpResponse, call: Call) -> Any:
    @dataclasses.dataclass
    class Answer:
        message: str = "Eight."

    return Answer()


@fault("raised AttributeError")
def a_dataclass_whose_field_is_deleted(http: HttpResponse, call: Call) -> Any:
    @dataclasses.dataclass
    class Answer:
        message: str

    made = Answer("Eight.")
    del made.message
    return made
