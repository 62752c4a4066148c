"""Rounds between real sites, carried by Flower: every step is a command of ``favor site`` or ``favor server``."""
