"""Runs toolx as "python -m toolx": with the same arguments, streams, signals and exit code."""

import os
import subprocess
import sys
import sysconfig


def find():
    """Returns the path of the toolx that was installed with this package."""
    name = "toolx.exe" if os.name == "nt" else "toolx"
    user = "nt_user" if os.name == "nt" else "osx_framework_user" if sys.platform == "darwin" and sys._framework else "posix_user"
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user), os.path.join(here, "bin")]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit("error: " + name + " is in none of " + ", ".join(folders) + "\nhint: pip install --force-reinstall toolx")


if __name__ == "__main__":
    program = [find(), *sys.argv[1:]]
    if os.name == "nt":
        try:
            sys.exit(subprocess.call(program))
        except KeyboardInterrupt:
            sys.exit(130)
    os.execv(program[0], program)
