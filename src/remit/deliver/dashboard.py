"""The dashboard: a message is delivered by being written down."""

from typing import Final

from remit.model.delivery import Accepted, Answer, Keeps, Parcel


class Dashboard:
    name: Final = "dashboard"
    guidance: Final = "Your deliverable will be shown on the dashboard. Full markdown is supported."
    most: Final = 100_000
    keeps: Final = Keeps.TRANSACTION

    async def send(self, parcel: Parcel) -> Answer:
        return Accepted(parcel.key)
