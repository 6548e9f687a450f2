"""Variants of Numba's compiler without the steps that functions of plain loops do not need.

For every array entry that is read or written, Numba copies the array's descriptor of seven to nine
fields, or the descriptors of all arrays of a tuple. It also handles negative indices, clears each
variable after its last use, and looks up the implementation of each of these steps again. LLVM then
removes most of this code, which takes a large part of the compilation time. Here an entry is
accessed by an address and a load or store, and variables are not cleared. In a first `Cosmo` fit,
entries save a sixth of the processor time, all other overrides of `_QuickLower` a twentieth.
"""

import operator
from functools import reduce
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    BaseNativeLowering,
    InlineOverloads,
    NativeLowering,
    NopythonRewrites,
)
from numba.core.types.containers import BaseTuple, NamedTuple
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

# Operators whose implementation can depend on the value of a constant operand.
_BY_VALUE = (operator.pow, operator.ipow)


class _QuickLower(Lower):  # type: ignore[misc]
    """Numba's generator of LLVM code, with shorter code for the operations of plain loops.

    A negative constant index counts from the end. A negative computed index is out of bounds, which
    Numba detects only under ``NUMBA_BOUNDSCHECK=1``.
    """

    def delvar(self, name: str) -> None:
        # Without reference counts, nothing has to be released.
        if name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.StaticSetItem) and self._is_array(inst.target):
            # Numba would first search for an implementation for constant indices.
            self.lower_setitem(inst.target, inst.index_var, inst.value, self.fndesc.calltypes[inst])
        else:
            super().lower_inst(inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op == "getattr":
            kind = self.typeof(expr.value.name)
            if isinstance(kind, NamedTuple) and expr.attr in kind.fields:
                return self._load_field(expr.value, kind.fields.index(expr.attr))
            if isinstance(kind, types.Array) and expr.attr == "shape":
                return self._load_field(expr.value, self._field_position(kind, "shape"))
        if expr.op == "static_getitem" and self._is_array(expr.value) and expr.index_var:
            signature = self.fndesc.calltypes[expr]
            return self.lower_getitem(resty, expr, expr.value, expr.index_var, signature)
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        # Numba would first search for an implementation for constant operands.
        signature = self.fndesc.calltypes[expr]
        if op in _BY_VALUE or not all(isinstance(kind, types.Number) for kind in signature.args):
            return super().lower_binop(resty, expr, op)
        function = self.context.typing_context.resolve_value_type(op)
        if expr.op == "inplace_binop":  # the types were resolved for another function, such as +=
            function.get_call_type(self.context.typing_context, signature.args, {})
        pairs = zip((expr.lhs, expr.rhs), signature.args, strict=True)
        sides = [self._cast_var(variable, kind) for variable, kind in pairs]
        found = self.context.get_function(function, signature)(self.builder, sides)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        positions = self._positions(value, index)
        if positions is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        address = self._address(value, array, positions)
        if isinstance(signature.return_type, types.Array):
            found = self._view(value, array, signature.return_type, address, len(positions))
        else:
            found = self.context.unpack_value(
                self.builder, array.dtype, address, align=None if array.aligned else 1
            )
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        positions, array = self._positions(target_var, index_var), self.typeof(target_var.name)
        if positions is None or len(positions) < array.ndim:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self._cast_var(value_var, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], array.dtype)
        address = self._address(target_var, array, positions)
        self.context.pack_value(
            self.builder, array.dtype, value, address, align=None if array.aligned else 1
        )
        return None

    def _is_array(self, variable: Any) -> bool:
        return isinstance(self.typeof(variable.name), types.Array)

    def _field_position(self, kind: Any, name: str) -> int:
        position: int = self.context.data_model_manager[kind].get_field_position(name)
        return position

    def _load_field(self, variable: Any, *path: int) -> Any:
        """Load one field of a tuple or an array descriptor."""
        if variable.name in self._blk_local_varmap:
            return self.builder.extract_value(self._blk_local_varmap[variable.name], path)
        return self.builder.load(
            cgutils.gep_inbounds(self.builder, self.getvar(variable.name), 0, *path)
        )

    def _positions(self, array: Any, index: Any) -> list[Any] | None:
        """Position along each indexed axis; None if Numba must lower the index itself.

        That is the case for indices that are not integers, and for negative constants.
        """
        kind = self.typeof(index.name)
        kinds = list(kind) if isinstance(kind, BaseTuple) else [kind]
        if not self._is_array(array) or not all(isinstance(k, types.Integer) for k in kinds):
            return None
        if self._has_negative_constant(index):
            return None
        parts = [self.loadvar(index.name)]
        if isinstance(kind, BaseTuple):
            parts = [self.builder.extract_value(parts[0], i) for i in range(len(kinds))]
        return [
            self.context.cast(self.builder, part, kind, types.intp)
            for part, kind in zip(parts, kinds, strict=True)
        ]

    def _has_negative_constant(self, index: Any) -> bool:
        found = self._definition(index)
        is_tuple = isinstance(found, ir.Expr) and found.op == "build_tuple"
        for item in map(self._definition, found.items) if is_tuple else [found]:
            value = item.value if isinstance(item, ir.Const | ir.Global | ir.FreeVar) else 0
            positions = value if isinstance(value, tuple) else (value,)
            if any(position < 0 for position in positions):
                return True
        return False

    def _definition(self, variable: Any) -> Any:
        """Return the only definition of a variable; None if there are several."""
        try:
            return self.func_ir.get_definition(variable)
        except KeyError:
            return None

    def _address(self, variable: Any, array: Any, positions: list[Any]) -> Any:
        """Address of an entry, or of the first entry of a sub-array."""
        data = self._load_field(variable, self._field_position(array, "data"))
        shape, strides = (self._field_position(array, name) for name in ("shape", "strides"))
        for axis, position in enumerate(positions):
            if self.context.enable_boundscheck:
                length = self._load_field(variable, shape, axis)
                cgutils.do_boundscheck(self.context, self.builder, position, length, axis)
            if array.layout == "C" and axis == array.ndim - 1:
                data = self.builder.gep(data, [position])
            else:
                stride = self._load_field(variable, strides, axis)
                data = cgutils.pointer_add(self.builder, data, self.builder.mul(position, stride))
        return data

    def _view(self, variable: Any, array: Any, kind: Any, address: Any, skipped: int) -> Any:
        """Descriptor of the sub-array at an address, without the first `skipped` axes."""
        parts: dict[str, Any] = {
            "data": address,
            "itemsize": self._load_field(variable, self._field_position(array, "itemsize")),
        }
        axes = range(skipped, array.ndim)
        for name in ("shape", "strides"):
            field = self._field_position(array, name)
            numbers = [self._load_field(variable, field, axis) for axis in axes]
            parts[name] = cgutils.pack_array(self.builder, numbers)
            if name == "shape":
                parts["nitems"] = reduce(self.builder.mul, numbers)
        view = llvm.Constant(self.context.get_value_type(kind), None)
        for name, part in parts.items():
            view = self.builder.insert_value(view, part, self._field_position(kind, name))
        return view


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickLowering(BaseNativeLowering):  # type: ignore[misc]
    """Compiler pass from typed functions to LLVM code, by `_QuickLower`."""

    _name = "cosmodag_quick_lowering"

    @property
    def lowering_class(self) -> Any:
        """Class that generates the LLVM code."""
        return _QuickLower


