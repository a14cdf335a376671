"""``python -m latentry``."""

from latentry.cli import main

if __name__ == "__main__":
    main()
