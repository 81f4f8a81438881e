"""Which files are still referred to, on each store."""

from datetime import timedelta

from remit.model.codec import JsonMap
from remit.store import inbound
from remit.store.inbound import InboundMessage
from remit.store.messages import references
from tests.store.scene import AT, Scene

HASH = "0f" * 32


def test_the_file_of_a_message_is_referred_to_and_other_hashes_are_not(scene: Scene) -> None:
    listed: JsonMap = {"attachments": [{"name": "a.pdf", "sha256": HASH}]}
    said: JsonMap = {"text": f"the sha256 is {'1' * 64}"}
    came = [InboundMessage("m 1", "phone", listed), InboundMessage("m 2", "phone", said)]
    scene.do(inbound.take, came, AT)

    found = scene.do(references, AT + timedelta(days=1))
    assert found == (frozenset({HASH}), frozenset())
