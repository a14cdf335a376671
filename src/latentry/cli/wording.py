"""Sentences of the library in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["in_options"]

# What the library calls its arguments, and what the command line does.
_OPTIONS = {
    r"Give both the same index; or none, if their rows are already in the same order: reset_index.*?the array X of AnnData": (
        "Give both files the same names of rows, or leave them out of one file if their rows are already in the same order"
    ),
    r"which is in the index of the dataset": "which is a row of the data",
    r"resume=True": "--resume",
    r"discrete=\('(\w+)',\)": r"--discrete \1",
    r"fit\(data, u\) or Dataset\(\.\.\., domain=\)": "--domain column",
    r"\bvalidation=(?=0)": "--set validation=",
    r"(?<!--set )\b(learning_rate|clip)=(?=\d)": r"--set \1=",
    r"\b(domain|groups|time|ids|drop)=(?=[\w'\"\[(])": r"--\1 ",
    r"\b(domain|groups|time|ids|drop)=(?!=)": r"--\1",
    r"\bfactors=(?=[\w'\"\[(])": "--factor ",
    r"\bfactors=": "--factor",
    r"\bcategories=(?=[\w'\"\[(])": "--category ",
    r"\bcategories=": "--category",
    r"\bmodalities=\{'?(\w+)'?: '([^']+)'\}": r"--modality \1=\2",
    r"\bmodalities=": "--modality ",
    r"\blatent_dim\b": "--latents",
    r"\bnoise=σ": "--noise σ",
    r"\bbudget=": "--budget ",
    r"\bfolder=": "--out ",
    r"\bblocks=": "--block ",
    r"\b(epsilon|level|noise|quantiser|restarts)=(?=[-.\d])": r"--\1 ",
    r"\brefits=True": "--refits",
    r"\bbest=True": "--best",
    r"\bexecutor=": "--engine ",
    r"\bworkers=": "--workers ",
    r"^blocks: ": "--block: ",
    r"\bseen: ": "--seen: ",
    r"\bothers=\[\.\.\.\]": "--also run",
    r"\bquantiser=m": "--quantiser m",
    r"not a tuple of positive widths\. Give one such as \(64, 64\)": "no list of positive widths. Give one such as [64,64]",
    r"Give them as \((\d+), (\d+)\)": r"Give them as [\1,\2]",
}


# A name that somebody gave, or a job of a sweep has: '0-vae-latent_dim=1' is no argument.
_NAME, _PLACE = re.compile(r"(?<!\w)'[\w./][^']*=[^']*'"), "'\0'"


def in_options(sentence: str) -> str:
    """Return a sentence of the library in the words of the command line.

    Args:
        sentence: With arguments of Python.

    Returns:
        The same with options.

    >>> in_options("Say ids='mouse', or try learning_rate=0.002.")
    "Say --ids 'mouse', or try --set learning_rate=0.002."
    >>> in_options("Pass it as domain=.")
    'Pass it as --domain.'
    >>> in_options("folder='a': holds a job '0-vae-hidden=(4, 4)-latent_dim=1' of the file's; latent_dim='b'.")
    "--out 'a': holds a job '0-vae-hidden=(4, 4)-latent_dim=1' of the file's; --latents='b'."
    """
    names: list[str] = _NAME.findall(sentence)
    sentence = _NAME.sub(_PLACE, sentence)
    for pattern, option in _OPTIONS.items():
        sentence = re.sub(pattern, option, sentence)
    for name in names:
        sentence = sentence.replace(_PLACE, name, 1)
    return sentence
