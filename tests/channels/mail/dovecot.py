"""Debian's Dovecot, where it is installed: the same mailbox on another server.

It is an ordinary process with everything in its own directory; it needs no root. If root runs the
tests it works as `nobody`, because it refuses to open mails as root.
"""

import grp
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PROGRAM: Final = Path("/usr/sbin/dovecot")
_SETTINGS, _OAUTH, _INTROSPECTION = (
    Path(__file__).with_name(f"dovecot{part}.conf").read_text("utf-8")
    for part in ("", "_oauth", "_introspection")
)


@contextmanager
def started(
    port: int,
    password: str,
    pair: tuple[Path, Path] | None,
    introspection: str = "",
    place: Path | None = None,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run it until the end. With a certificate and its key it requires STARTTLS.

    With the address of an introspection it takes access tokens, too, and judges those that an SMTP
    server brings to the socket `sasl` in its folder, as it does for Postfix.
    """
    folder = place or Path(tempfile.mkdtemp(prefix="mail-"))
    name = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    user = pwd.getpwnam(name)
    told = _SETTINGS.format(
        folder=folder,
        user=name,
        group=grp.getgrgid(user.pw_gid).gr_name,
        password=password,
        port=port,
        oauth=_OAUTH.format(folder=folder) if introspection else "",
        private="ssl = no"
        if pair is None
        else f"ssl = required\nssl_cert = <{pair[0]}\nssl_key = <{pair[1]}",
    )
    folder.chmod(0o755)
    for each in ("mail", "run", "state"):
        (folder / each).mkdir()
        os.chown(folder / each, user.pw_uid, user.pw_gid)
    (folder / "dovecot.conf").write_text(told)
    (folder / "oauth2.conf").write_text(_INTROSPECTION.format(url=introspection))
    process = subprocess.Popen(
        [PROGRAM, "-F", "-c", folder / "dovecot.conf"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()  # it ends its own children then
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
