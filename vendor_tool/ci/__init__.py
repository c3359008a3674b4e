"""Programs for jobs of CI services; they need nothing but git, `vendor-tool` on the path and the standard library."""
