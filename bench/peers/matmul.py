#!/usr/bin/env python3
"""Products beside cublasLt (the first and the fastest of eight algorithms), cuBLAS and torch.

    bench/peers/matmul.py --list bench/peers/lists/matmul_30.txt --db kiln.db --seconds 20

docs/benchmarks.md has the method. SPDX-License-Identifier: Apache-2.0
"""

import functools

import common
import cublaslt
from common import Peer, Workload, torch
from cublaslt import Matrix, Product

MOST_BYTES = 4 << 30  # of the result in f64
LT = {"first": ("cublaslt_first_us", "over_first"), "best": ("cublaslt_best_us", "over_best")}
LT_FAST = {"best": ("cublaslt_fast_sums_us", "over_fast_sums")}
GEMM = {"f32": ("sgemm_us", "over_sgemm"), "f64": ("dgemm_us", "over_dgemm")}
SCALED = {"only": ("scaled_mm_us", "over_scaled_mm")}
COLUMNS = [
    "run", "problem", "variant", "cache", "match", "kiln_us", "kiln_tflop_per_s", "kiln_gb_per_s",
    *LT["first"], *LT["best"], *LT_FAST["best"], *GEMM["f32"], *GEMM["f64"], *SCALED["only"],
    "error_kiln", "error_peer", "agree", "config",
]  # fmt: skip
OUTPUT_RANGE = (-1, 1)
PLAIN_EPILOGUE = "alpha * x + beta * c"


def product_of(problem, memory, alpha, beta):
    """The problem with its memory, as libraries are asked for it."""
    m, n, k, dtype = (problem[name] for name in ("m", "n", "k", "dtype"))
    stored = {
        "a": (dtype, *((k, m) if problem["trans_a"] else (m, k))),
        "b": (dtype, *((n, k) if problem["trans_b"] else (k, n))),
        "c": (problem["out"], m, n),
    }
    matrices = {
        name: Matrix(memory[name], *sizes, problem[f"ld{name}"], problem[f"stride_{name}"])
        for name, sizes in stored.items()
    }
    same = {name: problem[name] for name in ("trans_a", "trans_b", "batch", "precision")}
    return Product(**matrices, **same, alpha=alpha, beta=beta)


def operands(product):
    """op(A) and op(B) as [batch][rows][columns]."""
    a, b = product.a.view(product.batch), product.b.view(product.batch)
    return a.mT if product.trans_a else a, b.mT if product.trans_b else b


def vectors_of(problem, arguments):
    """f32 factors of the rows and of the columns, where the epilogue is nothing but a bias that is
    multiplied; else None."""
    factors = {factor.strip() for factor in problem["epilogue"].split("*")}
    if "bias" not in factors or not factors <= {"x", "alpha", "bias"}:
        return None
    vectors = {along: torch.ones(problem[along], device="cuda") for along in ("m", "n")}
    vectors[problem["bias_along"]] = arguments["bias"].float()
    return vectors["m"], vectors["n"]


def exact(product, vectors):
    """The result in f64, before rounding to the type of C."""
    result = torch.matmul(*(operand.double() for operand in operands(product))) * product.alpha
    if product.beta:
        before = common.fill(torch.empty_like(product.c.memory), *OUTPUT_RANGE)
        result += product.beta * product.c._replace(memory=before).view(product.batch).double()
    return result * vectors[0][:, None] * vectors[1] if vectors else result


def distance(found, reference):
    """Norm of the difference over the norm of the reference (Frobenius), in f64."""
    return float((found.double() - reference).norm() / reference.norm())


