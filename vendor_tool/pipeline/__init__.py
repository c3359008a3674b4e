"""The order of the steps: what each command does, from the lock to the disk and back into the lock."""