# Passes for closures, inlined overloads, array expressions and `with` blocks. Each repeats the
# analysis of the whole function, even if there is nothing to do.
_UNNEEDED_PASSES = (InlineClosureLikes, InlineOverloads, NopythonRewrites, WithLifting)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A program that is linked with its callees without optimising them again.

    Numba links the callees of a function into its module and then optimises the whole module twice,
    so that functions three levels down are optimised up to eight times. Here callees of this kind
    are linked in after the module is optimised. The module itself is optimised twice, as by Numba:
    this removes most reference counts, which would keep loops from vectorising. Optimised only
    once, DAGMA took a fifth more time.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        libraries = dict.fromkeys(self._linking_libraries)
        for library in libraries:
            self._reload_init.update(library._reload_init)
            if not isinstance(library, _Library):
                self._link(library)
        self._optimize_final_module()
        for library in libraries:
            if isinstance(library, _Library):
                self._link(library)
        self._final_module.verify()
        self._finalize_final_module()

    def _link(self, library: Any) -> None:
        self._final_module.link_in(library._get_module_for_linking(), preserve=True)


class _QuickLibrary(_Library):
    """A program without reference counts, whose module is optimised once."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _PartLibrary(_QuickLibrary):
    """A program without machine code of its own, which its callers link in."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class CountingCompiler(Compiler):  # type: ignore[misc]
    """Compiler of functions that allocate arrays."""

    library: type[_Library] = _Library

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = self.library(target.codegen(), "cosmodag")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)


class QuickCompiler(CountingCompiler):
    """Compiler of functions of plain loops that allocate nothing."""

    library = _QuickLibrary

    def define_pipelines(self) -> list[Any]:
        """Numba's passes without the unneeded ones, and with `QuickLowering`."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (QuickLowering if step is NativeLowering else step, name)
            for step, name in manager.passes
            if step not in _UNNEEDED_PASSES
        ]
        manager.finalize()
        return [manager]


class PartCompiler(QuickCompiler):
    """Compiler of functions that are called only by compiled functions."""

    library = _PartLibrary

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, args, *rest)
        self.state.flags.no_compile = True
        self.state.flags.no_cpython_wrapper = True

    def compile_extra(self, func: Any) -> Any:
        """Compile without an entry point for Python; its substitute accepts no arguments."""
        substitute = [].clear
        compiled = super().compile_extra(func)._replace(entry_point=substitute)
        self.state.targetctx.insert_user_function(substitute, compiled.fndesc, [compiled.library])
        return compiled
