"""The papers behind the methods of a certificate, looked up by the words in which the methods are named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["PAPERS", "Paper", "bibtex", "papers_for"]


@dataclass(frozen=True)
class Paper:
    """A paper, and a pattern of the method names that call for it."""

    key: str
    pattern: str
    kind: str
    author: str
    title: str
    where: str
    year: int

    def bibtex(self) -> str:
        """Return the entry, ready to paste."""
        field = {"article": "journal", "inproceedings": "booktitle", "misc": "howpublished", "software": "version"}[
            self.kind
        ]
        rows = {"author": self.author, "title": "{" + self.title + "}", field: self.where, "year": str(self.year)}
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in rows.items())
        return f"@{self.kind}{{{self.key},\n{body}\n}}"


PAPERS = (
    Paper("latentry", r"^latentry", "software", "{The latentry developers}",
          "latentry: find the hidden variables in your data, and know how far to trust them", "0.1.0", 2026),
    Paper("kingma2014", r"\bvae\b|\bivae\b|causal-?pima|variational", "inproceedings", "Kingma, D. P. and Welling, M.",
          "Auto-encoding variational Bayes", "International Conference on Learning Representations", 2014),
    Paper("khemakhem2020", r"\bivae\b|\biflow\b|sufficient changes", "inproceedings",
          "Khemakhem, I. and Kingma, D. P. and Monti, R. P. and Hyv{\\\"a}rinen, A.",
          "Variational autoencoders and nonlinear ICA: a unifying framework",
          "International Conference on Artificial Intelligence and Statistics", 2020),
    Paper("anderson1950", r"sufficient changes", "article", "Anderson, T. W. and Rubin, H.",
          "The asymptotic properties of estimates of the parameters of a single equation",
          "Annals of Mathematical Statistics", 1950),
    Paper("walker2023", r"causal-?pima", "misc", "Walker, E. and Actor, J. A. and Martinez, C. and Trask, N.",
          "Causal disentanglement of multimodal data", "arXiv:2310.18471", 2023),
    Paper("li2025", r"\bcg-?vae\b|structural sparsity", "misc", "Li, Z. and others",
          "Synergy between sufficient changes and sparse mixing procedure for disentangled representation learning",
          "arXiv:2503.00639", 2025),
    Paper("zheng2022", r"structural sparsity", "inproceedings", "Zheng, Y. and Ng, I. and Zhang, K.",
          "On the identifiability of nonlinear ICA: sparsity and beyond",
          "Advances in Neural Information Processing Systems", 2022),
    Paper("kivva2022", r"Gaussian mixtures", "inproceedings",
          "Kivva, B. and Rajendran, G. and Ravikumar, P. and Aragam, B.",
          "Identifiability of deep generative models without auxiliary information",
          "Advances in Neural Information Processing Systems", 2022),
    Paper("wentworth2025", r"mediation|redundancy|held-out student|natural-?latents|^natural$", "misc",
          "Wentworth, J. and Lorell, D.", "Natural latents: latent variables stable across ontologies", "arXiv:2509.03780", 2025),
    Paper("poole2019", r"natural-?latents|^natural$", "inproceedings",
          "Poole, B. and Ozair, S. and van den Oord, A. and Alemi, A. A. and Tucker, G.",
          "On variational bounds of mutual information", "International Conference on Machine Learning", 2019),
    Paper("waudbysmith2024", r"betting", "article", "Waudby-Smith, I. and Ramdas, A.",
          "Estimating means of bounded random variables by betting",
          "Journal of the Royal Statistical Society: Series B", 2024),
    Paper("agrawal2020", r"relative-entropy ball", "article", "Agrawal, R.",
          "Finite-sample concentration of the multinomial in relative entropy",
          "IEEE Transactions on Information Theory", 2020),
    Paper("lundborg2024", r"projected covariance", "article",
          "Lundborg, A. R. and Kim, I. and Shah, R. D. and Samworth, R. J.",
          "The projected covariance measure for assumption-lean variable significance testing",
          "Annals of Statistics", 2024),
    Paper("shah2020", r"regression residuals", "article", "Shah, R. D. and Peters, J.",
          "The hardness of conditional independence testing and the generalised covariance measure",
          "Annals of Statistics", 2020),
    Paper("runge2018", r"nearest neighbours|nearest-neighbour information", "inproceedings", "Runge, J.",
          "Conditional independence testing based on a nearest-neighbor estimator of conditional mutual information",
          "International Conference on Artificial Intelligence and Statistics", 2018),
    Paper("besag1991", r"nearest neighbours|stratified permutation", "article", "Besag, J. and Clifford, P.",
          "Sequential Monte Carlo p-values", "Biometrika", 1991),
    Paper("kraskov2004", r"\bksg", "article", "Kraskov, A. and St{\\\"o}gbauer, H. and Grassberger, P.",
          "Estimating mutual information", "Physical Review E", 2004),
    Paper("ross2014", r"\bRoss\b", "article", "Ross, B. C.",
          "Mutual information between discrete and continuous data sets", "PLoS ONE", 2014),
    Paper("mesner2021", r"\bMesner", "article", "Mesner, O. C. and Shalizi, C. R.",
          "Conditional mutual information estimation for mixed, discrete and continuous data",
          "IEEE Transactions on Information Theory", 2021),
    Paper("miller1955", r"^discrete$", "article", "Miller, G. A.", "Note on the bias of information estimates",
          "Information Theory in Psychology: Problems and Methods", 1955),
    Paper("misra2005", r"auto: gaussian", "article", "Misra, N. and Singh, H. and Demchuk, E.",
          "Estimation of the entropy of a multivariate normal distribution", "Journal of Multivariate Analysis", 2005),
    Paper("demarta2005", r"auto: student", "article", "Demarta, S. and McNeil, A. J.", "The t copula and related copulas",
          "International Statistical Review", 2005),
    Paper("burda2016", r"collapse", "inproceedings", "Burda, Y. and Grosse, R. and Salakhutdinov, R.",
          "Importance weighted autoencoders", "International Conference on Learning Representations", 2016),
    Paper("friedman1999", r"bootstrap of the graph", "inproceedings", "Friedman, N. and Goldszmidt, M. and Wyner, A.",
          "Data analysis with Bayesian networks: a bootstrap approach", "Uncertainty in Artificial Intelligence", 1999),
    Paper("chickering1995", r"equivalence class", "inproceedings", "Chickering, D. M.",
          "A transformational characterization of equivalent Bayesian network structures",
          "Uncertainty in Artificial Intelligence", 1995),
    Paper("lopezpaz2017", r"classifier two-sample", "inproceedings", "Lopez-Paz, D. and Oquab, M.",
          "Revisiting classifier two-sample tests", "International Conference on Learning Representations", 2017),
    Paper("hubert1985", r"adjusted Rand", "article", "Hubert, L. and Arabie, P.", "Comparing partitions",
          "Journal of Classification", 1985),
)  # fmt: skip


def papers_for(methods: Iterable[str]) -> tuple[Paper, ...]:
    """Return the papers that these method names call for, each once.

    Args:
        methods: Names of methods, in the words of a certificate.

    Returns:
        Papers, in the order of :data:`PAPERS`.

    >>> [paper.key for paper in papers_for(["auto: ksg1 on normal scores (k=5)", "held-out student (net), betting mean"])]
    ['wentworth2025', 'waudbysmith2024', 'kraskov2004']
    """
    names = tuple(methods)
    return tuple(p for p in PAPERS if any(re.search(p.pattern, name, re.IGNORECASE) for name in names))


def bibtex(methods: Iterable[str]) -> str:
    """Return the BibTeX entries that these method names call for.

    Args:
        methods: Names of methods, in the words of a certificate.

    Returns:
        Text, ready to paste.
    """
    return "\n\n".join(paper.bibtex() for paper in papers_for(methods))
