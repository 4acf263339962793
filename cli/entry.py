"""The console script: an interrupt while the program is still being loaded ends it in one line, as a later one does."""

import sys


def run() -> None:
    try:
        from foldwise.cli.main import main
    except KeyboardInterrupt:
        print("foldwise: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(main())
