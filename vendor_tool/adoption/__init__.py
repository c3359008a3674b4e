"""Where files that somebody copied by hand came from, and which rules explain how they differ. Pure."""
