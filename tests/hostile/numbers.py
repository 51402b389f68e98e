"""Numbers of other libraries, and values that are no numbers. Classes imitate the types of the libraries."""

from __future__ import annotations

import decimal
import numbers
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import breaks, fault, right
from tests.hostile.healthy import answer, usage


class Int64:
    """An integer as numpy has it: no `int`, but an index."""

    def __index__(self) -> int:
        return 12

    def __int__(self) -> int:
        return 12

    def __eq__(self, other: object) -> bool:
        return other == 12

    def __hash__(self) -> int:
        return 12


Int64.__module__ = "numpy"
Int64.__qualname__ = "int64"


class Array:
    """An array as numpy has it: a comparison with it gives an array, which is neither true nor false."""

    def __eq__(self, other: object) -> Any:
        return Array()

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous")

    def __len__(self) -> int:
        return 2


class Float64(float):
    """A float as numpy has it: a subclass of `float`."""

    def __repr__(self) -> str:
        return "np.float64(12.0)"


class Boolean:
    """A truth value as numpy has it."""

    def __bool__(self) -> bool:
        return True


@breaks("SHP-1", "PRV-2")
def a_numpy_integer_as_a_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=Int64()))


@breaks("SHP-1", "PRV-2")
def a_numpy_array_as_message(http: HttpResponse, call: Call) -> Any:
    return answer(message=Array())


@breaks("SHP-1", "PRV-2")
def a_numpy_array_as_id(http: HttpResponse, call: Call) -> Any:
    return answer(id=Array())


@breaks("SHP-1", "PRV-2")
def a_numpy_array_as_segments(http: HttpResponse, call: Call) -> Any:
    return answer(segments=Array())


@fault("returned Array <")
def a_numpy_array_as_answer(http: HttpResponse, call: Call) -> Any:
    return Array()


@right
def a_float_of_a_subclass_that_is_whole_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"score": Float64(12.0)})


@breaks("PRV-2")
def a_numpy_boolean(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"cached": Boolean()})


@breaks("SHP-1")
def a_truth_value_as_a_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(cached_tokens=False))


@right
def an_integer_subclass_as_a_count(http: HttpResponse, call: Call) -> Any:
    class Count(int):
        def __eq__(self, other: object) -> bool:
            raise ValueError("no comparison")

        def __hash__(self) -> int:
            raise ValueError("no hash")

    return answer(usage=usage(prompt_tokens=Count(12)))


@breaks("SHP-1", "PRV-2")
def a_decimal_as_a_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=decimal.Decimal(12)))


@breaks("SHP-1")
def a_float_as_a_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=12.5))


@breaks("SHP-1", "PRV-2")
def a_count_that_is_no_number(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=float("nan")))


@breaks("SHP-1", "PRV-2")
def an_infinite_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=float("inf")))


@breaks("SHP-1")
def a_negative_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=-1))


@breaks("SHP-1", "PRV-2")
def a_count_of_five_thousand_digits(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=10**5000))


@breaks("USE-3")
def a_count_of_a_thousand_digits(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=10**1000))


@breaks("PRV-2")
def five_thousand_digits_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"digits": 10**5000})


@breaks("PRV-2")
def a_float_without_end_in_extras(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"score": float("inf")})


@breaks("SHP-1", "PRV-2")
def a_complex_count(http: HttpResponse, call: Call) -> Any:
    return answer(usage=usage(prompt_tokens=12 + 0j))


@breaks("SHP-1", "PRV-2")
def a_number_by_registration(http: HttpResponse, call: Call) -> Any:
    class Registered:
        pass

    numbers.Integral.register(Registered)
    return answer(usage=usage(prompt_tokens=Registered()))


@right
def a_status_code_that_is_huge(http: HttpResponse, call: Call) -> Any:
    return answer(extras={"status": 2**63})
