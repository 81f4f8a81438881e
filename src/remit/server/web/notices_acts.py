"""Form handlers of the notice settings, and a test notice."""

from typing import Final, cast

from remit.errors import BadInput
from remit.model.notice import Notice
from remit.operations import upkeep
from remit.operations.settings_arguments import NoticesForm, TriedWay
from remit.operations.table import perform
from remit.server.bodies import model_of
from remit.server.call import Call, CallResult, form
from remit.server.web import notices_section, settings

_OUTDONE: Final = "Kept in settings.toml, but a variable of the environment counts instead."


async def save(call: Call) -> CallResult:
    """Write the wishes into settings.toml; they hold from now on."""
    try:
        kept = await perform(call, call.arguments(NoticesForm))
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    said = upkeep.SAVE_NOTICES.sentence if kept.content["holds"] else _OUTDONE
    return await settings.section(call, "notices", {"said": said})


async def try_out(call: Call) -> CallResult:
    """Tell over one way that this is a test, and say how that went."""
    try:
        sent = await perform(call, call.arguments(TriedWay))
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    notice = cast("Notice", sent.value)
    told = notices_section.test_result_sentence(notice, notices_section.ways(call))
    return await settings.section(call, "notices", {"said": told})


ROUTES: Final = (
    form(
        "/settings/notices", save, "What is told where", model_of(NoticesForm), upkeep.SAVE_NOTICES
    ),
    form(
        "/settings/notices/test", try_out, "Try a way out", model_of(TriedWay), upkeep.TEST_NOTICE
    ),
)
