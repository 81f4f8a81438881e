"""The dashboard channel: storing a message delivers it."""

from typing import Final

from remit.model.delivery import Accepted, Answer, Parcel, SendGuarantee
from remit.model.task_file import FileLimits


class DashboardChannel:
    name: Final = "dashboard"
    guidance: Final = "Your deliverable will be shown on the dashboard. Full markdown is supported."
    most: Final = 100_000
    keeps: Final = SendGuarantee.TRANSACTION
    files: Final = FileLimits(16_000_000, 100_000_000)

    async def send(self, parcel: Parcel) -> Answer:
        return Accepted(parcel.key)
