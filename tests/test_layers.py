"""Who may import whom: a module imports lower layers, and the pairs listed here."""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter

import pytest
from codebase import Import, imports, inner_imports, modules, trees

LAYERS: dict[int, str] = {
    0: "errors models reports clock durations arguments",
    1: "_core _tokenize _version",
    2: "decay reinforcement analysis naming tense build conditions embedders vectorstores records",
    3: "columns facets index csr graph spreading recipes scoring recall reconsolidation drafts"
    " remembering superseding found conflicts"
    " hits merging succession shelf pending loaded metering lanes spaces changes commits desks"
    " searches questions bounded associating noting options batches catchup"
    " writes workers digests reading retrieval explaining revision erasure filters prospective"
    " buffer summaries consolidation engine lines parsing intake telling restoring importing"
    " exporting verifying reembedding languages hubs products replies straight",
    4: "sharing maintenance database handle recaller store agentic fleet calibrate",
    5: "__init__ __main__ cli demo terminal charts",
}
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names.split()}

# Within a layer: importer -> what it imports.  Every pair is used; a new one is a decision.
WITHIN: dict[str, str] = {
    # 0: everything may name errors; durations are written in the clock's units
    "arguments": "errors",
    "clock": "errors",
    "durations": "clock errors",
    # 2: a subpackage is its protocol (base), implementations that see it, and a front that
    # names both for users; implementations do not see each other
    "embedders": "embedders.base embedders.callable embedders.hashing",
    "embedders.callable": "embedders.base",
    "embedders.hashing": "embedders.base",
    "vectorstores": "vectorstores.base vectorstores.native",
    "vectorstores.native": "vectorstores.base",
    # 2, records: values and rows; statements over them; a connection; reading; writing; sqlite
    "records.store": "records.base records.followable",
    "records.memory_rows": "records.base records.rows",
    "records.header": "records.failures",
    "records.transactions": "records.busy records.failures records.forks records.handles",
    "records.connection": "records.failures records.filesystems records.forks records.handles"
    " records.opened records.transactions",
    "records.leftovers": "records.handles",
    "records.opened": "records.busy records.leftovers",
    "records.journals": "records.busy records.connection records.opened",
    "records.caches": "records.connection",
    "records.corruption": "records.base records.connection records.identity records.statements"
    " records.tables",
    "records.counters": "records.base records.connection records.corruption records.rows"
    " records.statements",
    "records.migrate": "records.connection records.header records.opened records.rows"
    " records.statements",
    "records.base": "records.erasable records.loadable records.rows records.stageable",
    "records.followable": "records.base",
    "records.forks": "records.identity",
    "records.touching": "records.base",
    "records.statements": "records.base records.followable records.memory_rows",
    "records.following": "records.base records.followable records.memory_rows records.reading"
    " records.rows records.statements",
    "records.checked": "records.base records.connection records.corruption records.ended"
    " records.memory_rows records.rows records.statements",
    "records.reading": "records.base records.checked records.corruption records.erasable"
    " records.memory_rows records.rows records.staging records.statements",
    "records.staging": "records.base records.connection records.counters records.rows"
    " records.stageable records.statements",
    "records.erasing": "records.base records.connection records.corruption records.counters"
    " records.ended records.erasable"
    " records.following records.memory_rows records.reading records.rows records.statements"
    " records.touching",
    "records.writing": "records.base records.counters records.erasing records.followable"
    " records.memory_rows records.migrate records.reading records.rows records.statements"
    " records.stageable records.staging",
    # 2, records as a file: every table alike, read past damage; what is wrong; copies
    "records.tables": "records.base records.identity records.memory_rows records.rows"
    " records.statements",
    "records.scanning": "records.connection records.tables",
    "records.checks": "records.base records.connection records.counters records.migrate"
    " records.references records.scanning records.statements records.tables",
    "records.looking": "records.connection records.header records.migrate",
    "records.backup": "records.connection records.header records.opened records.parts"
    " records.tables",
    "records.proofs": "records.base records.connection records.digests records.scanning"
    " records.tables",
    "records.mending": "records.base records.connection records.quarantine records.rows"
    " records.tables",
    "records.salvage": "records.base records.connection records.counters records.digests"
    " records.identity records.mending records.proofs records.quarantine records.rows"
    " records.scanning records.statements records.tables",
    "records.repairing": "records.backup records.base records.checks records.connection"
    " records.header records.looking records.migrate records.parts records.quarantine"
    " records.salvage",
    "records.readers": "records.connection",
    "records.logs": "records.busy records.connection",
    "records.sqlite": "records.backup records.base records.caches records.checks"
    " records.connection records.counters records.erasing records.following records.forks"
    " records.header records.journals records.logs records.migrate records.opened records.places"
    " records.readers records.writing",
    "records.places": "records.forks records.opened",
    # 3, what one scope holds in RAM: a graph and columns make an index, an engine keeps many
    "graph": "csr",
    "spreading": "csr graph",
    "index": "columns facets graph shelf spaces",
    "filters": "columns facets index",
    "changes": "index",
    "commits": "changes",
    "pending": "changes columns recipes reconsolidation",
    "loaded": "index",
    "catchup": "index pending reconsolidation",
    "desks": "changes index loaded",
    "lanes": "changes index spaces",
    "engine": "catchup changes commits desks digests index lanes loaded metering pending shelf"
    " spaces workers writes",
    "writes": "changes commits desks pending",
    # 3, recall: a recipe weighs, the stages run over an index; retrieval is recall as a call
    "recipes": "spreading",
    "scoring": "recipes",
    "succession": "columns",
    "spaces": "searches",
    "questions": "index recipes scoring searches spaces succession",
    "associating": "index questions recipes spreading",
    "noting": "hits index questions succession",
    "bounded": "associating hits noting questions recipes searches spreading",
    "recall": "associating bounded hits noting products questions recipes scoring searches spaces"
    " spreading"
    " succession",
    "reconsolidation": "recipes",
    "reading": "engine reconsolidation shelf",
    "merging": "hits",
    "products": "hits",
    "replies": "metering options",
    "straight": "engine found hits index options pending products recipes reconsolidation replies"
    " shelf spaces",
    "found": "engine hits index pending reading recipes reconsolidation shelf",
    "retrieval": "engine filters found hits index merging options questions recall recipes"
    " replies shelf spaces straight",
    "explaining": "engine filters hits index options questions reading recall retrieval",
    "options": "filters recipes",
    "batches": "engine hits index options questions recall recipes replies retrieval searches"
    " straight",
    # 3, writes: each is one change of the engine's
    "superseding": "changes reading",
    "hubs": "changes",
    "conflicts": "drafts engine index searches",
    "remembering": "changes commits conflicts drafts engine hubs index reading reconsolidation"
    " spaces superseding",
    "revision": "changes drafts engine graph hubs reading reconsolidation remembering superseding",
    "erasure": "buffer changes engine filters prospective reading reconsolidation superseding",
    "buffer": "changes drafts engine reading remembering summaries",
    "prospective": "changes engine reading",
    "consolidation": "changes engine index",
    # 4: databases share engines, a store is a handle, an agent's memory is a store with a buffer,
    # a fleet hands them out
    "maintenance": "sharing",
    "database": "maintenance sharing",
    "handle": "database",
    "recaller": "handle",
    "store": "recaller",
    "agentic": "database store",
    "fleet": "agentic database handle",
    # 3: the exchange format, from values to what reads and writes them
    "lines": "drafts",
    "parsing": "drafts graph lines",
    "intake": "buffer engine lines",
    "telling": "buffer changes drafts intake lines remembering",
    "restoring": "changes intake lines prospective remembering telling",
    "verifying": "engine index spaces",
    "reembedding": "engine lanes spaces",
    "importing": "buffer changes engine intake lines parsing remembering restoring telling",
    "exporting": "engine lines",
    # 5: the command line, and how things look in a terminal
    "__main__": "cli",
    "cli": "demo terminal",
    "demo": "charts terminal",
}

