"""Sealed as RFC 8291 says: its own example to the byte, and any text for any browser."""

from typing import Final

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from remit.channels.push import push_client
from remit.errors import BadInput
from tests.channels.push.push_relay import Phone, b64, unb64
from tests.tables import for_each

# RFC 8291, section 5 and appendix A.
TEXT: Final = b"When I grow up, I want to be a watermelon"
SENDER: Final = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER: Final = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
POINT: Final = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
AUTH: Final = "BTBZMqHH6r4Tts7J_aSIgg"
SALT: Final = "DGv6ra1nlYgDCS1FRnbzlw"
BODY: Final = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
    "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
    "lcy4a-fN"
)


def test_the_example_of_the_standard_comes_out_to_the_byte() -> None:
    once = ec.derive_private_key(int.from_bytes(unb64(SENDER)), ec.SECP256R1())
    made = push_client.sealed_with(once, unb64(SALT), TEXT, (POINT, AUTH), 0)

    assert b64(made) == BODY


def test_the_receiver_of_these_tests_opens_the_example_of_the_standard() -> None:
    phone = Phone(private=unb64(RECEIVER), auth=unb64(AUTH))

    assert b64(phone.point) == POINT
    assert phone.opened(unb64(BODY)) == TEXT


@given(st.binary(max_size=push_client.LENGTH))
def test_any_text_arrives_and_none_shows_its_length(text: bytes) -> None:
    phone = Phone()
    body = push_client.sealed(text, b64(phone.point), b64(phone.auth))

    assert phone.opened(body) == text
    assert len(body) == len(push_client.sealed(b"", b64(phone.point), b64(phone.auth)))


def test_no_other_browser_opens_it_and_no_two_are_alike() -> None:
    phone = Phone()
    one, two = (push_client.sealed(TEXT, b64(phone.point), b64(phone.auth)) for _ in range(2))

    assert one != two
    with pytest.raises(InvalidTag):
        Phone().opened(one)


@for_each(
    ("p256dh", "auth", "field"),
    [
        ("", AUTH, "p256dh"),
        ("BA", AUTH, "p256dh"),
        ("?" * 87, AUTH, "p256dh"),
        (b64(b"\4" + bytes(64)), AUTH, "p256dh"),  # on no curve
        (POINT, "AA", "auth"),
        (POINT, "ä", "auth"),
    ],
)
def test_keys_that_are_none_are_refused(p256dh: str, auth: str, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        push_client.check(p256dh, auth)

    assert refused.value.field == field


def test_a_new_key_is_its_own_and_names_one_public_half() -> None:
    one, two = push_client.new_key(), push_client.new_key()

    assert one != two
    assert push_client.public_of(one) == push_client.public_of(one)
    push_client.check(push_client.public_of(one), AUTH)
