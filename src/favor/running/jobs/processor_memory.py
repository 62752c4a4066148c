"""Memory of a processor's tensors: kept by the process from one step to the next."""

import ctypes

# mallopt's parameters in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Let the C library reuse freed memory, and not give it back to the system.

    Tensors of many MiB are freed and asked for again thousands of times in a step. Memory fresh from the system costs
    a page fault per 4 KiB, which is more than most operations on it. Where there is no glibc nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, -1)
