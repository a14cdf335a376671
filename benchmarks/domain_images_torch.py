"""A plain StyleGAN2-class step in PyTorch, of the same sizes as the CGGAN of domain_images.py: run in an environment of its own.

Usage: python domain_images_torch.py CHANNELS BATCH STEPS SIZE; prints seconds of processor time a step.
"""

import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

LEVELS = {28: (7, 14, 28), 64: (4, 8, 16, 32, 64)}
LATENTS, STYLE, DOMAINS = 64, 64, 2
SIZES = LEVELS[int(sys.argv[4])]


def leaky(x):
    return math.sqrt(2.0) * F.leaky_relu(x, 0.2)


class Linear(nn.Module):
    """Weights scaled when used."""

    def __init__(self, a, b, bias=0.0, pace=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(b, a) / pace)
        self.bias = nn.Parameter(torch.full((b,), bias / pace))
        self.gain, self.pace = pace / math.sqrt(a), pace

    def forward(self, x):
        return F.linear(x, self.weight * self.gain, self.bias * self.pace)


class Conv(nn.Module):
    """A convolution with such weights."""

    def __init__(self, a, b, k, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(b, a, k, k))
        self.bias = nn.Parameter(torch.zeros(b)) if bias else None
        self.gain = 1 / math.sqrt(a * k * k)

    def forward(self, x):
        return F.conv2d(x, self.weight * self.gain, self.bias, padding=self.weight.shape[2] // 2)


class Modulated(nn.Module):
    """Input channels scaled and outputs normalised: the fast form, without a kernel for each row."""

    def __init__(self, a, b, k, normalised=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(b, a, k, k))
        self.style, self.normalised, self.gain = Linear(STYLE, a, bias=1.0), normalised, 1 / math.sqrt(a * k * k)

    def forward(self, x, w):
        scales, weight = self.style(w), self.weight * self.gain
        found = F.conv2d(x * scales[:, :, None, None], weight, padding=weight.shape[2] // 2)
        if not self.normalised:
            return found
        return found * torch.rsqrt(scales**2 @ (weight**2).sum((2, 3)).T + 1e-8)[:, :, None, None]


def double(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


class Layer(nn.Module):
    """Modulated convolution, noise, bias."""

    def __init__(self, a, b, doubles):
        super().__init__()
        self.convolution, self.doubles = Modulated(a, b, 3), doubles
        self.bias, self.strength = nn.Parameter(torch.zeros(b)), nn.Parameter(torch.zeros(()))

    def forward(self, x, w):
        x = self.convolution(x, w)
        x = double(x) if self.doubles else x
        x = x + self.strength * torch.randn(len(x), 1, *x.shape[2:])
        return leaky(x + self.bias[:, None, None])


class Generator(nn.Module):
    """Mapping and synthesis with skip pictures."""

    def __init__(self, channels):
        super().__init__()
        widths = [channels * 2**k for k in reversed(range(len(SIZES)))]
        self.embedding = nn.Parameter(torch.randn(DOMAINS, 8))
        self.mapping = nn.ModuleList([Linear(LATENTS + 8, STYLE, pace=0.1), Linear(STYLE, STYLE, pace=0.1)])
        self.start = nn.Parameter(torch.randn(widths[0], SIZES[0], SIZES[0]))
        self.placing = Linear(STYLE, self.start.numel())
        self.layers, self.pictures, self.bias = (
            nn.ModuleList(),
            nn.ModuleList(),
            nn.Parameter(torch.zeros(len(SIZES), 3)),
        )
        for before, wide in zip([None, *widths], widths, strict=False):
            first = [] if before is None else [Layer(before, wide, doubles=True)]
            self.layers.append(nn.ModuleList([*first, Layer(wide, wide, doubles=False)]))
            self.pictures.append(Modulated(wide, 3, 1, normalised=False))

    def style(self, z, u):
        x = torch.cat([z, self.embedding[u]], 1)
        for layer in self.mapping:
            x = leaky(layer(x))
        return x

    def synthesis(self, w):
        x, picture = self.start + self.placing(w).view(-1, *self.start.shape), None
        for level, (layers, to_picture) in enumerate(zip(self.layers, self.pictures, strict=True)):
            for layer in layers:
                x = layer(x, w)
            here = to_picture(x, w) + self.bias[level][:, None, None]
            picture = here if picture is None else double(picture) + here
        return picture

    def forward(self, z, u):
        return self.synthesis(self.style(z, u))


class Block(nn.Module):
    """Residual, half the resolution."""

    def __init__(self, a, b):
        super().__init__()
        self.first, self.second, self.shortcut = Conv(a, a, 3), Conv(a, b, 3), Conv(a, b, 1, bias=False)

    def forward(self, x):
        beside = self.shortcut(F.avg_pool2d(x, 2))
        return (leaky(self.second(F.avg_pool2d(leaky(self.first(x)), 2))) + beside) * math.sqrt(0.5)


class Discriminator(nn.Module):
    """Residual, with the deviation within groups and a verdict for each domain."""

    def __init__(self, channels):
        super().__init__()
        widths = [channels * 2**k for k in range(len(SIZES))]
        self.entry = Conv(3, widths[0], 1)
        self.blocks = nn.ModuleList([Block(a, b) for a, b in zip(widths, widths[1:], strict=False)])
        self.last = Conv(widths[-1] + 1, widths[-1], 3)
        self.dense = Linear(SIZES[0] ** 2 * widths[-1], widths[-1])
        self.verdict = Linear(widths[-1], DOMAINS)

    def forward(self, x, u):
        x = leaky(self.entry(x))
        for block in self.blocks:
            x = block(x)
        rows, channels, height, width = x.shape
        spread = (x.view(4, rows // 4, channels, height, width).var(0, unbiased=False) + 1e-8).sqrt().mean((1, 2, 3))
        x = torch.cat([x, spread.repeat(4).view(rows, 1, 1, 1).expand(-1, 1, height, width)], 1)
        x = leaky(self.dense(leaky(self.last(x)).flatten(1)))
        return self.verdict(x).gather(1, u[:, None])[:, 0]


def resample(x, chance):
    """Shift and scale with a probability, as one resampling."""
    rows = len(x)
    on = (torch.rand(rows, 2) < chance).float()
    shift = on[:, :1] * 0.5 * (torch.rand(rows, 2) - 0.5)
    factor = 2 ** (on[:, 1:] * 0.2 * torch.randn(rows, 2))
    theta = torch.zeros(rows, 2, 3)
    theta[:, 0, 0], theta[:, 1, 1], theta[:, :, 2] = factor[:, 0], factor[:, 1], shift
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def main(channels, batch, steps, size):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    maker, judge = Generator(channels), Discriminator(channels)
    average = [p.detach().clone() for p in maker.parameters()]
    slow = {"lr": 2.5e-3, "betas": (0.0, 0.99), "eps": 1e-8}
    for_maker, for_judge = torch.optim.Adam(maker.parameters(), **slow), torch.optim.Adam(judge.parameters(), **slow)
    real, u, path = torch.rand(batch, 3, size, size) * 2 - 1, torch.arange(batch) % 2, torch.zeros(())

    def step(number):
        nonlocal path
        z = torch.randn(batch, LATENTS)
        with torch.no_grad():
            made = maker(z, u)
        loss = F.softplus(judge(resample(made, 0.2), u)).mean() + F.softplus(-judge(resample(real, 0.2), u)).mean()
        for_judge.zero_grad(set_to_none=True)
        loss.backward()
        for_judge.step()
        if number % 16 == 0:
            inputs = real.clone().requires_grad_(True)
            slope = torch.autograd.grad(judge(inputs, u).sum(), inputs, create_graph=True)[0]
            for_judge.zero_grad(set_to_none=True)
            (16 * 0.05 * (slope**2).sum((1, 2, 3)).mean()).backward()
            for_judge.step()
        judge.requires_grad_(False)
        loss = F.softplus(-judge(resample(maker(torch.randn(batch, LATENTS), u), 0.2), u)).mean()
        for_maker.zero_grad(set_to_none=True)
        loss.backward()
        for_maker.step()
        judge.requires_grad_(True)
        if number % 8 == 0:
            w = maker.style(torch.randn(batch // 2, LATENTS), u[: batch // 2])
            made = maker.synthesis(w)
            back = torch.autograd.grad((made * torch.randn_like(made) / size).sum(), w, create_graph=True)[0]
            lengths = (back**2).sum(1).sqrt()
            path = path + 0.01 * (lengths.mean().detach() - path)
            for_maker.zero_grad(set_to_none=True)
            (8 * 2.0 * ((lengths - path) ** 2).mean()).backward()
            for_maker.step()
        with torch.no_grad():
            for kept, now in zip(average, maker.parameters(), strict=True):
                kept.lerp_(now, 0.01)

    for number in range(16):
        step(number)
    began = time.process_time()
    for number in range(steps):
        step(number)
    print((time.process_time() - began) / steps)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
