"""`remit notices`: recent notices and how each was sent, and a test of one way."""

from typing import Annotated, Final

from remit import settings as app_settings
from remit.cli import clock, codes, out, remit_client, words
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, flag, number_flag
from remit.model.codec import JsonMap
from remit.model.conversation import Notice, NoticeState
from remit.operations.settings_arguments import TriedWay
from remit.operations.shapes import notice_to_json
from remit.store import notices
from remit.store.read_only import open_read_only

_MOST: Final = 500
_HEADS: Final = ("WHEN", "KIND", "WAY", "STATE", "TITLE")
_WORDS: Final = {
    NoticeState.NEW: ("waits", ""),
    NoticeState.CLAIMED: ("on its way", "cyan"),
    NoticeState.SENT: ("told", "green"),
    NoticeState.UNKNOWN: ("nobody knows", "yellow"),
    NoticeState.FAILED: ("failed", "red"),
    NoticeState.DROPPED: ("not needed", "dim"),
}
_CODES: Final = {NoticeState.SENT.value: codes.DONE, NoticeState.NEW.value: codes.WAITS}

app = CommandGroup("notices")


@app.default
@app.command("ls")
def ls(
    *,
    limit: Annotated[int, number_flag("How many.", "--limit", "-n", most=_MOST)] = 20,
    json: AsJson = False,
) -> int:
    """List the notices sent to you, newest first, with channel and result."""
    with open_read_only(app_settings.load().database) as tx:
        found = notices.recent(tx, None, limit)
    content: JsonMap = {"notices": [notice_to_json(each) for _, each in found]}
    empty = "Nothing was told yet; `remit notices test WAY` tries a way out."
    return out.listing(json, content, [_row(each) for _, each in found], _HEADS, empty)


@app.command("test")
def try_out(
    way: Annotated[str, flag("conversation, push, or a channel's name.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Send a test notice over one channel, and show the result."""
    answer = remit_client.ask(TriedWay(way))
    word, style = _WORDS[NoticeState(str(answer["state"]))]
    why = f" {answer['why']}" if answer["why"] else ""
    if json:
        out.emit(answer)
    else:
        out.line(f"{answer['way']}: ", StyledText(word, style), f".{why}")
    return _CODES.get(str(answer["state"]), codes.FAILED)


def _row(each: Notice) -> list[Piece]:
    word, style = _WORDS[each.state]
    why = f" ({each.why.rstrip('.')})" if each.why and each.state is not NoticeState.SENT else ""
    when = StyledText(words.relative(each.made, clock.now()), "dim")
    return [when, each.news.value, each.way, StyledText(word, style), each.telling.title + why]
