"""`foldwise games`."""

import typer


def register(app: typer.Typer) -> None:
    app.command("games")(games)


def games() -> None:
    """placeholder replaced below"""
