"""A validator for the parts of JSON Schema that the schemas in ``docs/`` use."""

from typing import Any

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}
KNOWN = {
    "$schema", "title", "description", "type", "required", "properties", "items", "prefixItems",
    "additionalProperties", "const", "enum", "minimum", "minItems", "maxItems",
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """List the parts of a value that violate the schema."""
    assert set(schema) <= KNOWN, f"{place}: {set(schema) - KNOWN} is not checked here"
    found = []
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        return [f"{place} is a {type(value).__name__}, not {types}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{place} is {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place} is {value!r}")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{place} is {value}, below {schema['minimum']}")
    if isinstance(value, dict):
        found += [f"{place} has no {key}" for key in schema.get("required", []) if key not in value]
        described = schema.get("properties", {})
        for key, item in value.items():
            rule = described.get(key, schema.get("additionalProperties", {}))
            found += faults(item, rule, f"{place}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{place} has {len(value)} items")
        rules = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            rule = rules[index] if index < len(rules) else schema.get("items", {})
            found += faults(item, rule, f"{place}[{index}]")
    return found


def has_type(value: Any, name: str) -> bool:
    if name in ("integer", "number"):
        wanted = int if name == "integer" else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])
