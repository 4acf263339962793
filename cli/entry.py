"""The console script: an interrupt while the program is still being loaded ends it in one line, as a later one does."""

import io
import sys


def run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names are printed whatever the terminal can show
            stream.reconfigure(errors="backslashreplace")
    try:
        from foldwise.cli.main import main
    except KeyboardInterrupt:
        print("foldwise: interrupted: give the command again; nothing is left half-written", file=sys.stderr)
        sys.exit(130)
    sys.exit(main())
