"""Numba's compiler without the steps that functions of plain loops do not need."""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

from cosmodag.compilation.lowering import QuickLowering

__all__ = ["CountingCompiler", "PartCompiler", "QuickCompiler"]

# Steps for closures, overloads to be inlined, array expressions and contexts. Each renews the
# analysis of the whole function, even if there is nothing to do.
_NOT_NEEDED = (InlineClosureLikes, InlineOverloads, NopythonRewrites, WithLifting)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A program whose called functions are not optimised again.

    Numba links the functions that a function calls into its module, and optimises the whole twice:
    functions called over three levels are optimised up to eight times; before that, each function
    is optimised by itself. Here other programs of this kind are linked in after the module is
    optimised.

    The module itself is optimised twice, as by Numba: that brings reference counts together and
    removes most of them, without which loops do not vectorise. Optimised once, DAGMA took a fifth
    more time.
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
