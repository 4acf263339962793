"""What all commands share: help, text on the screen, and errors in one line."""

import pytest

from cli.main import app, main
from cli.output import stdout


@pytest.mark.parametrize("command", [command.name for command in app.registered_commands])
def test_every_command_has_help_with_an_example(command, capsys):
    """Help is markup: a bracket in an option's text must not end it."""
    assert main([command, "--help"]) == 0
    assert f"Example: foldwise {command}" in capsys.readouterr().out


def test_a_path_is_text_not_markup(tmp_path, capsys):
    stdout.print(f"written to {tmp_path}/[/bold] [red]:smile:", soft_wrap=True)
    assert capsys.readouterr().out == f"written to {tmp_path}/[/bold] [red]:smile:\n"
