"""Laws that hold for all numbers and texts, tried on random ones."""

import html
import json
from html.parser import HTMLParser

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import latentry as lt
from latentry.data import Standardiser, moments, unit_columns
from latentry.html_text import embedded_json, escaped
from latentry.information.normalisers import NORMALISERS
from latentry.nets import Flow

FEW = settings(max_examples=25)
SIZES = st.integers(-990, 490)  # powers of two: from about 1e-298 to 1e147
tables = hnp.arrays(np.float64, (12, 3), elements=st.integers(-1000, 1000).map(lambda n: n / 8))


@FEW
@given(tables, SIZES)
def test_moments_follow_the_units_to_the_last_bit(table, power):
    mean, size = moments(table)
    other_mean, other_size = moments(np.ldexp(table, power))
    assert (np.ldexp(mean, power) == other_mean).all()
    assert (np.ldexp(size, power) == other_size).all()
    assert np.allclose(size, table.std(axis=0), rtol=1e-12, atol=0) or np.allclose(size, table.std(axis=0), atol=1e-12)


@FEW
@given(tables, SIZES)
def test_unit_columns_forget_units(table, power):
    unit = unit_columns(np.ldexp(table, power))
    assert (unit == unit_columns(table)).all()
    varies = np.ptp(table, axis=0) > 0
    assert np.allclose(unit[:, varies].std(axis=0), 1)
    assert (unit[:, ~varies] == 0).all()


@FEW
@given(tables, st.integers(-400, 400))
def test_standardised_values_come_back(table, power):
    scaled = np.ldexp(table + np.arange(12)[:, None], power)  # no column is constant
    data = lt.Dataset(scaled)
    statistics = Standardiser.of(data)
    back = statistics.undo("x", statistics.apply("x", scaled))
    assert np.allclose(back, scaled, rtol=1e-5, atol=1e-5 * np.abs(scaled).max())


@FEW
@given(tables, SIZES, st.sampled_from(sorted(set(NORMALISERS) - {"none", "whiten", "copula"})))
def test_normalisers_forget_units(table, power, name):
    rows = table + np.arange(12)[:, None]
    assert np.allclose(NORMALISERS[name](np.ldexp(rows, power)), NORMALISERS[name](rows), rtol=1e-12, atol=1e-12)


class _Text(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.tags = "", []

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))


@FEW
@given(st.text(max_size=60))
def test_escaped_text_is_text_in_content_and_in_attributes(text):
    shown = escaped(text)
    page = _Text()
    page.feed(f'<p title="{shown}">{shown}</p>')
    page.close()
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.text == page.tags[0][1][0][1] == html.unescape(shown)
    shown.encode()
    if text.isprintable():
        assert html.unescape(shown) == text


@FEW
@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda part: st.lists(part) | st.dictionaries(st.text(), part))
)
def test_json_in_a_page_is_the_same_json(plain):
    text = embedded_json(json.dumps(plain, ensure_ascii=False))
    assert json.loads(text) == plain
    assert not {"<", ">", "&"} & set(text)


@eqx.filter_jit
def _there_and_back(flow, point):
    image, volume = flow.forward(point)
    return image, volume, flow.inverse(image), jnp.linalg.slogdet(jax.jacfwd(lambda x: flow.forward(x)[0])(point))[1]


@FEW
@given(st.integers(0, 5), st.lists(st.floats(-4, 4, width=32), min_size=3, max_size=3))
def test_flows_are_inverted_and_know_their_volume(seed, point):
    flow = Flow(3, blocks=1, components=2, key=jax.random.key(seed))
    image, volume, back, true = _there_and_back(flow, jnp.array(point, jnp.float32))
    assert np.allclose(back, point, atol=1e-3)
    assert np.isclose(volume, true, atol=1e-3)


@FEW
@given(st.integers(0, 2**16), st.integers(2, 4), st.integers(2, 4))
def test_information_of_counts_is_symmetric_and_bounded(seed, left, right):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, left, 80), rng.integers(0, right, 80)

    def information(one, other):
        return float(
            lt.mutual_information(one, other, estimator="discrete", correction="plugin", confidence=None, time=False)
        )

    value = information(x, y)
    assert np.isclose(value, information(y, x), atol=1e-12)
    assert -1e-12 <= value <= min(np.log(left), np.log(right)) + 1e-12
    assert np.isclose(
        information(x, rng.permutation(left)[x]), information(x, x), atol=1e-12
    )  # names of labels do not matter
