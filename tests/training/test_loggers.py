import json

import numpy as np

import latentry as lt
from latentry.training import JsonLines, MLflow, TensorBoard

ROWS = np.random.default_rng(0).normal(size=(40, 3))


def model():
    return lt.VAE(latent_dim=1, hidden=(4,), epochs=2, progress=False)


def test_json_lines(tmp_path):
    fitted = model().fit(ROWS, logger=JsonLines(tmp_path / "log.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["loss"] for line in lines] == fitted.history_["loss"].tolist()


def test_tensorboard(tmp_path):
    model().fit(ROWS, logger=TensorBoard(tmp_path / "events"))
    (events,) = (tmp_path / "events").iterdir()
    assert b"fit/held_out_loss" in events.read_bytes()


def test_mlflow(monkeypatch):
    import mlflow

    seen = []
    monkeypatch.setattr(mlflow, "log_metrics", lambda metrics, step: seen.append((step, metrics)))
    fitted = model().fit(ROWS, logger=MLflow())
    assert [step for step, _ in seen] == [1, 2]
    assert seen[1][1]["fit/loss"] == fitted.history_["loss"][1]
