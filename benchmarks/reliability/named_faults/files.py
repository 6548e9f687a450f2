"""Faults in files, the command line, the page, and compiled programs."""

from named_faults.fault import Fault

ROUND_TRIPS = "properties/test_graph_round_trips.py::test_written_graph_reads_back_or_is_refused"
TABLES, GRAPH_FILES = "io/test_table_files.py", "io/test_graph_files.py"
SHELL, COMPILED = "cli/test_shell.py", "test_compiled.py"
PAGE = "report/test_page.py::test_any_text_comes_back_and_ends_no_element"

FAULTS = (
    Fault(
        "edge lists do not double quotes",
        "io/graphs/formats/csv_text.py",
        """'"' + name.replace('"', '""') + '"'""",
        """'"' + name + '"'""",
        (ROUND_TRIPS,),
    ),
    Fault(
        "DOT does not escape quotes",
        "io/graphs/formats/dot_text.py",
        """{name: '"' + name.replace('"', '\\\\"') + '"' for name in graph.names}""",
        """{name: '"' + name + '"' for name in graph.names}""",
        (ROUND_TRIPS,),
    ),
    Fault(
        "'<-' of DOT is read as '->'",
        "io/graphs/formats/dot_text.py",
        "pairs += [(u, v) if forward else (v, u) for u in left for v in right]",
        "pairs += [(u, v) for u in left for v in right]",
        (f"{GRAPH_FILES}::test_dagitty_by_hand", f"{GRAPH_FILES}::test_dot_by_hand"),
    ),
    Fault(
        "an adjacency matrix with rows in another order is accepted",
        "io/graphs/formats/csv_text.py",
        "if labelled and row[0] != names[index]:",
        "if False:",
        (f"{GRAPH_FILES}::test_bad_files",),
    ),
    Fault(
        "decimal commas make columns",
        "io/tables/json_records.py",
        '_SEPARATORS = (";", "\\t", ",", "|")',
        '_SEPARATORS = (",", "\\t", ";", "|")',
        (f"{TABLES}::test_commas_between_semicolons_are_decimal_marks_or_parts_of_names",),
        was_missed=True,
    ),
    Fault(
        "files are written in place",
        "io/files/writing.py",
        "            os.replace(temporary, target)\n",
        "            target.write_bytes(data)\n            temporary.unlink()\n",
        ("io/test_atomic.py",),
    ),
    Fault(
        "models of other versions are read",
        "io/files/model.py",
        'if metadata.get("format") != _MODEL_FORMAT:',
        "if False:",
        ("io/test_model_files.py::test_models_of_other_versions_are_refused",),
        was_missed=True,
    ),
    Fault(
        "LiNGAM's matrix is not transposed",
        "io/graphs/convert.py",
        "return np.ascontiguousarray(as_graph(graph).dense().T)",
        "return np.ascontiguousarray(as_graph(graph).dense())",
        ("io/test_convert.py::test_lingam_is_transposed",),
    ),
    Fault(
        "edges.csv quoted only when needed",
        "report/saved.py",
        "quoting=csv.QUOTE_NONNUMERIC",
        "quoting=csv.QUOTE_MINIMAL",
        ("report/test_saved.py::test_names_in_the_list_of_arcs_keep_their_blanks",),
        was_missed=True,
    ),
    Fault(
        "'&' unescaped in the page",
        "report/page.py",
        'for character in "<>&\\u2028\\u2029":',
        'for character in "<>\\u2028\\u2029":',
        (PAGE,),
        was_missed=True,
    ),
    Fault(
        "U+2029 unescaped in the page",
        "report/page.py",
        'for character in "<>&\\u2028\\u2029":',
        'for character in "<>&\\u2028":',
        (PAGE,),
        was_missed=True,
    ),
    Fault(
        "names are markup in the thumbnail",
        "report/drawings.py",
        'f"{escape(label)}</text>"',
        'f"{label}</text>"',
        ("report/test_plots.py::test_a_notebook_shows_the_graph",),
    ),
    Fault(
        "bad input ends with 1",
        "cli/terminal/shell.py",
        "code = EXIT_USAGE if isinstance(error, DataError) else EXIT_FAILED",
        "code = EXIT_FAILED",
        (f"{SHELL}::test_an_error_is_one_line_and_a_code",),
    ),
    Fault(
        "Ctrl-C ends with 1",
        "cli/terminal/signals.py",
        "    signal.SIGINT: _End(\n        EXIT_INTERRUPTED,\n",
        "    signal.SIGINT: _End(\n        1,\n",
        (f"{SHELL}::test_an_error_is_one_line_and_a_code",),
    ),
    Fault(
        "NaN in JSON",
        "cli/terminal/output.py",
        "if isinstance(value, float) and not math.isfinite(value):",
        "if False:",
        (f"{SHELL}::test_json_is_strict_and_plain",),
    ),
    Fault(
        "--refine none is the default",
        "cli/options/fitting.py",
        'if self.refine == "auto" else',
        'if self.refine in ("auto", "none") else',
        ("cli/test_fit_command.py::test_refining_may_be_left_out",),
        was_missed=True,
    ),
    Fault(
        "fit --bootstrap forgets interventions",
        "cli/fit_steps.py",
        "            **fit_arguments,\n            random_state",
        "            random_state",
        ("cli/test_fit_inputs.py::test_a_bootstrap_is_told_of_interventions",),
        was_missed=True,
    ),
    Fault(
        "evaluate cuts finished graphs at .3",
        "cli/graph_commands.py",
        "is_raw = threshold is None and not is_dag(graph.weights)",
        "is_raw = threshold is None",
        ("cli/test_evaluate_command.py::test_a_finished_graph_is_no_distance_from_itself",),
    ),
    Fault(
        "Numba cache owner unchecked",
        "runtime/private_folder.py",
        "elif found.st_uid != os.getuid():",
        "elif False:",
        ("cli/test_cache.py::test_another_users_folder_is_refused",),
        was_missed=True,
    ),
    Fault(
        "programs of changed helpers are run",
        "runtime/program_cache.py",
        "            yield from _contents(item, seen)\n",
        "            yield from ()\n",
        (f"{COMPILED}::test_a_changed_helper_or_constant_elsewhere_is_noticed",),
    ),
    Fault(
        "keys of thousands of parts are read",
        "io/files/documents.py",
        "_MOST_PARTS = 64",
        "_MOST_PARTS = 10**9",
        (
            "faults/test_short_hostile_files.py"
            "::test_a_short_hostile_file_is_one_sentence_in_a_moment[toml: parts of a key]",
        ),
    ),
    Fault(
        "an experiment may ask for any number of cells",
        "bench/protocol.py",
        "_MOST_CELLS = 10_000_000",
        "_MOST_CELLS = 10**30",
        ("faults/test_hostile_files.py::test_an_experiment_of_any_size_is_refused_at_once",),
    ),
)
