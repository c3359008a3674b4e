"""A vendored module does what the unmodified one does, from the first use on; without the runtime it imports."""

import textwrap

import pytest

from tests.shim.modules import HEAD, MODULES
from tests.shim.projects import SPEC, Project
from vendor_tool.transform import shim_proof

# what the first probe gave is shown once everything is real, also where it did not use it
ANSWER = """
import re
import {name} as module
first = module.probe()
module.T.float16.bits
shown = re.sub("0x[0-9a-f]+", "0x", repr((first, module.probe())))
print(shown.replace("{name}", "k"))
"""


def source(text: str) -> str:
    return HEAD.lstrip("\n") + textwrap.dedent(text)


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_a_vendored_module_does_what_the_unmodified_one_does(project: Project, text: str) -> None:
    project.runtime()
    project.vendor("k", source(text))
    project.write("plain/k.py", source(text))
    vendored, plain = (project.run(ANSWER.format(name=name)) for name in ("vendored.k", "plain.k"))
    assert vendored == plain


def test_all_of_them_import_without_the_runtime_but_what_functions_read_too_early_is_refused(project: Project) -> None:
    files = {f"vendored/k{n}.py": project.vendor(f"k{n}", source(text)) for n, text in enumerate(MODULES.values())}
    files["vendored/_tilelang.py"] = (project.root / "vendored/_tilelang.py").read_bytes()
    found = [finding.message.partition(",")[0] for finding in shim_proof.prove(files, {"tilelang": SPEC})]
    texts = [f"the text of `{name}`" for name in ("J", "J2", "J3", "J4")]
    # texts in objects and lists, a set that is given away, a table that one of its own keys is looked up in
    early = ["`probe`"] * 4 + ["`Q.⟨tilelang:12⟩`", "`probe`"]
    assert found == [*texts, *(f"{name} may be called before anything else is" for name in early)]
