"""A notice as JSON for programs and the terminal."""

from remit.model.codec import JsonMap, stamp
from remit.model.conversation import Notice


def notice(each: Notice) -> JsonMap:
    telling = each.telling
    return {
        "id": each.id,
        "kind": telling.news.value,
        "way": each.way,
        "state": each.state.value,
        "title": telling.title,
        "line": telling.line,
        "href": telling.href,
        "taskId": telling.task_id,
        "seq": telling.seq,
        "at": stamp(each.made),
        "dueAt": stamp(each.due) if each.due else None,
        "toldAt": stamp(each.told) if each.told else None,
        "attempts": each.attempts,
        "channel": each.over,
        "receipt": each.receipt,
        "why": each.why,
    }
