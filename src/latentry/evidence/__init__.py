"""Numbers and answers that know their direction, confidence, method and assumptions."""
