"""Faults that are the same in every wire format, over each of the other reference servers."""

from __future__ import annotations

from tests.servers.broken import answers, framing, tools
from tests.servers.broken.base import Broken
from tests.servers.messages import MessagesReference
from tests.servers.ollama import OllamaReference
from tests.servers.reference import Reference
from tests.servers.responses import ResponsesReference

FAULTS: list[type[Broken]] = [
    framing.PartsRefused,
    framing.AlwaysCompressed,
    framing.PlainAnswerBreaksOff,
    framing.StreamBreaksOff,
    framing.StreamCalledJson,
    framing.PlainAnswerCalledText,
    framing.StreamIgnored,
    framing.Latin1,
    framing.AnswerInAList,
    framing.LastEventNotEnded,
    framing.CharactersCutByBytes,
    framing.StreamWithoutEvents,
    framing.WithoutDone,
    framing.DoneTwice,
    framing.MalformedJsonIsTheServersFault,
    framing.MissingMessagesAnswered,
    framing.AnyModel,
    framing.AnyKey,
    framing.WrongKeyNotFound,
    framing.PromptCutSilently,
    framing.RefusalInsideOfAStream,
    framing.TryAgainLater,
    framing.KeyRepeated,
    framing.StreamLeftOpen,
    framing.SentAtTheEnd,
    framing.RestOfACancelledAnswer,
    answers.PromptOfStreamsNotCounted,
    answers.LimitForgotten,
    answers.StopSequenceInTheText,
    tools.ForcedCallForgotten,
    tools.OtherToolCalled,
    tools.SeveralCallsAllTheSame,
    tools.ReasoningInTheText,
]
"""They change what all reference servers do alike, so each fails the same rules."""
_SAYS = {"WithoutDone": "expected {last} at the end", "DoneTwice": "nothing behind {last}"}
_SAYS["StreamLeftOpen"] = "the end of the response behind {last}"
_SAYS["LimitForgotten"] = "at most [0-9]+ tokens; got [0-9]+ tokens"


def over(reference: type[Reference], last: str, *, without: tuple[type[Broken], ...] = ()) -> list[type[Broken]]:
    """Return the faults in the reference server of another format. `last` names the end of its streams in messages."""
    return [
        type(
            f"{reference.api.capitalize()}{fault.__name__}",
            (fault, reference),
            {"api": reference.api, "says": _SAYS.get(fault.__name__, fault.says).format(last=last)},
        )
        for fault in FAULTS
        if fault not in without
    ]


OVER_MESSAGES = over(MessagesReference, "message_stop")
OVER_RESPONSES = over(
    ResponsesReference,
    "response.completed",
    without=(  # most look into `messages`
        framing.PartsRefused,
        framing.MissingMessagesAnswered,
        framing.PromptCutSilently,
        framing.StreamLeftOpen,
        answers.StopSequenceInTheText,
        framing.DoneTwice,  # one `[DONE]` may come
    ),
)
OVER_OLLAMA = over(
    OllamaReference,
    "an object with `done: true`",
    without=(
        # they are about server-sent events
        framing.StreamCalledJson,
        framing.StreamIgnored,
        framing.LastEventNotEnded,
        framing.CharactersCutByBytes,
        framing.StreamWithoutEvents,
        framing.WithoutDone,
        framing.DoneTwice,
        framing.RefusalInsideOfAStream,
        # requests of Ollama's API have another form, or there are none of the kind
        framing.PartsRefused,
        framing.MissingMessagesAnswered,
        framing.PromptCutSilently,
        framing.TryAgainLater,
        framing.KeyRepeated,
        framing.RestOfACancelledAnswer,
        tools.ForcedCallForgotten,
        tools.OtherToolCalled,
        tools.SeveralCallsAllTheSame,
    ),
)
