"""Makes each example's agent module importable by its tests, as it would be in its application."""

import sys
from pathlib import Path

sys.path.extend(str(folder) for folder in Path(__file__).parent.iterdir() if folder.is_dir())
