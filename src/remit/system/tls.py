"""The certificate authorities that this machine trusts."""

import os
import ssl
from functools import cache

import httpx2


def trusted_authorities(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return one TLS context for all clients: loading the authorities takes 40 ms each time.

    With `trust_env`, SSL_CERT_FILE and SSL_CERT_DIR are used.
    """
    named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")) if trust_env else ()
    return _context(trust_env, *named)


@cache
def _context(trust_env: bool, *_named: str | None) -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=trust_env)
