"""Encoders, decoders, bijections and likelihood heads."""
