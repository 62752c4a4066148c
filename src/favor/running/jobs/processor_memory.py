"""Memory of a processor's tensors: kept by the process from one step to the next."""

import ctypes

# mallopt's parameters in glibc's malloc.h, and the largest threshold that every version takes.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGEST = 1 << 30, 32 << 20


def keep_freed_memory() -> None:
    """Let the C library reuse freed memory of up to 1 GiB, and not give it back to the system.

    Tensors of a few MiB are freed and asked for again thousands of times in a step. Memory fresh from the system costs
    a page fault per 4 KiB, which is more than most operations on it. Where there is no glibc nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        mallopt(_TRIM_THRESHOLD, _KEPT)
