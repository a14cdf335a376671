import pytest

import latentry as lt


@pytest.fixture(scope="module")
def quick():
    """Candidates and students that learn for a moment, where it does not matter what they learn."""
    from latentry.discovery.candidates import Setting

    make = Setting.make

    def smaller(self, kind, name, effort, **settings):
        made = make(self, kind, name, effort, **settings)
        made.model.set_params(epochs=2, hidden=(4,))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Setting, "make", smaller)
        patch.setattr("latentry.natural.from_samples.boosted_trees._ROUNDS", 8)
        patch.setattr("latentry.natural.from_samples.boosted_trees._MOST", 8)
        patch.setattr("latentry.natural.from_samples.small_networks._STEPS", 40)
        yield


@pytest.fixture(scope="module")
def few_rows():
    return lt.generators.segments(domains=1, rows_per_domain=200, latents=2, observed=4, noise=0.3, seed=0)


@pytest.fixture(scope="module")
def found(quick, few_rows, tmp_path_factory):
    """A whole discovery of a table without domains, in eight fits, kept in a folder."""
    folder = tmp_path_factory.mktemp("discovery")
    said = []
    return lt.discover(few_rows.with_domain(None), budget=8, folder=folder, progress=said.append), folder, said
