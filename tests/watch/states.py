"""What a watch keeps, read from the file that it writes."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory


def state_of(watched):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "watch.json"
        watched.save(path)
        state = json.loads(path.read_text("utf-8"))
    del state["checksum"]
    return state
