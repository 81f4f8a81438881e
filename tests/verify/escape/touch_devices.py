"""Opens what a machine has besides files: its disks, its memory, its terminal, its sockets."""

# ruff: noqa: PTH207, T201 - a hostile script, for the sandbox alone

import glob
import os

wanted = ["/dev/tty", "/dev/kmsg", "/dev/mem", "/dev/fuse", "/run/docker.sock", "/dev/net/tun"]
wanted += glob.glob("/dev/sd*") + glob.glob("/dev/vd*") + glob.glob("/dev/nvme*")
wanted += ["/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/kcore"]
for path in wanted:
    try:
        os.close(os.open(path, os.O_RDWR))
        print("OPENED", path)
    except OSError as error:
        print(path, error.strerror)
print("TRIED")