# What layer 3 may see of the subpackages: protocols and values, never a backend.
SEEN_BY_LAYER_3 = {
    "embedders.base",
    "vectorstores.base",
    "records.base",
    "records.digests",
    "records.identity",
    "records.erasable",
    "records.stageable",
    "records.followable",
    "records.store",
}

# Third-party packages, and the modules that may import them.
EVERYWHERE = "*"
THIRD_PARTY: dict[str, str] = {
    "numpy": EVERYWHERE,
    "apsw": "build records",
    "Stemmer": "analysis",
    "scipy": "calibrate csr",
    "typer": "cli",
    "rich": "demo terminal",
}
ONLY_INSIDE_FUNCTIONS = {"scipy"}
CORE_IMPORTERS = {1, 2, 3}

# What reaches outside the process or the call, and the only modules that may.
OUTSIDE: dict[str, dict[str, str]] = {
    "time": {
        "clock": "time_ns",
        "batches": "perf_counter_ns",
        "commits": "monotonic",
        "pending": "monotonic_ns",
        "replies": "perf_counter_ns",
        "retrieval": "perf_counter_ns",
        "straight": "perf_counter_ns",
        "remembering": "perf_counter_ns",
        "records.busy": "monotonic sleep",
        "records.journals": "monotonic sleep",
        "records.logs": "monotonic sleep",
        "records.opened": "monotonic sleep",
    },
    "random": {},
    "logging": {},
    "os.environ": {"__init__": "get"},
}
PRINTERS = {"cli", "demo", "__main__"}


