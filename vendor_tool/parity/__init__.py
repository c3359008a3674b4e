"""Parity: do the vendored kernels compute what they should, and who has seen it? Sole home of torch, pytest and ray.

`machine` and `evidence` load none of the three; `plugin` is a pytest plugin for any project.
"""
