"""libkiln_blas.so in front of cuBLAS in this process. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import ctypes
import os

from . import errors
from ._library import FOLDER


def accelerate() -> int:
    """Lets Kiln run products that libraries of this process ask of cuBLAS, such as torch's.

    Call it after `import torch`; libraries that are imported later need another call. A product goes
    to Kiln only where `kiln run --tune` or `kiln tune matmul --against cublas` found that Kiln is
    faster on this device and no less exact; docs/programs_as_they_are.md has the rules.

    Returns the number of places that call cuBLAS, or 0 where the library was preloaded, so that
    nothing was left to do. Raises LibraryMissingError if libkiln_blas.so cannot be loaded, and
    KilnError if no loaded library calls cuBLAS or KILN_BLAS=off keeps out.
    """
    if hasattr(ctypes.CDLL(None), "kiln_blas_attach"):
        return 0
    path = os.environ.get("KILN_BLAS_LIBRARY") or str(FOLDER / "libkiln_blas.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as reason:
        raise errors.LibraryMissingError(f"{path} cannot be loaded: {reason}") from reason
    places: int = library.kiln_blas_attach()
    if places == 0:
        raise errors.KilnError(
            "nothing to accelerate: no loaded library calls cuBLAS's products (import torch first; a "
            "static cuBLAS is not seen), or KILN_BLAS=off is set"
        )
    return places
