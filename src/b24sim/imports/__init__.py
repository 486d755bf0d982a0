"""The box: serves the `import.*` methods, version 1 of the import contract."""

from b24sim.imports.box import Imports
from b24sim.imports.limits import Limits

__all__ = ["Imports", "Limits"]
