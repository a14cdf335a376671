"""The page of results of causal_pima.py, from its rows."""

import jax
import numpy as np

import latentry as lt


def page(rows, command, words):
    """Markdown of everything measured so far, one line per run."""
    parts = [
        "# CausalPIMA\n",
        f"`{command}`; latentry {lt.__version__}, JAX {jax.__version__}, NumPy {np.__version__}.\n",
    ]
    parts.append(words[words.index("Settings") :].strip() + "\n")
    for title, tasks, lines in SECTIONS:
        found = sorted((row for row in rows if row["task"] in tasks), key=lambda row: (row["task"], row["seed"]))
        if found:
            parts += [f"## {title}\n", *lines(found), ""]
    return "\n".join(parts)


def circles(rows):
    yield "| seed | class found | hue | radius | shift | ARI | total variation under do: hue, radius, shift | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        accuracy = " | ".join(f"{row['accuracy'][name]:.3f}" for name in ("hue", "radius", "shift"))
        away = "–" if row["do"] is None else ", ".join(f"{row['do'][name]:.3f}" for name in ("hue", "radius", "shift"))
        yield f"| {row['seed']} | {row['graph'][6:-1]} | {accuracy} | {row['ari']:.3f} | {away} | {row['seconds']:.0f} |"
    mean = np.mean([list(row["accuracy"].values()) for row in rows])
    yield ""
    words = (
        f"True class in {sum(row['collider'] for row in rows)} of {len(rows)}; mean balanced accuracy {mean:.3f}; "
        f"ARI {np.mean([row['ari'] for row in rows]):.3f} (least {min(row['ari'] for row in rows):.3f})"
    )
    if rows[0]["do"] is not None:
        words += "; total variation " + spread([away for row in rows for away in row["do"].values()])
    yield words + "."


def spread(values):
    return f"{np.mean(values):.3f} on average, at most {max(values):.3f}"


def pendulum(rows):
    yield "| seed | rod | sun | class found | total variation under do: angle, light | seconds |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        rod, sun = (row["accuracy"][f"{name}_state"] for name in ("angle", "light"))
        away = f"{row['do']['angle']:.3f}, {row['do']['light']:.3f}"
        yield f"| {row['seed']} | {rod:.3f} | {sun:.3f} | {row['graph'][6:-1]} | {away} | {row['seconds']:.0f} |"
    yield ""
    away = spread([value for row in rows for value in row["do"].values()])
    yield f"Total variation over sixteen cells (angle, light, position, length): {away}."


def lattices(rows):
    yield (
        "| seed | type: both | image | curve | profile: both | curve | class found | error of x0, y0, slope: mean "
        "| largest | largest if labels were known | within 2 s.e. | seconds |"
    )
    yield "|" + "---|" * 12
    for row in rows:
        lattice = " | ".join(f"{row[name]['lattice']:.3f}" for name in ("both", "image", "curve"))
        profile = " | ".join(f"{row[name]['profile']:.3f}" for name in ("both", "curve"))
        mean, most, known = (
            ", ".join(f"{table[prefix + name]:.1%}" for name in ("x0", "y0", "slope"))
            for table, prefix in ((row["experts"], "mean "), (row["experts"], ""), (row["known"], ""))
        )
        yield (
            f"| {row['seed']} | {lattice} | {profile} | {row['graph'][6:-1]} | {mean} | {most} | {known} | "
            f"{row['experts']['covered']:.0%} | {row['seconds']:.0f} |"
        )
    yield ""
    types = {name: np.mean([row[name]["lattice"] for row in rows]) for name in ("both", "image", "curve")}
    errors = ", ".join(f"{np.mean([row['experts'][f'mean {n}'] for row in rows]):.1%}" for n in ("x0", "y0", "slope"))
    yield (
        f"Balanced accuracy of the type: {types['both']:.3f} from both, {types['image']:.3f} from the picture, "
        f"{types['curve']:.3f} from the curve. Mean error of the parameters: {errors}; "
        f"{np.mean([row['experts']['covered'] for row in rows]):.0%} within two standard errors. The arrow was reported as "
        f"reversible in {sum(row['reversible'] for row in rows)} of {len(rows)}."
    )


def missing(rows):
    yield (
        "| missing | model | cells, rows with holes | type, rows with holes | type, picture alone | type, curve alone "
        "| picture from curve | curve from picture |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for share in sorted({row["missing"] for row in rows}):
        for model, name in (("ours", "CausalPIMA"), ("mvae", "MVAE")):
            found = [row[model] for row in rows if row["missing"] == share]
            cells = [
                summary([f["holes"]["cells"] for f in found]),
                *(summary([f[part]["type"] for f in found]) for part in ("holes", "image", "curve")),
                *(summary([f["imputed"][part] for f in found]) for part in ("image", "curve")),
            ]
            yield f"| {share:.0%} | {name} | {' | '.join(cells)} |"
    yield ""
    count = len({row["seed"] for row in rows})
    yield (
        f"{count} seeds, mean ± standard deviation. Imputations: root mean squared error over that of the training mean "
        "(below 1 is better than the mean; knowing the type and nothing more gives about .66 and .81)."
    )


def summary(values):
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def speed(rows):
    yield "| rows | CausalPIMA, s per epoch | MVAE, s per epoch | ratio |"
    yield "|---|---|---|---|"
    for count in (91, 2000):
        ours, theirs = (np.mean([row[f"{name}{count}"] for row in rows]) for name in ("ours", "mvae"))
        yield f"| {count:,} | {ours:.4f} | {theirs:.4f} | {theirs / ours:.1f} |"


SECTIONS = (
    ('Circles, graph="search"', ("circles",), circles),
    ('Circles, graph="hodge" (the paper\'s differentiable graph)', ("hodge",), circles),
    ("Pendulum: interventions on rod and sun", ("pendulum",), pendulum),
    ("Lattices", ("lattices",), lattices),
    (
        "Lattices with missing modalities, beside MultiVae 1.0.3's MVAE",
        ("missing 0%", "missing 30%", "missing 60%"),
        missing,
    ),
    ("Seconds per epoch beside MVAE, one run, one core", ("speed",), speed),
)