def top(module: str) -> str:
    return module.partition(".")[0]


def layer(module: str) -> int:
    return LAYER_OF[top(module)]


def test_every_module_has_a_layer() -> None:
    unplaced = sorted({top(name) for name in modules()} - LAYER_OF.keys())

    assert unplaced == []


def test_no_module_imports_a_higher_layer() -> None:
    upward = [str(i) for i in inner_imports() if layer(i.imported) > layer(i.importer)]

    assert upward == []


def test_imports_within_a_layer_are_exactly_those_listed() -> None:
    found: dict[str, set[str]] = {}
    for one in inner_imports():
        if layer(one.imported) == layer(one.importer):
            found.setdefault(one.importer, set()).add(one.imported)

    assert found == {importer: set(names.split()) for importer, names in WITHIN.items()}


def test_imports_form_no_cycle() -> None:
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for one in inner_imports():
        graph[one.importer].add(one.imported)

    order = list(TopologicalSorter(graph).static_order())  # raises CycleError

    assert set(order) == set(modules())


def test_the_native_core_is_imported_by_layers_1_to_3_alone() -> None:
    wrong = [
        str(i)
        for i in inner_imports()
        if i.imported == "_core"
        and layer(i.importer) not in CORE_IMPORTERS
        and i.importer != "__init__"
    ]

    assert wrong == []


def test_layer_3_sees_protocols_and_no_backend() -> None:
    subpackages = {"embedders", "vectorstores", "records"}
    wrong = [
        str(i)
        for i in inner_imports()
        if layer(i.importer) == 3
        and top(i.imported) in subpackages
        and i.imported not in SEEN_BY_LAYER_3
    ]

    assert wrong == []


def test_names_are_imported_from_modules_and_not_from_a_subpackage() -> None:
    # `from ebbmem.records import X` would hide from this graph which module X comes from.
    subpackages = {"embedders", "vectorstores", "records"}
    wrong = [str(i) for i in inner_imports() if i.imported in subpackages]

    assert [w for w in wrong if not w.startswith("__init__:")] == []


def may_import(one: Import) -> bool:
    package = top(one.imported)
    if package in sys.stdlib_module_names or package == "ebbmem":
        return True
    allowed = THIRD_PARTY.get(package, "")
    return allowed == EVERYWHERE or top(one.importer) in allowed.split()


def test_third_party_packages_are_imported_only_where_listed() -> None:
    assert [str(i) for i in imports() if not may_import(i)] == []


def test_heavy_packages_are_imported_inside_the_function_that_needs_them() -> None:
    wrong = [str(i) for i in imports() if i.at_import and top(i.imported) in ONLY_INSIDE_FUNCTIONS]

    assert wrong == []


@pytest.mark.parametrize("package", ["time", "random", "logging"])
def test_clock_chance_and_log_are_reached_only_where_listed(package: str) -> None:
    importers = {i.importer for i in imports() if i.imported == package}

    assert importers == OUTSIDE[package].keys()


@pytest.mark.parametrize("dotted", OUTSIDE)
def test_only_the_listed_names_of_a_package_are_used(dotted: str) -> None:
    used: dict[str, set[str]] = {}
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == dotted:
                used.setdefault(name, set()).add(node.attr)

    assert used == {name: set(names.split()) for name, names in OUTSIDE[dotted].items()}


def test_packages_that_reach_outside_are_imported_whole() -> None:
    # `from time import time` would hide from the test above what is used.
    wrong = [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in {"time", "random", "os", "logging"}
    ]

    assert wrong == []


def test_nothing_asks_a_datetime_for_the_present() -> None:
    asking = {"now", "utcnow", "today"}
    wrong = [
        f"{name}:{node.lineno} {ast.unparse(node)}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in asking
        and ast.unparse(node.value).split(".")[-1] in {"datetime", "date"}
    ]

    assert wrong == []


def test_only_the_command_line_prints() -> None:
    wrong = [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"print", "sys.stdout.write", "sys.stderr.write"}
        and name not in PRINTERS
    ]

    assert wrong == []


def test_kernels_by_instruction_set_are_for_tests_and_benchmarks() -> None:
    wrong = [name for name, tree in trees().items() if "_testing" in ast.unparse(tree)]

    assert wrong == []
