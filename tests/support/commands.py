"""Commands run in this process, and what they print."""

from foldwise.cli.main import main


def refused(capsys, *arguments) -> str:
    """What a command says that ends with exit code 2: one line of ours, and no traceback."""
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.count("foldwise: ") == 1
    return err
