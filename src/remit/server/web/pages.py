"""The table of all pages, and the error page."""

from typing import Final

from starlette.responses import Response

from remit.server.problem import KINDS, Problem
from remit.server.web import (
    bulk,
    conversations,
    env,
    front,
    inbox,
    notices_acts,
    refused,
    saved,
    schedule,
    settings,
    settings_acts,
    task,
    task_acts,
    task_edit,
    tasks,
)

ROUTES: Final = (
    *front.ROUTES,
    *inbox.ROUTES,
    *conversations.ROUTES,
    *tasks.ROUTES,  # before the pages of one task: `/tasks/tabs` is none
    *saved.ROUTES,
    *bulk.ROUTES,
    *schedule.ROUTES,
    *refused.ROUTES,
    *task.ROUTES,
    *task_acts.ROUTES,
    *task_edit.ROUTES,
    *settings.ROUTES,
    *settings_acts.ROUTES,
    *notices_acts.ROUTES,
)


def trouble(problem: Problem) -> Response:
    """Return a problem as a page: what is wrong, and the way back."""
    status, title = KINDS[problem.name]
    values = {"title": title, "detail": problem.detail, "status": status}
    html = env.render("pages/problem.html", values)
    return Response(html, status, headers=dict(problem.headers), media_type="text/html")
