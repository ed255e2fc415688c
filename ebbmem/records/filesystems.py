"""Which file systems cannot share memory between processes, or lag behind in what they show."""

from __future__ import annotations

import os
from typing import Final

_MOUNTS: Final = "/proc/self/mountinfo"
_REMOTE: Final = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs"}
    | {"nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2", "smb3", "smbfs", "vboxsf", "virtiofs"}
    | {"vmhgfs"}
)


def remote_filesystem(path: str, mounts: str = _MOUNTS) -> str | None:
    """Return the type of the network or shared file system a path is on, or None.

    Parameters
    ----------
    path : str
        A file that may not exist yet.
    mounts : str
        Where the kernel lists mounts; where there is no such file, every path counts as local.
    """
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as lines:
            found = [_mount(line) for line in lines]
    except FileNotFoundError:
        return None
    real = os.path.realpath(path)
    holders = [(place, kind) for place, kind in found if _holds(place, real)]
    # Of two mounts at one place the later one is seen.
    kind = max(reversed(holders), key=lambda mount: len(mount[0]), default=("", ""))[1]
    return kind if kind in _REMOTE or kind.startswith("fuse") else None


def _mount(line: str) -> tuple[str, str]:
    """Return the place and type of one line of mountinfo."""
    left, _, right = line.partition(" - ")
    place = left.split(" ")[4]
    for code in ("040", "011", "012", "134"):
        place = place.replace("\\" + code, chr(int(code, 8)))
    return place, right.split(" ")[0]


def _holds(place: str, path: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")
