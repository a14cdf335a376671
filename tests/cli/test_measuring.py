"""The commands that measure and certify: mi, natural, bench."""

import json

import numpy as np
import pytest

import latentry as lt


@pytest.fixture
def pair(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 1))
    z = rng.normal(size=(800, 1))
    y = x + z + 0.5 * rng.normal(size=(800, 1))
    for name, array in {"x": x, "y": y, "z": z}.items():
        np.save(tmp_path / f"{name}.npy", array)
    rows = "\n".join(f"{a},{b},{c},{'pq'[int(a > 0)]}" for a, b, c in zip(x[:, 0], y[:, 0], z[:, 0], strict=True))
    (tmp_path / "t.csv").write_text("x,y,z,side\n" + rows)
    return tmp_path


def test_mi_of_arrays_and_of_columns_agree(call, pair):
    code, text, _ = call("mi", pair / "x.npy", pair / "y.npy", "--estimator", "ksg", "--json")
    first = json.loads(text)
    assert code == 0
    truth = 0.5 * np.log(2.25 / 1.25)
    assert first["low"] - 0.1 < truth < first["high"] + 0.1
    _, text, _ = call("mi", pair / "t.csv", "--x", "x", "--y", "y", "--estimator", "ksg", "--json")
    assert np.isclose(json.loads(text)["value"], first["value"], atol=1e-6)


def test_mi_given_and_tested(call, pair):
    code, text, _ = call(
        "mi", pair / "x.npy", pair / "y.npy", "--given", pair / "z.npy", "--estimator", "ksg", "--json", "--test", 19
    )
    found = json.loads(text)
    assert code == 0
    assert abs(found["value"] - 0.5 * np.log(1.25 / 0.25)) < 0.25
    assert found["p_value"] == 0.05


def test_mi_with_labels_in_bits(call, pair):
    code, text, _ = call(
        "mi", pair / "t.csv", "--x", "side", "--y", "y", "--discrete", "x", "--estimator", "mixed", "--units", "bits"
    )
    assert code == 0
    assert "bits" in text


