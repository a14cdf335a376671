import pytest


@pytest.fixture
def call(capsys):
    """Run a command: exit code, standard output, error output on one line."""
    from latentry.cli import main  # not above: jaxtyping must see the networks before they are loaded

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err.replace("\n", " ")

    return run
