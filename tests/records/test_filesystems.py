from __future__ import annotations

import pytest

from ebbmem.records.filesystems import remote_filesystem

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime - nfs4 server:/home rw
31 30 0:41 / /home/ann/local rw,relatime - tmpfs tmpfs rw
32 22 0:42 / /mnt/with\\040space rw,relatime - fuse.sshfs host: rw
33 22 0:43 / /mnt/shared rw,relatime - ext4 /dev/vdb rw
34 22 0:44 / /mnt/shared rw,relatime - virtiofs shared rw
"""


@pytest.fixture
def mounts(tmp_path):
    listed = tmp_path / "mountinfo"
    listed.write_text(MOUNTS)
    return str(listed)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/store.db", None),
        ("/home/ann/store.db", "nfs4"),
        ("/homes/store.db", None),
        ("/home/ann/local/store.db", None),
        ("/mnt/with space/store.db", "fuse.sshfs"),
        ("/mnt/shared/store.db", "virtiofs"),
    ],
)
def test_the_nearest_mount_decides(mounts, path, kind):
    assert remote_filesystem(path, mounts) == kind


def test_without_a_list_of_mounts_every_path_is_local(tmp_path):
    assert remote_filesystem("/store.db", str(tmp_path / "nothing")) is None
