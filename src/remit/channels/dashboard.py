"""The dashboard channel: storing a message delivers it."""

from typing import Final

from remit.model.delivery import Accepted, Answer, Parcel, SendGuarantee


class DashboardChannel:
    name: Final = "dashboard"
    guidance: Final = "Your deliverable will be shown on the dashboard. Full markdown is supported."
    most: Final = 100_000
    keeps: Final = SendGuarantee.TRANSACTION

    async def send(self, parcel: Parcel) -> Answer:
        return Accepted(parcel.key)
