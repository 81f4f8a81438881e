"""A process that needs an access token: it says that it begins, and then the token or why not."""

import sys
from pathlib import Path

from remit.channels.oauth import MAIL, client_of
from remit.channels.oauth.tokens import TokenSource
from remit.channels.registry import ChannelSecrets
from remit.errors import RemitError
from remit.settings.channels import OAuthSettings
from remit.store.secrets import Secrets
from remit.testing import FrozenClock
from tests.channels.oauth.identity_server import CLIENT


def main() -> None:
    kept, token_url = Secrets(Path(sys.argv[1])), sys.argv[2]
    chosen = OAuthSettings(
        provider="google", client_id=CLIENT, client_secret="client", token="t", token_url=token_url
    )
    client, clock = client_of(chosen, MAIL, kept.find), FrozenClock()
    source = TokenSource(
        client, kept, "t", now=clock.now, keys=ChannelSecrets(kept), todo="sign in"
    )
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    try:
        sys.stdout.write(source())
    except RemitError as error:
        sys.stdout.write(f"refused: {error}")


if __name__ == "__main__":
    main()
