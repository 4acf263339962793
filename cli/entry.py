"""The console script. An interrupt while modules are still loading ends the program with one line, like a later one."""

import io
import sys


def run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # replace characters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        from foldwise.cli.main import main
    except KeyboardInterrupt:
        print("foldwise: interrupted: give the command again; no file is left half-written", file=sys.stderr)
        sys.exit(130)
    sys.exit(main())
