"""Numba's compiler without the steps that functions of plain loops do not need.

For every entry that is read or written, Numba copies the description of the array, seven to nine
fields, or those of all arrays of a tuple. It also counts negative positions from the end, clears
each variable after its last use, and looks up the implementation of each of these steps again. LLVM
then removes most of this code, which takes much of the time of a compilation. Here an entry is an
address and a load, and a variable is not cleared.
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

# Operators whose meaning can depend on the value of a constant.
_BY_VALUE = (operator.pow, operator.ipow)


class _QuickLower(Lower):  # type: ignore[misc]
    """Numba's translator, with shorter code for the operations of plain loops.

    A negative constant index counts from the end; a computed one is an error, which Numba's setting
    ``NUMBA_BOUNDSCHECK=1`` reveals.
    """

    def delvar(self, name: str) -> None:
        # No references are counted, so that a variable is only forgotten.
        if name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.StaticSetItem) and self._is_array(inst.target):
            # Numba would first look for a way of its own for constant places.
            self.lower_setitem(inst.target, inst.index_var, inst.value, self.fndesc.calltypes[inst])
        else:
            super().lower_inst(inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op == "getattr":
            kind = self.typeof(expr.value.name)
            if isinstance(kind, NamedTuple) and expr.attr in kind.fields:
                return self._part(expr.value, kind.fields.index(expr.attr))
            if isinstance(kind, types.Array) and expr.attr == "shape":
                return self._part(expr.value, self._field(kind, "shape"))
        if expr.op == "static_getitem" and self._is_array(expr.value) and expr.index_var:
            signature = self.fndesc.calltypes[expr]
            return self.lower_getitem(resty, expr, expr.value, expr.index_var, signature)
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        # Numba would first search for constant operands.
        signature = self.fndesc.calltypes[expr]
        if op in _BY_VALUE or not all(isinstance(kind, types.Number) for kind in signature.args):
            return super().lower_binop(resty, expr, op)
        function = self.context.typing_context.resolve_value_type(op)
        if expr.op == "inplace_binop":  # its types were found for another function, such as +=
            function.get_call_type(self.context.typing_context, signature.args, {})
        pairs = zip((expr.lhs, expr.rhs), signature.args, strict=True)
        sides = [self._cast_var(variable, kind) for variable, kind in pairs]
        found = self.context.get_function(function, signature)(self.builder, sides)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        places = self._places(value, index)
        if places is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        address = self._address(value, array, places)
        if isinstance(signature.return_type, types.Array):
            found = self._view(value, array, signature.return_type, address, len(places))
        else:
            found = self.context.unpack_value(
                self.builder, array.dtype, address, align=None if array.aligned else 1
            )
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        places, array = self._places(target_var, index_var), self.typeof(target_var.name)
        if places is None or len(places) < array.ndim:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self._cast_var(value_var, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], array.dtype)
        address = self._address(target_var, array, places)
        self.context.pack_value(
            self.builder, array.dtype, value, address, align=None if array.aligned else 1
        )
        return None

    def _is_array(self, variable: Any) -> bool:
        return isinstance(self.typeof(variable.name), types.Array)

    def _field(self, kind: Any, name: str) -> int:
        position: int = self.context.data_model_manager[kind].get_field_position(name)
        return position

    def _part(self, variable: Any, *path: int) -> Any:
        """Load one field of a variable that has several."""
        if variable.name in self._blk_local_varmap:
            return self.builder.extract_value(self._blk_local_varmap[variable.name], path)
        return self.builder.load(
            cgutils.gep_inbounds(self.builder, self.getvar(variable.name), 0, *path)
        )

    def _places(self, array: Any, index: Any) -> list[Any] | None:
        """Position on each indexed axis; None if the index is not made of integers."""
        kind = self.typeof(index.name)
        kinds = list(kind) if isinstance(kind, BaseTuple) else [kind]
        if not self._is_array(array) or not all(isinstance(k, types.Integer) for k in kinds):
            return None
        if self._counts_from_the_end(index):
            return None
        parts = [self.loadvar(index.name)]
        if isinstance(kind, BaseTuple):
            parts = [self.builder.extract_value(parts[0], i) for i in range(len(kinds))]
        return [
            self.context.cast(self.builder, part, kind, types.intp)
            for part, kind in zip(parts, kinds, strict=True)
        ]

    def _counts_from_the_end(self, index: Any) -> bool:
        """Whether an index has a negative constant."""
        found = self._definition(index)
        is_tuple = isinstance(found, ir.Expr) and found.op == "build_tuple"
        for item in map(self._definition, found.items) if is_tuple else [found]:
            value = item.value if isinstance(item, ir.Const | ir.Global | ir.FreeVar) else 0
            places = value if isinstance(value, tuple) else (value,)
            if any(place < 0 for place in places):
                return True
        return False

    def _definition(self, variable: Any) -> Any:
        """Return the only definition of a variable; None if there are several."""
        try:
            return self.func_ir.get_definition(variable)
        except KeyError:
            return None

    def _address(self, variable: Any, array: Any, places: list[Any]) -> Any:
        """Address of an entry, or of the first entry of a row."""
        data = self._part(variable, self._field(array, "data"))
        shape, strides = self._field(array, "shape"), self._field(array, "strides")
        for axis, place in enumerate(places):
            if self.context.enable_boundscheck:
                length = self._part(variable, shape, axis)
                cgutils.do_boundscheck(self.context, self.builder, place, length, axis)
            if array.layout == "C" and axis == array.ndim - 1:
                data = self.builder.gep(data, [place])
            else:
                stride = self._part(variable, strides, axis)
                data = cgutils.pointer_add(self.builder, data, self.builder.mul(place, stride))
        return data

    def _view(self, variable: Any, array: Any, kind: Any, address: Any, skipped: int) -> Any:
        """Describe the sub-array that begins at an address, without the first axes."""
        parts: dict[str, Any] = {
            "data": address,
            "itemsize": self._part(variable, self._field(array, "itemsize")),
        }
        axes = range(skipped, array.ndim)
        for name in ("shape", "strides"):
            numbers = [self._part(variable, self._field(array, name), axis) for axis in axes]
            parts[name] = cgutils.pack_array(self.builder, numbers)
            if name == "shape":
                parts["nitems"] = reduce(self.builder.mul, numbers)
        view = llvm.Constant(self.context.get_value_type(kind), None)
        for name, part in parts.items():
            view = self.builder.insert_value(view, part, self._field(kind, name))
        return view


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickLowering(BaseNativeLowering):  # type: ignore[misc]
    """Numba's step from typed functions to LLVM's language, in short forms."""

    _name = "cosmodag_quick_lowering"

    @property
    def lowering_class(self) -> Any:
        """The translator."""
        return _QuickLower


# Steps for closures, overloads to be inlined, array expressions and contexts. Each renews the
# analysis of the whole function, even if there is nothing to do.
_NOT_NEEDED = (InlineClosureLikes, InlineOverloads, NopythonRewrites, WithLifting)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A program whose called functions are not optimised again.

    Numba links the functions that a function calls into its module, and optimises the whole twice:
    functions called over three levels are optimised up to eight times. Here other programs of this
    kind are linked in after the module is optimised. The module itself is optimised twice, as by
    Numba: that removes most reference counts, without which loops do not vectorise. Optimised once,
    DAGMA took a fifth more time.
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
    """A program without machine code of its own; those that call it link it in."""

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
        """Numba's steps but for those not needed, and `QuickLowering`."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (QuickLowering if step is NativeLowering else step, name)
            for step, name in manager.passes
            if step not in _NOT_NEEDED
        ]
        manager.finalize()
        return [manager]


class PartCompiler(QuickCompiler):
    """Compiler of functions that only compiled functions call."""

    library = _PartLibrary

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, args, *rest)
        self.state.flags.no_compile = True
        self.state.flags.no_cpython_wrapper = True

    def compile_extra(self, func: Any) -> Any:
        """Compile, with an entry point that refuses arguments in place of one for Python."""
        refusing = [].clear
        made = super().compile_extra(func)._replace(entry_point=refusing)
        self.state.targetctx.insert_user_function(refusing, made.fndesc, [made.library])
        return made
