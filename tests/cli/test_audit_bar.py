"""The time left of a certificate."""

import pytest

from latentry.certificate import Stage
from latentry.cli.audit_bar import Clock, audit_bar


def stage(name, done, own, total=10.0):
    return Stage(name, done=done, own=own, total=total)


def test_time_left_follows_the_pace_of_the_parts_so_far():
    clock = Clock(0.0, 0.0).at(stage("informative", 0.0, 4.0), 100.0)
    assert clock.left(100.0) == pytest.approx(10.0)  # as measured once, while nothing is known
    assert clock.left(103.0) == pytest.approx(7.0)
    clock = clock.at(stage("natural", 4.0, 5.0), 112.0)  # twelve seconds for four: three times as slow
    assert clock.left(112.0) == pytest.approx(18.0)
    assert clock.left(120.0) == pytest.approx(10.0)
    assert clock.left(500.0) == pytest.approx(3.0)  # never less than what comes after
    assert clock.fraction(112.0) == pytest.approx(12 / 30)


def test_a_restart_says_nothing_about_time():
    clock = Clock(0.0, 0.0).at("restart 1 of 2", 5.0)
    assert clock.left(6.0) is None
    assert clock.fraction(6.0) is None
    assert clock.at(stage("fit", 0.0, 1.0), 60.0).left(60.0) == pytest.approx(10.0)


def test_nothing_is_shown_where_nobody_watches(capsys):
    with audit_bar(quiet=False) as progress:
        assert progress is None
    with audit_bar(quiet=True) as progress:
        assert progress is None
    assert capsys.readouterr().err == ""


def test_the_bar_names_the_part(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with audit_bar(quiet=False) as progress:
        progress(stage("natural", 4.0, 5.0))
    assert "auditing: natural" in capsys.readouterr().err
