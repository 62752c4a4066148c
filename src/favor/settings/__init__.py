"""What the ``settings.py`` of every room is made of."""
