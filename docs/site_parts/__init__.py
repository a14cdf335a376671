"""What the site needs beside Sphinx: anchors in HTML, formulas without scripts, docstrings, and a page at its root."""
