# SPDX-License-Identifier: Apache-2.0
"""Archives in Model Library Format that the real TVM builds, with inputs and what TVM answers for them."""
import os
import pathlib
import tempfile

import tvm
from tvm import relay
from tvm.micro import build, model_library_format
from tvm.relay.backend import Executor, Runtime

import networks

TYPED = ("aot", {"interface-api": "c", "unpacked-api": True})
PACKED = ("aot", {"interface-api": "packed", "unpacked-api": False})
GRAPH = ("graph", {"link-params": False})
LINKED = ("graph", {"link-params": True})

TEMPLATES = ("crt_config.h", "platform.c")

HOST = "c"
DSP = "c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386"


def planned(algorithm, **more):
    return {"tir.usmp.enable": True, "tir.usmp.algorithm": algorithm, **more}


# name: executor, target, configuration of passes
KINDS = {
    "plain": (TYPED, HOST, {}),
    "greedy": (TYPED, HOST, planned("greedy_by_size")),
    "conflicts": (TYPED, HOST, planned("greedy_by_conflicts")),
    "climbed": (TYPED, HOST, planned("hill_climb")),
    "unfused": (TYPED, HOST, {"relay.FuseOps.max_depth": 1}),
    "packed": (PACKED, HOST, {}),
    "packedplan": (PACKED, HOST, planned("hill_climb")),
    "graph": (GRAPH, HOST, {}),
    "linked": (LINKED, HOST, {}),
    "dsp": (TYPED, DSP, {}),
    "dspplan": (TYPED, DSP, planned("hill_climb")),
}


def without_runtime(folder):
    """The Python package comes without the C runtime that archives and projects carry; Kiln puts its own in its place."""
    place = pathlib.Path(folder) / "no_runtime"
    for path in ["standalone_crt/include/none.h", *(f"microtvm_template_projects/crt/templates/{name}.template" for name in TEMPLATES)]:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    # TVM looks beside each library that it finds, and loads the first one only. Its workers have the same environment.
    (place / "libtvm_runtime.so").write_text("")
    os.environ["TVM_LIBRARY_PATH"] = str(place)
    build.STANDALONE_CRT_DIR = None


def archive(name, kind, network, seed):
    """One archive, name.tar, and two cases of it, in vectors/name: files by their path, as hexadecimal digits."""
    files = {}
    (executor, options), target, config = KINDS[kind]
    module = networks.network(network, seed)
    has_library = executor == "graph" or options.get("interface-api") == "packed"
    with tempfile.TemporaryDirectory() as folder:
        without_runtime(folder)
        with tvm.transform.PassContext(opt_level=3, config={"tir.disable_vectorize": True, **config}):
            built = relay.build(
                module,
                target=tvm.target.Target(target, host=target),
                executor=Executor(executor, options),
                runtime=Runtime("crt", {"system-lib": has_library}),
                mod_name=name,
            )
        path = pathlib.Path(folder) / (name + ".tar")
        model_library_format.export_model_library_format(built, str(path))
        files[path.name] = path.read_bytes().hex()
        del os.environ["TVM_LIBRARY_PATH"]
    for case in range(2):
        inputs = networks.drawn_inputs(module, 100 * seed + case)
        outputs = networks.answers(network, seed, inputs)
        for kind, values in ("input", inputs), ("output", outputs):
            files[f"vectors/{name}/{kind}_{case}.bin"] = b"".join(value.tobytes() for value in values).hex()
    return files


QUESTIONS = {"archive": archive}
