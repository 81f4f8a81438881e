"""Bare loops: the same requests to the same providers, with nothing that makes a send safe."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosmtplib
import httpx2

from bench.measure import WARM_UP, Measurement, Stopwatch, require_count
from bench.ours.courier import IN_FLIGHT, TEXT, sends
from tests.channels.mail import mail
from tests.channels.whatsapp import whatsapp
from tests.live import loopback


def run_http(size: int, home: Path) -> Measurement:
    del home
    return asyncio.run(_run_http(size))


def run_smtp(size: int, home: Path) -> Measurement:
    del home
    return asyncio.run(_run_smtp(size))


async def _run_http(size: int) -> Measurement:
    async with whatsapp.Provider() as provider, httpx2.AsyncClient() as client:
        url = f"{provider.url}/{whatsapp.NUMBER_ID}/messages"
        headers = {"authorization": f"Bearer {whatsapp.TOKEN}"}

        async def send(number: int) -> None:
            fields = {
                "messaging_product": "whatsapp",
                "to": whatsapp.PERSON,
                "type": "text",
                "text": {"body": TEXT},
                "biz_opaque_callback_data": str(number),
            }
            (await client.post(url, json=fields, headers=headers)).raise_for_status()

        watch = await _timed(size, send)
        require_count("accepted", len(provider.accepted), size + WARM_UP)
    return sends(watch, size, {"in_flight": IN_FLIGHT})


async def _run_smtp(size: int) -> Measurement:
    async with mail.PostOffice() as office:

        async def send(number: int) -> None:
            letter = (
                f"From: {mail.USER}\r\nTo: {mail.USER}\r\nMessage-ID: <{number}@x>\r\n\r\n{TEXT}"
            )
            await aiosmtplib.send(
                letter.encode(),
                sender=mail.USER,
                recipients=[mail.USER],
                hostname=loopback.HOST,
                port=office.port,
            )

        watch = await _timed(size, send)
        require_count("accepted", len(office.accepted), size + WARM_UP)
    return sends(watch, size, {"in_flight": IN_FLIGHT})


async def _timed(size: int, send: Callable[[int], Awaitable[None]]) -> Stopwatch:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one(number: int) -> None:
        async with gate:
            await send(number)

    await asyncio.gather(*map(one, range(WARM_UP)))
    watch = Stopwatch()
    with watch:
        await asyncio.gather(*map(one, range(WARM_UP, WARM_UP + size)))
    return watch
