import pytest

from latentry.cli import main


@pytest.fixture
def call(capsys):
    """Run a command: exit code, standard output, error output on one line."""

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err.replace("\n", " ")

    return run
