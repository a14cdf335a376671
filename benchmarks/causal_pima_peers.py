"""MultiVae's MVAE on arrays from a file: latents, imputations and seconds per epoch. Run by causal_pima.py in its own environment.

Encoders and decoders have the sizes of ours (dense, ReLU, linear output); data come standardised; the rest is as MultiVae
has it, with its advice to switch sub-sampling off where data are incomplete.
"""

import json
import sys
import tempfile
import time
from unittest.mock import MagicMock

import numpy as np
import torch

for part in ("", ".utils", ".transforms", ".datasets", ".datasets.utils", ".io", ".models"):
    sys.modules[f"torchvision{part}"] = MagicMock()  # used by its download and picture helpers alone, not by models

from multivae.data.datasets.base import IncompleteDataset, MultimodalBaseDataset  # noqa: E402
from multivae.models import MVAE, MVAEConfig  # noqa: E402
from multivae.models.base import BaseDecoder, BaseEncoder, ModelOutput  # noqa: E402
from multivae.trainers import BaseTrainer, BaseTrainerConfig  # noqa: E402


def dense(sizes):
    layers = []
    for before, after in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Encoder(BaseEncoder):
    """Dense."""

    def __init__(self, size, hidden, latents):
        super().__init__()
        self.latent_dim, self.net = latents, dense([size, *hidden, 2 * latents])

    def forward(self, x, **_):
        mean, log_variance = self.net(x.reshape(len(x), -1)).chunk(2, dim=-1)
        return ModelOutput(embedding=mean.clone(), log_covariance=log_variance.clone())  # it writes into them


class Decoder(BaseDecoder):
    """Dense."""

    def __init__(self, shape, hidden, latents):
        super().__init__()
        self.shape, self.net = tuple(shape), dense([latents, *hidden, int(np.prod(shape))])

    def forward(self, z, **_):
        return ModelOutput(reconstruction=self.net(z).reshape(*z.shape[:-1], *self.shape))


def as_dataset(arrays, prefix, names):
    data = {n: torch.tensor(np.nan_to_num(arrays[f"{prefix}_{n}"]), dtype=torch.float32) for n in names}
    masks = {n: torch.tensor(arrays[f"{prefix}_{n}_seen"]) for n in names}
    complete = all(bool(mask.all()) for mask in masks.values())
    return (MultimodalBaseDataset(data) if complete else IncompleteDataset(data, masks)), complete


def trained(model, train, epochs, batch, rate, seed):
    with tempfile.TemporaryDirectory() as folder:
        config = BaseTrainerConfig(
            output_dir=folder, num_epochs=epochs, per_device_train_batch_size=batch, learning_rate=rate, seed=seed,
            no_cuda=True, keep_best_on_train=False,
        )  # fmt: skip
        began = time.time()
        BaseTrainer(model, train, training_config=config).train()
        return time.time() - began


def posterior(model, data, names):
    """Product of the experts that are there and a standard normal, by MultiVae's own encoders."""
    precision, weighted = 1.0, 0.0
    with torch.no_grad():
        for name in names:
            out = model.encoders[name](data.data[name])
            seen = data.masks[name].float()[:, None] if hasattr(data, "masks") else 1.0
            each = seen * torch.exp(-out.log_covariance)
            precision, weighted = precision + each, weighted + each * out.embedding
    return weighted / precision


def main():
    spec = json.loads(sys.argv[1])
    torch.manual_seed(spec["seed"])
    torch.set_num_threads(1)
    arrays = np.load(spec["file"])
    names = spec["names"]
    train, complete = as_dataset(arrays, "train", names)
    shapes = {n: arrays[f"train_{n}"].shape[1:] for n in names}
    config = MVAEConfig(
        n_modalities=len(names), latent_dim=spec["latents"], input_dims=shapes, use_subsampling=complete, warmup=10
    )
    hidden = spec["hidden"]
    model = MVAE(
        config,
        {n: Encoder(int(np.prod(shapes[n])), hidden, spec["latents"]) for n in names},
        {n: Decoder(shapes[n], hidden[::-1], spec["latents"]) for n in names},
    )
    seconds = trained(model, train, spec["epochs"], spec["batch"], spec["rate"], spec["seed"])
    model = model.cpu().eval()
    out = {"train": posterior(model, train, names).numpy(), "seconds": np.array(seconds)}
    for part in spec["parts"]:
        data, _ = as_dataset(arrays, part, names)
        latents = posterior(model, data, names)
        out[part] = latents.numpy()
        with torch.no_grad():
            for name in names:
                out[f"{part}_{name}"] = model.decoders[name](latents).reconstruction.numpy()
    np.savez(spec["out"], **out)


if __name__ == "__main__":
    main()
