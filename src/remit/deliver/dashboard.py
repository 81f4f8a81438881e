"""The dashboard: a message is delivered by being written down."""

from typing import Final

from remit.model.delivery import Accepted, Answer, Keeps, Parcel


class Dashboard:
    name: Final = "dashboard"
    guidance: Final = "It will be shown on the owner's dashboard. Full markdown is fine."
    most: Final = 100_000
    keeps: Final = Keeps.TRANSACTION

    async def send(self, parcel: Parcel) -> Answer:
        return Accepted(parcel.key)
