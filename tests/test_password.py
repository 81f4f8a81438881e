"""What is refused as a password, and how it is kept."""

import pytest

from remit.errors import BadInput
from remit.operations.callers import hash_password, is_password, refuse_weak, source_of
from tests.tables import for_each


@for_each(
    ("weak", "why"),
    [
        ("short", "has 5 characters"),
        ("aaaaaaaabbbb", "fewer than 6 different"),
        ("password1234", "contains 'password'"),
        ("Hanan-2026-11", "contains 'Hanan'"),
        ("129034785612", "digits alone"),
    ],
)
def test_a_weak_password_is_refused_with_a_sentence(weak: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        refuse_weak(weak, ("Hanan",))


def test_a_strong_one_is_kept_as_a_hash_that_fits_it_alone() -> None:
    strong = "correct horse battery staple"
    refuse_weak(strong, ("Hanan",))
    kept = hash_password(strong)
    assert strong not in kept
    assert hash_password(strong) != kept
    assert is_password(strong, kept)
    assert not is_password(strong + " ", kept)
    assert not is_password(strong, "spoilt")


@for_each(
    ("address", "source"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("nonsense", "unknown"),
    ],
)
def test_one_customer_is_one_source(address: str, source: str) -> None:
    assert source_of(address) == source
