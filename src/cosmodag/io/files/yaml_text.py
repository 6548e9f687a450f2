"""YAML from files that may come from anybody."""

from typing import Any

__all__ = ["read_yaml"]


def read_yaml(text: str) -> Any:
    """Read YAML; nothing in it is run.

    Raises
    ------
    ValueError
        If the text is not YAML.

    Examples
    --------
    >>> read_yaml("size: [small, large]")
    {'size': ['small', 'large']}
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not valid YAML: {error}") from error
