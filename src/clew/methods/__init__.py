"""Methods that are not a plain row of stages."""
