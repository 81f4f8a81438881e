"""Who wrote a mail: only the owner's own server is believed, and only in its first word on it."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import sender_authentication
from remit.channels.mail.sender_authentication import VerifiedSender
from tests.tables import for_each

US: Final = "mx.example.org"
GOOD: Final = (
    f"{US}; dkim=pass header.d=bank.example; dmarc=pass (p=REJECT) header.from=bank.example"
)
BANK: Final = "Bank <info@bank.example>"


def test_what_our_server_vouches_for_is_verified() -> None:
    assert sender_authentication.sender([BANK], [GOOD], US) == VerifiedSender(
        "info@bank.example", verified=True
    )
    spaced = f"\r\n {US.upper()} 1 ;\r\n\tDMARC=PASS action=none header.From=Bank.Example"
    found = sender_authentication.sender(["INFO@BANK.EXAMPLE"], [spaced], US)
    assert found == VerifiedSender("info@bank.example", verified=True)


@for_each(
    "results",
    [
        [],
        [""],
        ["mx.evil.example; dmarc=pass header.from=bank.example", GOOD],
        [f"mx.evil.example; x=y {GOOD}"],
        [f"{US}.evil.example; dmarc=pass header.from=bank.example"],
        [f"{US}; dmarc=fail header.from=bank.example", GOOD],
        [f"{US}; dmarc=pass header.from=evil.example"],
        [f"{US}; dmarc=pass"],
        [f"{US}; dmarc=pass header.from=bank.example header.from=evil.example"],
        [f"{US}; dmarc=pass header.from=bank.example.evil.example"],
        [f"{US}; dmarc=fail; dmarc=pass header.from=bank.example"],
        [f"{US}; spf=pass smtp.mailfrom=bank.example"],
        [f"{US}; dkim=pass header.d=evil.example header.i=@bank.example"],
        [f"{US}; dkim=fail header.d=bank.example; dkim=pass header.d=evil.example"],
        [f"{US}; dkim=pass header.d=bank.example; dmarc=fail header.from=bank.example"],
        [f"{US}; dkim=pass header.d=example"],
        [f"{US}; dkim=pass header.d=k.example", "mx.evil.example; x=y", GOOD],
        [f"{US}; dkim=pass header.d=k.example", f"a.{US}; dmarc=pass header.from=bank.example"],
        [f"{US}; dmarc=pass header.from=<eve@bank.example>"],
        ["dmarc=pass header.from=bank.example"],
        [f"{US}; dmarc=none (x; dmarc=pass header.from=bank.example)"],
        [f'{US}; spf=fail smtp.mailfrom="x; dmarc=pass header.from=bank.example"@evil.example'],
        [f'{US}; x="; dmarc=pass header.from=bank.example;'],
        [f"({US}) mx.evil.example; dmarc=pass header.from=bank.example"],
        [f"{US}; xdmarc=pass header.from=bank.example"],
        [f"{US}; dmarc=passed header.from=bank.example"],
        [f"{US}; dmarc=pass ({'(' * 4000}) header.from=bank.example"],
        [f"{US}; dmarc=pass header.from=bank.example" + " " * 20_000],
    ],
)
def test_a_forged_word_verifies_nobody(results: list[str]) -> None:
    found = sender_authentication.sender([BANK], results, US)
    assert found is not None
    assert not found.verified


MICROSOFT: Final = (
    "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=bank.example; dkim=pass (signature was "
    "verified) header.d=bank.example;dmarc=pass action=none header.from=bank.example;"
    "compauth=pass reason=100"
)
PROVIDERS: Final = {
    "google": (
        "mx.google.com",
        [
            (
                "mx.google.com; dkim=pass header.i=@bank.example header.s=k header.b=x; spf=pass "
                "(google.com: domain of i@bank.example) smtp.mailfrom=i@bank.example; dmarc=pass "
                "(p=NONE sp=NONE dis=NONE) header.from=bank.example"
            )
        ],
    ),
    "microsoft names no server": ("none", [MICROSOFT, "mx.evil.example; dmarc=fail"]),
    "fastmail, several hosts": (
        "messagingengine.com",
        [
            "mx3.messagingengine.com; arc=none (no signatures found)",
            (
                "mx3.messagingengine.com; dkim=pass header.d=bank.example; dmarc=pass (p=none) "
                "policy.published-domain-policy=none header.from=bank.example"
            ),
        ],
    ),
    "icloud, a host for each check": (
        "icloud.com",
        [
            "bimi.icloud.com; bimi=skipped reason=insufficient",
            "arc.icloud.com; arc=none",
            "dmarc.icloud.com; dmarc=pass header.from=bank.example",
            "dkim-verifier.icloud.com; dkim=pass header.d=bank.example",
        ],
    ),
    "yahoo leaves no blank": (
        "yahoo.com",
        ["atlas105.mail.yahoo.com; dkim=pass; dmarc=pass(p=NONE,sp=NONE) header.from=bank.example"],
    ),
    "zoho writes the whole address": (
        "mx.zohomail.com",
        ["mx.zohomail.com; dkim=pass; dmarc=pass(p=none) header.from=<info@bank.example>"],
    ),
    "opendkim above opendmarc": (
        US,
        [f"{US}; dkim=pass header.d=mailer.example", f"{US}; dmarc=pass header.from=bank.example"],
    ),
    "gmx says nothing on dmarc": ("gmx.net", ["gmx.net; dkim=pass header.i=@bank.example"]),
    "written as a name of the root": (US, [f"{US}.; dmarc=pass header.from=bank.example"]),
    "a domain without a policy": (
        US,
        [f"{US}; dkim=pass header.d=bank.example; dmarc=none header.from=bank.example"],
    ),
}


@for_each(("named", "results"), PROVIDERS.values())
def test_what_providers_really_write_is_understood(named: str, results: list[str]) -> None:
    found = sender_authentication.sender([BANK], results, named)
    assert found == VerifiedSender("info@bank.example", verified=True)
    stranger = sender_authentication.sender(["Eve <eve@evil.example>"], results, named)
    assert stranger is not None
    assert not stranger.verified


@for_each(
    ("named", "results", "why"),
    [
        ("", [GOOD], f'set authserv_id = "{US}"'),
        ("mx.old.example", [GOOD], f"{US} says who wrote it, but authserv_id is mx.old.example"),
        ("fastmail.com", [f"mx3.mail.example; {GOOD}"], 'set authserv_id = "mail.example"'),
        ("", ["atlas.v2-mail-prod1.omega.yahoo.com; x=y"], 'authserv_id = "yahoo.com"'),
        ("", ["mail-front-23.iva.yandex.net; x=y"], 'set authserv_id = "yandex.net"'),
        ("", ["smtp17.poczta.onet.pl; x=y"], 'set authserv_id = "poczta.onet.pl"'),
        # Everybody may have a server below these.
        ("", ["mx2.co.uk; x=y"], 'set authserv_id = "mx2.co.uk"'),
        ("", ["mx2.edu.pl; x=y"], 'set authserv_id = "mx2.edu.pl"'),
        ("", ["mx2.duckdns.org; x=y"], 'set authserv_id = "mx2.duckdns.org"'),
        (US, [MICROSOFT], 'set authserv_id = "none"'),
        (US, [], "there is no Authentication-Results"),
        (US, [f"{US}; dmarc=fail header.from=bank.example"], "no setting changes that"),
        (US, [f"{US}; spf=pass"], "neither DMARC nor a signature (DKIM) of bank.example"),
        (US, ["\x1b[2J; dmarc=pass header.from=bank.example"], "unreadable name"),
    ],
)
def test_why_a_mail_is_not_believed_is_said_with_the_setting_that_would_help(
    named: str, results: list[str], why: str
) -> None:
    found = sender_authentication.sender([BANK], results, named)
    assert found is not None
    assert not found.verified
    assert why in found.why


@for_each(
    ("header", "address"),
    [
        ("info@bank.example", "info@bank.example"),
        ('"Weber, Anna" <anna@home.example>', "anna@home.example"),
        ("anna@home.example <eve@evil.example>", "eve@evil.example"),
        ("=?utf-8?q?Anna?= <anna@home.example>", "anna@home.example"),
        ("Anna <anna@home.example>, Eve <eve@evil.example>", None),
        ("anna@home.example, eve@evil.example", None),
        ("Weber, Anna <anna@home.example>", None),
        ("Group: anna@home.example;", None),
        ("<anna@home.example> <eve@evil.example>", None),
        ("anna@home.example@evil.example", None),
        ("Anna <anna@home.example> (really)", None),
        ("anna@localhost", None),
        ("änna@home.example", None),
        ("anna@h\u00f6m\u0435.example", None),
        ('"anna@home.example', None),
        ("", None),
        ("x" * 20_000, None),
    ],
)
def test_an_address_on_which_two_readers_might_differ_is_none(
    header: str, address: str | None
) -> None:
    assert sender_authentication.address(header) == address


def test_two_senders_are_nobody() -> None:
    assert sender_authentication.sender([BANK, BANK], [GOOD], US) is None
    assert sender_authentication.sender([], [GOOD], US) is None


@given(st.lists(st.text(max_size=200), max_size=3), st.lists(st.text(max_size=200), max_size=3))
def test_nothing_that_can_be_written_there_breaks_or_verifies(
    froms: list[str], results: list[str]
) -> None:
    found = sender_authentication.sender(froms, results, US)
    assert found is None or not found.verified
