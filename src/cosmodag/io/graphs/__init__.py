"""Graphs as plain data: conversion from many objects, and the file formats of many programs."""

from cosmodag.graph.texts import GraphFormat
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats import graph_suffix
from cosmodag.io.graphs.read_graph import as_graph, read_graph
from cosmodag.io.graphs.write_graph import dump_graph, write_graph

__all__ = [
    "Graph",
    "GraphFormat",
    "as_graph",
    "dump_graph",
    "graph_suffix",
    "read_graph",
    "write_graph",
]
