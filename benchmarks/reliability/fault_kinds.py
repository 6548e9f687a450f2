"""Faults in Python sources, generated from their syntax trees: small changes that compile."""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

_OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Pow: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.And: "or", ast.Or: "and", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip

Span = Callable[[ast.expr | ast.keyword], tuple[int, int]]
"""Offsets of the first character of a node, and of the one after its last."""

KINDS = ("operator", "constant", "axis", "arguments", "keyword", "branch")


class Change(NamedTuple):
    """A fault: the text between two offsets of a source is replaced."""

    kind: str
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """Return the source with the fault."""
        return source[: self.start] + self.text + source[self.end :]


def changes(source: str) -> list[Change]:
    """List the faults that can be put into a source, one at a time.

    Annotations, docstrings, messages of errors, assertions and code for type checkers have none.

    >>> [change.applied("y = f(x, 2)") for change in changes("y = f(x, 2)")]
    ['y = f(2, x)', 'y = f(x, 3)']
    """
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        """Convert a position, whose column counts bytes of UTF-8, to a number of characters."""
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.expr | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = offset(node.end_lineno, node.end_col_offset)
        return offset(node.lineno, node.col_offset), end

    found = []
    for node in _code(ast.parse(source)):
        found += list(_of_node(node, source, span))
    return found


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node whose change may change what the program computes."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(
                child, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom
            ):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            yield from _code(child)


def _of_node(node: ast.AST, source: str, span: Span) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from _between(source, span(left)[1], span(right)[0], op)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from _between(source, span(left)[1], span(right)[0], op)
        case ast.BoolOp(op=op, values=[left, right, *_]):
            yield from _between(source, span(left)[1], span(right)[0], op)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            changed = value + 1 if isinstance(value, int) else 2 * value + 1
            yield Change("constant", *span(node), repr(changed))
        case ast.keyword(arg="axis", value=value) if ast.unparse(value) in ("0", "1", "-1"):
            yield Change("axis", *span(value), "1" if ast.unparse(value) == "0" else "0")
        case ast.If(test=test) | ast.IfExp(test=test):
            start, end = span(test)
            yield Change("branch", start, end, f"(not ({source[start:end]}))")
    if isinstance(node, ast.Call):
        yield from _of_call(node, source, span)


def _between(source: str, start: int, end: int, op: ast.AST) -> Iterator[Change]:
    """Replace an operator, which stands between two operands and their parentheses."""
    new = _OPERATORS.get(type(op))
    between = source[start:end]
    if new is None or "#" in between:
        return
    old = " ".join(word for word in between.replace("(", " ").replace(")", " ").split())
    if old and old in between:
        place = start + between.index(old)
        yield Change("operator", place, place + len(old), new)


def _of_call(node: ast.Call, source: str, span: Span) -> Iterator[Change]:
    """Exchange the first two arguments of a call, or leave one keyword out."""
    if len(node.args) >= 2 and not any(isinstance(one, ast.Starred) for one in node.args[:2]):
        (first, middle), (last, end) = span(node.args[0]), span(node.args[1])
        texts = source[first:middle], source[last:end]
        if texts[0] != texts[1]:
            yield Change("arguments", first, end, texts[1] + source[middle:last] + texts[0])
    for word in node.keywords:
        if word.arg is not None:
            start, end = span(word)
            comma = end + len(source[end:]) - len(source[end:].lstrip())
            end = comma + 1 if source[comma : comma + 1] == "," else end
            yield Change("keyword", start, end, "")
