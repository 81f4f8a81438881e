"""Makes namespaces of its own, where it would be root, and a sandbox within the sandbox."""

# ruff: noqa: T201 - a hostile script, for the sandbox alone

import ctypes
import shutil
import subprocess

CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET = 0x10000000, 0x00020000, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
for flags in (CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWNS):
    if libc.unshare(flags) == 0:
        print("NEW NAMESPACE", flags)
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("MOUNTED")
if libc.setuid(0) == 0:
    print("ROOT")
if shutil.which("bwrap"):
    words = ("bwrap", "--ro-bind", "/", "/", "--unshare-user", "echo", "WRAPPED")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
print("TRIED")
