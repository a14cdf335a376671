import pytest


@pytest.fixture
def little(no_optimiser_steps, few_tries, quick_students, few_features_for_a_test, monkeypatch):
    """Nothing learns for long."""
    from latentry.discovery.candidates import Setting
    from latentry.training import loop

    make = Setting.make

    def smaller(self, kind, name, effort, **settings):
        made = make(self, kind, name, effort, **settings)
        made.model.set_params(epochs=2, hidden=(4,))
        return made

    monkeypatch.setattr(Setting, "make", smaller)
    shrink = loop.run_steps

    def shrink_a_few_times(recipe, knobs, now, window, key, start, stop):
        few = min(
            stop - start, max(20 - int(now.step), 0)
        )  # after thousands of steps nothing would be left of the weights
        moved = shrink(recipe, knobs, now, window, key, 0, few)
        return moved._replace(step=now.step + (stop - start))

    monkeypatch.setattr(loop, "run_steps", shrink_a_few_times)


@pytest.fixture
def few_features_for_a_test(monkeypatch):
    monkeypatch.setattr("latentry.information.canonical_variates.FEATURES", 40)
