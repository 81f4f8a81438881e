"""A notice as JSON for programs and the terminal."""

from remit.model.codec import JsonMap, stamp
from remit.model.notice import Notice


def notice(each: Notice) -> JsonMap:
    told = each.telling
    return {
        "id": each.id,
        "kind": told.news.value,
        "way": each.way,
        "state": each.state.value,
        "title": told.title,
        "line": told.line,
        "href": told.href,
        "taskId": told.task_id,
        "seq": told.seq,
        "at": stamp(each.made),
        "dueAt": stamp(each.due) if each.due else None,
        "toldAt": stamp(each.told) if each.told else None,
        "attempts": each.attempts,
        "channel": each.over,
        "receipt": each.receipt,
        "why": each.why,
    }
