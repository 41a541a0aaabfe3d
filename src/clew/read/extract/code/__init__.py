"""What source code defines, calls, inherits from and imports, by its syntax."""
