"""Python imports this at its start where PYTHONPATH names the folder: the module that is to be changed then comes from another
file, in this process and in those that it starts. The checkout stays as it is."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

MODULE, SOURCE = "MUTANT_MODULE", "MUTANT_SOURCE"


class Changed(SourceFileLoader):
    """The module has its own path, so that it finds what lies beside it, and the code of the other file."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 (as the import system calls it)
        with open(os.environ[SOURCE], encoding="utf-8") as file:  # noqa: PTH123 (each process of the tests would load more)
            return compile(file.read(), self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != os.environ[MODULE]:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.origin:
            found.loader = Changed(fullname, found.origin)
        return found


if MODULE in os.environ:
    sys.meta_path.insert(0, Finder())
