import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.toolkit.supervised import Runtime, stand_in

CONFIG = {
    "1.7.24": 'version = 2\n# mine\n[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "pause:1"\n',
    "2.1.9": "version = 3\n# mine\n",
    "2.4.2": "version = 4\nimports = ['/nowhere/*.toml']\n",
}


@pytest.fixture
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    """A running stand-in of the release that the test's parameter says, with a person's files."""
    release = getattr(request, "param", "1.7.24")
    with tempfile.TemporaryDirectory(prefix="rt-") as folder:  # short: a socket's path has 107 bytes
        made = stand_in(Path(folder), release)
        (made.root / "etc/conf.d").mkdir(parents=True)
        made.config.write_text(CONFIG[release])
        made.start()
        yield made
        made.stop()