def scaled_mm(product, vectors):
    """torch._scaled_mm, with one factor or with vectors; None where it takes no such operands."""
    m, n, k = product.sizes
    taken = product.trans_b and not product.trans_a and product.batch == 1 and n % 16 == k % 16 == 0
    dense = product.a.stride == product.b.stride == k and product.c.stride == n
    if not (taken and dense and m) or (vectors and product.c.dtype != "bf16"):
        return None
    a, b = (operand[0] for operand in operands(product))
    one = torch.ones((), device="cuda")
    scales = (vectors[0][:, None], vectors[1][None, :]) if vectors else (one, one)
    out = product.c.view(1)[0]
    fast = product.precision != "highest"
    options = {"out_dtype": out.dtype, "use_fast_accum": fast, "out": out}
    return lambda: torch._scaled_mm(a, b, *scales, **options)


def add_cublaslt(work, product, vectors, result_counts, fast_sums=False):
    """Each algorithm of the heuristic; all write one result."""
    family = "cublasLt, fast sums" if fast_sums else "cublasLt"
    own = product.with_own_result()
    try:
        calls = cublaslt.algorithms(own, fast_sums, vectors)
    except RuntimeError as error:
        work.notes.append(f"{family}: {error}")
        return
    result = own.c.memory if result_counts else None
    columns = LT_FAST if fast_sums else LT
    work.peers += [Peer(family, call, result, family, columns) for call in calls]


def make(kernel, problem, parameters, options):
    """The operands, the product in f64 and the peers."""
    del kernel, options
    scalars = {"alpha": 1, "beta": 0 if problem["beta_zero"] else 1}
    arguments = {}
    for seed, (name, parameter) in enumerate(parameters.items(), common.SEED):
        if parameter.shape is not None:
            span = (-128, 127) if parameter.dtype == "i8" else (-1, 1)
            arguments[name] = common.new(parameter, *span, seed=seed)
        else:
            is_whole = parameter.dtype.startswith("i")
            arguments[name] = scalars[name] if is_whole else float(scalars[name])
    product = product_of(problem, arguments, scalars["alpha"], scalars["beta"])
    vectors = vectors_of(problem, arguments)
    (m, n, k), batch = product.sizes, product.batch
    is_small = problem["dtype"] in ("e4m3", "e5m2")
    # Matrix units keep sums of 8-bit floats in fewer bits than f32 has, about as many as tf32.
    rounding = "high" if is_small else problem["precision"]
    work = Workload(
        arguments,
        "c",
        common.near(common.allowed_error(problem["out"], rounding)),
        bytes=sum(arguments[name].nbytes for name in (*"abc", *"c" * (not problem["beta_zero"]))),
        flops=2 * batch * m * n * k,
        output_range=OUTPUT_RANGE,
    )
    has_formula = problem["epilogue"] != PLAIN_EPILOGUE and vectors is None
    if not has_formula and 8 * batch * m * n <= MOST_BYTES:
        reference = exact(product, vectors)
        work.error = lambda c: distance(product.c._replace(memory=c).view(batch), reference)
    if has_formula:
        work.notes.append("libraries compute the product without the epilogue: not compared")
    is_dense = product.c.stride == n and batch == 1
    if problem["dtype"] in GEMM and is_dense and problem["epilogue"] == PLAIN_EPILOGUE:
        own = product.with_own_result()
        a, b = (operand[0] for operand in operands(own))
        call = functools.partial(torch.matmul, a, b, out=own.c.view(1)[0])
        columns = GEMM[problem["dtype"]]
        name = f"torch.matmul: {columns[0][:5]} of cuBLAS"
        work.peers.append(Peer(name, call, own.c.memory, columns={"only": columns}))
    if is_small and not has_formula:
        own = product.with_own_result()
        call = scaled_mm(own, vectors)
        if call:
            work.peers.append(Peer("torch._scaled_mm", call, own.c.memory, columns=SCALED))
    add_cublaslt(work, product, vectors, not has_formula)
    if is_small:
        add_cublaslt(work, product, vectors, not has_formula, fast_sums=True)
    return work


if __name__ == "__main__":
    common.main(
        __doc__,
        ["matmul"],
        make,
        columns=COLUMNS,
        wide_csv=True,
        versions=lambda options: [cublaslt.version()],
    )
