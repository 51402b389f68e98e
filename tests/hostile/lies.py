"""Objects that lie about themselves, raise when they are looked at, or never come to an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import breaks, fault, right
from tests.hostile.healthy import answer, usage


class EqualToAll(str):
    """Says that it equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return hash("Eight.")


class Raising:
    """Raises whatever is asked of it."""

    def __init__(self, error: type[BaseException]) -> None:
        self.__dict__["error"] = error

    def __getattr__(self, name: str) -> Any:
        raise self.__dict__["error"](name)

    def __eq__(self, other: object) -> bool:
        raise self.__dict__["error"]("equal")

    def __hash__(self) -> int:
        raise self.__dict__["error"]("hash")

    def __str__(self) -> str:
        raise self.__dict__["error"]("text")

    __repr__ = __str__

    def __bool__(self) -> bool:
        raise self.__dict__["error"]("truth")


class OwnMapping(Mapping[str, Any]):
    """A mapping whose methods can be replaced."""

    def __init__(self, items: Mapping[str, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Replying:
    """An object whose `to_dict` is given."""

    def __init__(self, to_dict: Any) -> None:
        self.to_dict = to_dict


@breaks("MSG-2")
def a_wrong_message_that_equals_everything(http: HttpResponse, call: Call) -> Any:
    return answer(message=EqualToAll("Seven."))


@breaks("PRV-1")
def a_wrong_id_that_equals_everything(http: HttpResponse, call: Call) -> Any:
    return answer(id=EqualToAll("other"))


@breaks("FIN-1")
def a_wrong_finish_reason_that_equals_everything(http: HttpResponse, call: Call) -> Any:
    return answer(finish_reason=EqualToAll("length"))


@breaks("USE-3")
def a_wrong_count_that_equals_everything(http: HttpResponse, call: Call) -> Any:
    class Count(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    return answer(usage=usage(prompt_tokens=Count(7)))


@breaks("MSG-2")
def a_text_that_says_another_text(http: HttpResponse, call: Call) -> Any:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "Eight."

        def __repr__(self) -> str:
            return "'Eight.'"

        def encode(self, *_: Any) -> bytes:
            return b"Eight."

    return answer(message=Text("Seven."))


@right
def a_text_of_another_length_by_its_own_word(http: HttpResponse, call: Call) -> Any:
    class Text(str):
        __slots__ = ()

        def __len__(self) -> int:
            return 10**9

        def __iter__(self) -> Iterator[str]:
            raise ValueError("no characters")

    return answer(message=Text("Eight."))


@right
def a_text_that_cannot_be_hashed(http: HttpResponse, call: Call) -> Any:
    class Text(str):
        __slots__ = ()
        __hash__ = None  # type: ignore[assignment]

    return answer(model=Text("deepseek-reasoner"))


@fault("raised TypeError")
def an_object_that_says_it_is_a_text(http: HttpResponse, call: Call) -> Any:
    class Text:
        __class__ = str  # type: ignore[assignment]

    return answer(message=Text())


@fault("raised TypeError")
def an_object_that_says_it_is_a_dict(http: HttpResponse, call: Call) -> Any:
    class Answer:
        __class__ = dict  # type: ignore[assignment]

    return Answer()


@fault("raised AttributeError: no class")
def an_object_whose_class_cannot_be_asked(http: HttpResponse, call: Call) -> Any:
    class Answer:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise AttributeError("no class")

    return Answer()


@fault("raised SystemExit")
def an_object_whose_class_exits(http: HttpResponse, call: Call) -> Any:
    class Answer:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise SystemExit(0)

    return Answer()


@fault("raised KeyboardInterrupt")
def an_answer_that_interrupts_when_it_is_looked_at(http: HttpResponse, call: Call) -> Any:
    return Raising(KeyboardInterrupt)


@fault("raised SystemExit")
def an_answer_that_exits_when_it_is_looked_at(http: HttpResponse, call: Call) -> Any:
    return Raising(SystemExit)


@fault("raised GeneratorExit")
def an_answer_that_raises_generator_exit(http: HttpResponse, call: Call) -> Any:
    return Raising(GeneratorExit)


@fault("raised ValueError")
def an_answer_that_raises_when_it_is_looked_at(http: HttpResponse, call: Call) -> Any:
    return Raising(ValueError)


@breaks("SHP-1", "PRV-2")
def a_message_that_raises_when_it_is_looked_at(http: HttpResponse, call: Call) -> Any:
    return answer(message=Raising(ValueError))


@breaks("SHP-1", "PRV-2")
def a_message_that_exits_when_it_is_looked_at(http: HttpResponse, call: Call) -> Any:
    return answer(message=Raising(SystemExit))


@fault("raised KeyboardInterrupt")
def a_key_that_interrupts_when_it_is_printed(http: HttpResponse, call: Call) -> Any:
    class Key:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    return answer(extras={Key(): 1})


@fault("returned Answer (a Answer, whose repr raises ValueError)")
def an_answer_that_cannot_be_printed(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def __repr__(self) -> str:
            raise ValueError("no text")

    return Answer()


@fault("raised SystemExit")
def an_answer_that_exits_when_it_is_printed(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def __repr__(self) -> str:
            raise SystemExit(0)

    return Answer()


@fault("returned Answer")
def an_answer_that_prints_ten_megabytes(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def __repr__(self) -> str:
            return "x" * 10_000_000

    return Answer()


@fault("returned")
def an_answer_whose_metaclass_has_no_name(http: HttpResponse, call: Call) -> Any:
    class Meta(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]
            raise ValueError("no name")

        @property
        def __module__(cls) -> str:  # type: ignore[override]
            raise SystemExit(0)

    class Answer(metaclass=Meta):
        pass

    return Answer()


@breaks("SHP-1", "PRV-2")
def a_message_whose_metaclass_says_it_is_a_text(http: HttpResponse, call: Call) -> Any:
    class Meta(type):
        def __subclasscheck__(cls, other: Any) -> bool:
            return True

        def __instancecheck__(cls, other: Any) -> bool:
            return True

    class Text(metaclass=Meta):
        pass

    return answer(message=Text())


@fault("raised RuntimeError")
def a_mapping_whose_length_lies_and_whose_keys_raise(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __iter__(self) -> Iterator[str]:
            raise RuntimeError("no keys")

    return Own(answer())


@fault("raised KeyError")
def a_mapping_without_the_values_of_its_keys(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __getitem__(self, key: str) -> Any:
            raise KeyError(key)

    return Own(answer())


@right
def a_mapping_that_has_another_length(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __len__(self) -> int:
            return 0

    return Own(answer())


@right
def a_mapping_that_is_false(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __bool__(self) -> bool:
            return False

    return Own(answer())


@fault("did not come back within 1 s")
def a_mapping_with_endless_keys(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __iter__(self) -> Iterator[str]:
            while True:
                yield "message"

    return Own(answer())


@fault("did not come back within 1 s")
def a_sequence_without_end(http: HttpResponse, call: Call) -> Any:
    class Own(Sequence[Any]):
        def __getitem__(self, index: Any) -> Any:
            return 0

        def __len__(self) -> int:
            return 2

    return answer(segments=Own())


@right
def a_dict_whose_methods_lie(http: HttpResponse, call: Call) -> Any:
    class Own(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return super().__getitem__(key)

        def get(self, *_: Any) -> Any:
            return "something else"

        def items(self) -> Any:
            return [("message", "Seven.")]

    return Own(answer())


@fault("raised RuntimeError: dictionary changed size during iteration")
def a_dict_that_grows_while_it_is_read(http: HttpResponse, call: Call) -> Any:
    class Own(OwnMapping):
        def __iter__(self) -> Iterator[str]:
            for key in self._items:
                self._items[f"{key} again"] = 1
                yield key

    return Own(answer())


@fault("raised AttributeError: no dict")
def to_dict_that_raises(http: HttpResponse, call: Call) -> Any:
    def to_dict() -> Any:
        raise AttributeError("no dict")

    return Replying(to_dict)


@fault("which is neither a mapping")
def to_dict_that_returns_nothing(http: HttpResponse, call: Call) -> Any:
    return Replying(lambda: None)


@fault("which is neither a mapping")
def to_dict_that_returns_a_list(http: HttpResponse, call: Call) -> Any:
    return Replying(list)


@fault("raised TypeError")
def to_dict_that_needs_arguments(http: HttpResponse, call: Call) -> Any:
    return Replying(lambda exclude: answer())


@fault("raised SystemExit: 0")
def to_dict_that_exits(http: HttpResponse, call: Call) -> Any:
    def to_dict() -> Any:
        raise SystemExit(0)

    return Replying(to_dict)


@fault("raised RecursionError")
def to_dict_that_calls_itself(http: HttpResponse, call: Call) -> Any:
    def to_dict() -> Any:
        return to_dict()

    return Replying(to_dict)


@fault("which is neither a mapping")
def to_dict_that_is_asynchronous(http: HttpResponse, call: Call) -> Any:
    async def to_dict() -> Any:
        return answer()

    return Replying(to_dict)


@fault("which is neither a mapping")
def to_dict_that_is_no_method(http: HttpResponse, call: Call) -> Any:
    return Replying(answer())


@fault("raised TypeError")
def model_dump_without_its_argument(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def model_dump(self) -> Any:
            return answer()

    return Answer()


@fault("raised ZeroDivisionError")
def a_lazy_property_that_raises(http: HttpResponse, call: Call) -> Any:
    class Answer:
        @property
        def to_dict(self) -> Any:
            return 1 // 0

    return Answer()


@fault("returned Answer")
def an_object_that_has_every_attribute(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def __getattr__(self, name: str) -> Any:
            return Answer()

    return Answer()


@fault("returned Answer")
def a_mock_that_returns_itself(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def __getattr__(self, name: str) -> Any:
            return self

        def __call__(self, *_: Any, **__: Any) -> Any:
            return self

    return Answer()


@breaks("PRV-3")
def a_text_that_equals_everything_in_its_own_messages(http: HttpResponse, call: Call) -> Any:
    call.messages[0]["content"] = EqualToAll("other")
    return answer()


@breaks("PRV-3")
def a_text_that_equals_everything_as_its_own_model(http: HttpResponse, call: Call) -> Any:
    object.__setattr__(call, "model", EqualToAll("other"))
    return answer()
