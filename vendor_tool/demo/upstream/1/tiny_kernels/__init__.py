"""Two small kernels."""
