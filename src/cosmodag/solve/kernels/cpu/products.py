"""Matrix products in compiled loops: the call of BLAS that `np.dot` ends in.

Compiling `np.dot` with an output takes a fifth of a second for every layout, and a product of the
first few rows of a buffer needs a slice of it. Here the number of rows is an argument. Matrices are
stored row by row, and BLAS reads them column by column, as their transposes: (A B)ᵀ = Bᵀ Aᵀ.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["product", "transposed_product"]

_CHAR, _WHOLE, _POINTER = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer()
# numba_xxgemm(kind, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
_GEMM = ir.FunctionType(
    ir.IntType(32),
    [_CHAR] * 3
    + [_WHOLE] * 3
    + [_POINTER, _POINTER, _WHOLE, _POINTER, _WHOLE, _POINTER, _POINTER, _WHOLE],
)


@intrinsic  # type: ignore[untyped-decorator]
def product(typingctx: Any, rows: Any, weights: Any, outputs: Any, count: Any) -> Any:
    """Write rows · weights to the outputs, for the first `count` rows."""
    _check(rows, weights, outputs)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, w, y = _arrays(context, builder, signature, arguments)
        sizes = [_columns(builder, w), arguments[3], _columns(builder, x)]
        _call(context, builder, "n", sizes, w, x, y)
        return context.get_dummy_value()

    return types.void(rows, weights, outputs, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def transposed_product(typingctx: Any, rows: Any, outputs: Any, gradient: Any, count: Any) -> Any:
    """Write rowsᵀ · outputs to the gradient, of the first `count` rows of both."""
    _check(rows, outputs, gradient)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y, w = _arrays(context, builder, signature, arguments)
        sizes = [_columns(builder, y), _columns(builder, x), arguments[3]]
        _call(context, builder, "t", sizes, y, x, w)
        return context.get_dummy_value()

    return types.void(rows, outputs, gradient, types.int64), codegen


def _check(*matrices: Any) -> None:
    plain = types.Array(types.float32, 2, "C")
    if any(matrix != plain for matrix in matrices):
        raise TypeError(f"matrices are {matrices}, but must be {plain}")


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    kinds = zip(signature.args[:3], arguments[:3], strict=True)
    return [context.make_array(kind)(context, builder, value) for kind, value in kinds]


def _columns(builder: Any, array: Any) -> Any:
    return cgutils.unpack_tuple(builder, array.shape, 2)[1]


def _call(
    context: Any, builder: Any, transposition: str, sizes: list[Any], a: Any, b: Any, c: Any
) -> None:
    """Call BLAS for C = A op(B) in its own layout; `sizes` are m, n and k."""
    factors = []
    for factor in (1.0, 0.0):
        place = cgutils.alloca_once_value(builder, ir.Constant(ir.FloatType(), factor))
        factors.append(builder.bitcast(place, _POINTER))
    operands = []
    for array in (a, b, c):
        operands.append((builder.bitcast(array.data, _POINTER), _columns(builder, array)))
    letters = [ir.Constant(_CHAR, ord(letter)) for letter in ("s", "n", transposition)]
    call = cgutils.get_or_insert_function(builder.module, _GEMM, "numba_xxgemm")
    first, second, third = operands
    builder.call(call, [*letters, *sizes, factors[0], *first, *second, factors[1], *third])
