"""An owner who has signed in at the identity provider: the settings, and the tokens as kept."""

from pathlib import Path
from typing import Final

from remit.channels.oauth import tokens
from remit.channels.oauth.tokens import TokenGrant
from remit.channels.registry import ChannelSecrets
from remit.settings.channels import OAuthSettings
from remit.store.secrets import Secrets
from remit.testing import FrozenClock
from tests.channels.oauth.identity_server import CLIENT, SECRET, IdentityServer

NAME: Final = "google_oauth"


class SignedIn:
    def __init__(self, home: Path, server: IdentityServer, life: int = 3600) -> None:
        self.clock = FrozenClock()
        self.kept = Secrets(home)
        self.keys = ChannelSecrets(self.kept)
        self.kept.put("client", SECRET)
        self.oauth = OAuthSettings(
            provider="google",
            client_id=CLIENT,
            client_secret="client",
            token=NAME,
            token_url=f"{server.root}/token",
        )
        self.sign_in(server, life)

    def sign_in(self, server: IdentityServer, life: int = 3600) -> TokenGrant:
        """Sign in once more; the tokens from before are replaced."""
        refresh, access = server.grant()
        grant = TokenGrant(access, refresh, life)
        tokens.store_grant(self.kept, NAME, grant, self.clock.now())
        return grant
