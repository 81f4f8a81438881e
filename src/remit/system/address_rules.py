"""Which network addresses may be contacted: their form, and what they resolve to. Pure.

Two programs that parse one address differently defeat a guard, so only unambiguous addresses are
accepted: no user info, no numeric shorthands, no zones, no trailing dot, only visible ASCII.
"""

import ipaddress
import re
from typing import Final, TypeAlias

from msgspec import Struct

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Net: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_URL_CHARACTERS: Final = 2048
_MAX_HOST_CHARACTERS: Final = 253
_MAX_PORT: Final = 65_535
_PORTS: Final = {"http": 80, "https": 443}
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<rest>/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?(?P<query>\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


class BlockedAddress(Struct, frozen=True):
    """May not be contacted; nothing was sent or resolved."""

    why: str


class AddressForm(Struct, frozen=True):
    """Where an address points, by its form alone. `literal` if its host is an IP address."""

    scheme: str
    host: str
    port: int
    literal: Address | None = None


def read_address(url: str, *, private: bool = False) -> AddressForm | BlockedAddress:
    """Take an address apart, or say what is wrong with its form; what it names is not shown."""
    if len(url) > _MAX_URL_CHARACTERS:
        return BlockedAddress(
            f"The address has {len(url)} characters; at most {_MAX_URL_CHARACTERS} are taken."
        )
    found = _URL.fullmatch(url)
    if found is None:
        return BlockedAddress(
            "The address must be https:// with a host, and if need be a port, a path and a query; "
            "no name before an @, no zone, no # and nothing but plain characters."
        )
    if found["scheme"] == "http" and not private:
        return BlockedAddress("The address begins with http://; only https:// is spoken to.")
    port = int(found["port"] or _PORTS[found["scheme"]])
    if not 1 <= port <= _MAX_PORT:
        return BlockedAddress(f"The address has the port {port}; one is 1 to {_MAX_PORT}.")
    return read_host(found["host"], found["scheme"], port)


def read_host(name: str, scheme: str = "https", port: int = 443) -> AddressForm | BlockedAddress:
    """Parse the host of an address: a name, IPv4, or IPv6 in brackets."""
    name = name.lower()
    if name.startswith("["):
        return _literal(name[1:-1], scheme, port, "The host of the address is no IPv6 address.")
    labels = name.split(".")
    if len(name) > _MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
        return BlockedAddress("The host of the address is no name: words of letters, digits and -.")
    # Some programs take any host that ends in a number for an IP address.
    if _NUMBER.fullmatch(labels[-1]):
        wrong = "The host of the address is a number; write four, as in 192.0.2.7."
        return _literal(name, scheme, port, wrong)
    return AddressForm(scheme, name, port)


def _literal(text: str, scheme: str, port: int, wrong: str) -> AddressForm | BlockedAddress:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return BlockedAddress(wrong)
    if getattr(address, "scope_id", None):
        return BlockedAddress(wrong)
    return AddressForm(scheme, str(address), port, address)


def reserved_kind(address: Address, *, private: bool = False) -> str | None:
    """Return why an address may not be contacted; None if it may.

    `private` allows the operator's own machine and network, and nothing else.
    """
    for kind, net in _RESERVED:
        if address.version == net.version and address in net:
            return None if private and kind in _OWN else kind
    return None


_OWN: Final = frozenset({"loopback", "private"})
# After IANA's registries of special addresses. The first match gives the word. In IPv6 only one
# eighth is assigned for global use, so all the rest is listed.
_TABLE: Final = (
    ("loopback", "127.0.0.0/8 ::1/128"),
    ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"),
    ("private", "100.64.0.0/10"),  # carrier-grade NAT, and the inside of some clouds
    ("unspecified", "0.0.0.0/8 ::/128"),
    ("link-local", "169.254.0.0/16 fe80::/10"),
    ("a cloud's own", "168.63.129.16/32"),  # looks public, but answers from inside
    ("multicast", "224.0.0.0/4 ff00::/8"),
    ("an IPv4 address in disguise", "::ffff:0:0/96 ::/96 64:ff9b::/96 64:ff9b:1::/48 2002::/16"),
    ("for documents", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"),
    ("for tests", "198.18.0.0/15"),
    ("reserved", "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 2001::/23"),
    ("reserved", "::/3 4000::/2 8000::/1"),
)
_RESERVED: Final[tuple[tuple[str, _Net], ...]] = tuple(
    (kind, ipaddress.ip_network(net)) for kind, nets in _TABLE for net in nets.split()
)


# Whose host it is: there is no public suffix list here -------------------------------------------

# Suffixes under which every name with one more label is a registered domain.
_FLAT: Final = frozenset({"com", "net", "org", "info", "de", "ch", "nl", "eu"})
# Under a country suffix such as co.uk or com.au a registered domain has three labels.
_SECOND: Final = frozenset({"ac", "co", "com", "gov", "ne", "net", "or", "org"})
_COUNTRY_LETTERS: Final = 2
_SUFFIX_LETTERS: Final = 5
# Names under the flat endings whose subdomains belong to different people.
_SHARED_NAMES: Final = (
    "afraid.org amazonaws.com appspot.com azurewebsites.net blogspot.com br.com "
    "chickenkiller.com cloudfront.net cn.com co.com co.nl com.de ddns.net ddnss.de de.com "
    "dedyn.org dnsalias.com dnsalias.net dnsalias.org duckdns.org dynalias.com dynalias.net "
    "dynalias.org dyndns.org dynu.net dynv6.net eu.com eu.org firebaseapp.com freeddns.org "
    "gb.net goip.de gr.com herokuapp.com homeip.net homelinux.com homelinux.net homelinux.org "
    "hopto.org hu.net in.net jp.net jpn.com kozow.com mooo.com myfritz.net myftp.org mywire.org "
    "no-ip.com no-ip.info no-ip.org now-dns.org ooguy.com redirectme.net ru.com sa.com se.net "
    "selfhost.de selfhost.eu servebeer.com servehttp.com spdns.de spdns.eu spdns.org "
    "strangled.net sytes.net theworkpc.com uk.com uk.net us.com us.org webhop.net webhop.org "
    "windows.net za.com za.net za.org zapto.org"
)
_SHARED: Final = frozenset(_SHARED_NAMES.split())


def is_same_domain(ours: str, theirs: str) -> bool:
    """Whether a host may get what the owner entrusted to another host."""
    if ours == theirs:
        return True
    domain = registered_domain(ours)
    return domain is not None and registered_domain(theirs) == domain


def registered_domain(host: str) -> str | None:
    """Return the registered domain of a host; None if there is none or it is unclear."""
    labels = host.lower().split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        return None
    if labels[-1] in _FLAT:
        found = labels[-2:]
    elif len(labels[-1]) == _COUNTRY_LETTERS and labels[-2:-1] and labels[-2] in _SECOND:
        found = labels[-3:] if len(labels) > _COUNTRY_LETTERS else []
    else:
        found = []
    domain = ".".join(found)
    return domain if len(found) > 1 and domain not in _SHARED else None


def may_be_suffix(domain: str) -> bool:
    """Whether different people may have hosts under this name, as under edu.pl."""
    labels = domain.split(".")
    short = len(labels) == 2 and len("".join(labels)) <= _SUFFIX_LETTERS  # noqa: PLR2004 - a pair
    return len(labels) == 1 or short or domain in _SHARED