def test_mi_of_rows_in_time(call, pair):
    files = (pair / "x.npy", pair / "y.npy", "--estimator", "ksg", "--k", 4)
    np.save(pair / "who.npy", np.arange(len(np.load(pair / "x.npy"))) // 2)
    options = ((), ("--time", "rows"), ("--groups", pair / "who.npy"), ("--groups", pair / "who.npy", "--test", "19"))
    plain, timed, grouped, tested = (json.loads(call("mi", *files, *more, "--json")[1]) for more in options)
    assert plain["method"] == "ksg1 (k=4)"
    assert timed["value"] == plain["value"]  # rows without memory
    assert "groups: mean over 2 draws" in grouped["reason"]
    assert tested["p_value"] == 0.05


def test_mi_of_a_variable_with_itself_is_valid_json(call, pair):
    code, text, _ = call("mi", pair / "x.npy", pair / "x.npy", "--estimator", "ksg", "--discrete", "", "--json")
    assert code == 0
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@pytest.fixture
def law(tmp_path):
    """Two noisy copies of a coin, in two domains; L is the first copy, by the same channel in both."""
    lines = ["A,B,L,D,p"]
    for domain, flip in (("u", 0.01), ("v", 0.02)):
        for a in (0, 1):
            for b in (0, 1):
                mass = sum(0.5 * abs((a != coin) - 1 + flip) * abs((b != coin) - 1 + flip) for coin in (0, 1))
                lines.append(f"{a},{b},{a},{domain},{mass!r}")
    (tmp_path / "law.csv").write_text("\n".join(lines))
    return tmp_path / "law.csv"


def test_natural_of_a_law(call, law):
    words = ["natural", law, "--latent", "L", "--observables", "A,B", "--domain", "D", "--mass", "p"]
    code, text, _ = call(*words, "--epsilon", "0.2")
    assert code == 0
    assert "certified" in text
    assert "u " in text
    code, text, _ = call(*words, "--epsilon", "0.001", "--require")
    assert code == 1
    assert "refuted" in text
    code, text, _ = call(*words, "--json")
    assert "verdicts" in json.loads(text)


def test_natural_refuses_a_channel_that_changes_with_the_domain(call, tmp_path):
    lines = ["A,B,L,D,p"] + [f"{a},{b},{(a ^ b) ^ (d == 'q')},{d},0.25" for d in "pq" for a in (0, 1) for b in (0, 1)]
    (tmp_path / "c.csv").write_text("\n".join(lines))
    words = ["natural", tmp_path / "c.csv", "--latent", "L", "--observables", "A,B", "--domain", "D", "--mass", "p"]
    code, out, error = call(*words)
    assert (code, out) == (2, "")
    assert "the domains disagree about the latent" in error


def test_natural_of_measurements_with_few_values(call, tmp_path):
    """Rounded numbers are labels, and their mediation can be certified, unless --numbers says that they measure."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 300)
    views = np.round(z[:, None] + 0.5 * rng.standard_normal((300, 2)), 0) / 2
    lines = ["A,B,L", *(f"{a},{b},{'uv'[v]}" for (a, b), v in zip(views, z, strict=True))]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    words = ["natural", tmp_path / "r.csv", "--latent", "L", "--observables", "A,B"]
    assert "mediation judged as discrete" in call(*words)[1]
    code, text, _ = call(*words, "--numbers", "A, B")
    assert code == 0
    assert "mediation judged as general" in text


def test_natural_requires_a_certificate_or_support(call, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 500)
    a, b = 8.0 * z + rng.standard_normal((2, 500))
    rows = "\n".join(f"{i},{j},{k}" for i, j, k in zip(a, b, z, strict=True))
    (tmp_path / "n.csv").write_text("A,B,L\n" + rows)
    words = ["natural", tmp_path / "n.csv", "--latent", "L", "--observables", "A,B", "--require"]
    code, text, _ = call(*words, "--epsilon", "0.3")
    assert (code, text.split(":")[0]) == (0, "supported")
    assert call(*words, "--epsilon", "0.001")[0] == 1


def test_natural_keeps_groups_whole(call, tmp_path):
    """Twelve subjects in turn: rows are refuted as independent, and groups are counted where they are named."""
    who = np.arange(480) % 12
    lines = [f"{s},{s % 2},{s % 2},{i}" for i, s in enumerate(who)]
    (tmp_path / "g.csv").write_text("who,A,L,when\n" + "\n".join(lines))
    words = ["natural", tmp_path / "g.csv", "--latent", "L", "--observables", "who,A", "--json"]
    alone, grouped, timed = (call(*words, *more)[1] for more in ([], ["--groups", "who"], ["--time", "when"]))
    assert "rows in their order do not depend" in alone
    assert "12 as declared" in grouped
    assert "as declared" in timed
    code, _, error = call(*words, "--groups", "who", "--mass", "A")
    assert (code, "--groups" in error) == (2, True)


def test_natural_of_samples(call, tmp_path):
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 4000)
    a, b = (np.where(rng.random(4000) < 0.01, 1 - coin, coin) for _ in range(2))
    rows = "\n".join(f"{i},{j},{k}" for i, j, k in zip(a, b, coin, strict=True))
    (tmp_path / "s.csv").write_text("A,B,L\n" + rows)
    code, text, _ = call("natural", tmp_path / "s.csv", "--latent", "L", "--observables", "A,B", "--epsilon", "0.2")
    assert code == 0
    assert "certified" in text
    assert "audited" in text


@pytest.mark.long
def test_bench_ivae(call):
    words = ["--rows", "40", "--domains", "4", "--latents", "2", "--epochs", "2", "--quiet", "--json"]
    code, text, _ = call("bench", "ivae", *words)
    assert code == 0
    models = json.loads(text)["models"]
    assert set(models) == {"IFlow", "IVAE, staged", "IVAE, bound", "VAE"}
    assert all(0 <= row["mcc"][0] <= 1 and row["seconds"][0] > 0 for row in models.values())


def test_bench_information(call):
    code, text, _ = call("bench", "information", "--rows", "400", "--estimator", "gaussian", "--quiet", "--json")
    result = json.loads(text)
    assert code == 0
    assert len(result["tasks"]) == 40
    assert 0.05 < result["mean_error"] < 1


BAD = {
    "one array": (["mi", "{tmp}/x.npy"], "Give two npy files"),
    "no file": (["mi", "{tmp}/no.npy", "{tmp}/y.npy"], "no.npy does not exist"),
    "no column": (["mi", "{tmp}/t.csv", "--x", "xx", "--y", "y"], "'xx', which is not there; did you mean 'x'"),
    "no estimator": (["mi", "{tmp}/x.npy", "{tmp}/y.npy", "--estimator", "kgs"], "did you mean 'ksg"),
    "no latent": (["natural", "{tmp}/t.csv", "--latent", "w", "--observables", "x,y"], "--latent names column 'w'"),
    "no benchmark": (["bench", "informations"], "did you mean 'information'"),
    "not a table": (["natural", "{tmp}/x.npy", "--latent", "w", "--observables", "x,y"], "is no table"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_is_one_sentence_and_exit_2(call, pair, case):
    words, sentence = BAD[case]
    code, out, error = call(*[word.format(tmp=pair) for word in words])
    assert code == 2
    assert sentence in error
    assert out == ""


def test_mi_pairs_rows_by_their_names(call, pair):
    x, y = np.load(pair / "x.npy"), np.load(pair / "y.npy")
    order = np.random.default_rng(2).permutation(len(x))
    names = [f"w{i}" for i in range(len(x))]
    lt.Dataset(x, rows=names).write(pair / "x.csv")
    lt.Dataset(y[order], rows=[names[i] for i in order]).write(pair / "y.csv")
    found = [
        json.loads(call("mi", pair / f"x.{kind}", pair / f"y.{kind}", "--estimator", "gaussian", "--json")[1])["value"]
        for kind in ("npy", "csv")
    ]
    assert np.isclose(*found, atol=1e-6)
    lt.Dataset(y, rows=["q" + name for name in names]).write(pair / "y.csv")
    code, _, error = call("mi", pair / "x.csv", pair / "y.csv")
    assert (code, "has no row 'w0', which is a row of the data" in error) == (2, True)
