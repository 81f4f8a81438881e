"""A picture that came in: a model that takes pictures is shown it, another is told why not."""

import base64
import json
from pathlib import Path

from remit.files.kept_files import KeptFiles
from remit.model.delivery import Delivery
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind, Taint
from remit.model.task_file import ATTACHMENTS, to_context
from tests.files.documents import PNG
from tests.live.place import Place, opened
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call
from tests.tables import for_each

SHOWN = base64.b64encode(PNG).decode()
READ = Call("read_file", json.dumps({"path": "photo.png"}))
SAYS = "<deliverable>A blue square.</deliverable>"
# A photo, how it is told, and whether the bytes go to the model.
PHOTOS = (
    (Place.ANTHROPIC, PNG, "photo.png is shown to you", True),
    (Place.ANTHROPIC, PNG + bytes(6_000_000), "you are shown", False),
    (Place.ANTHROPIC, b"no picture at all", "no picture at all", False),
    (Place.CHAT, PNG, "is a picture, and your model is shown none", False),
    (Place.RESPONSES, PNG, "is a picture, and your model is shown none", False),
    (Place.OLLAMA, PNG, "is a picture, and your model is shown none", False),
)


@for_each("photo", PHOTOS)
async def test_a_picture_goes_only_to_a_model_that_takes_pictures(
    tmp_path: Path, photo: tuple[Place, bytes, str, bool]
) -> None:
    place, content, told, shown = photo
    home = tmp_path / f"{place}-{len(content)}"
    async with Vendor() as vendor, opened(home, vendor, place) as world:
        vendor.orders = [Order(Answer(call=READ)), Order(Answer(SAYS))]
        kept = KeptFiles(world.app.settings.files)
        file = kept.keep_incoming("photo.png", content, Taint.OWNER.value)
        cue = Cue(
            source=Source(SourceKind.MANUAL, "came"),
            title="What is on it?",
            text="What is on it?",
            delivery=(Delivery("outbox"),),
            context={ATTACHMENTS: [to_context(file)]},
        )
        task = await world.app.intake.admit(cue)
        await world.run()
        ended = await world.get(task.id)

    first, second = (each.text for each in vendor.heard)
    assert "photo.png (" in first, "told before the work"
    assert SHOWN not in first
    assert told in second
    assert (SHOWN in second) is shown
    assert ended.status is Status.COMPLETED
