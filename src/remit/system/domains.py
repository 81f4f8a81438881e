"""Says which hosts surely belong to one owner: there is no public suffix list here."""

import re
from typing import Final

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
_LABEL: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


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
