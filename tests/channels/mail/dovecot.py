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
_SETTINGS: Final = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/imap.log
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
protocols = imap
listen = 127.0.0.1
{private}
disable_plaintext_auth = no
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail
}}
mail_location = maildir:{folder}/mail
first_valid_uid = 0
namespace inbox {{
  inbox = yes
  separator = /
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
"""


@contextmanager
def started(
    port: int, password: str, pair: tuple[Path, Path] | None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run it until the end. With a certificate and its key it requires STARTTLS."""
    folder = Path(tempfile.mkdtemp(prefix="mail-"))
    name = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    user = pwd.getpwnam(name)
    told = _SETTINGS.format(
        folder=folder,
        user=name,
        group=grp.getgrgid(user.pw_gid).gr_name,
        password=password,
        port=port,
        private="ssl = no"
        if pair is None
        else f"ssl = required\nssl_cert = <{pair[0]}\nssl_key = <{pair[1]}",
    )
    folder.chmod(0o755)
    for each in ("mail", "run", "state"):
        (folder / each).mkdir()
        os.chown(folder / each, user.pw_uid, user.pw_gid)
    (folder / "dovecot.conf").write_text(told)
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
