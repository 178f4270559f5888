# SPDX-License-Identifier: Apache-2.0
"""AutoTVM of the real TVM, as microTVM's tutorial has it, with a template of the Project API."""
import json
import os
import random

import numpy
import tvm
import tvm.micro
from tvm import autotvm, relay
from tvm.relay.backend import Executor, Runtime

import archives
import networks
import sessions

NETWORK = ("dense", 7)
TEMPLATE = "dense_nopack.x86"
TARGET = "c -keys=cpu"
WITHOUT_VECTORS = {"tir.disable_vectorize": True}


def built(module, target, runtime):
    with tvm.transform.PassContext(opt_level=3, config=WITHOUT_VECTORS):
        return relay.build(
            module, target=target, executor=Executor("aot", {"interface-api": "packed", "unpacked-api": False}), runtime=runtime)


def measured(task, template, options, runtime, trials, log):
    """Writes a record for each of some configurations, every one of which is a project that is generated, built and run."""
    builder = autotvm.LocalBuilder(
        n_parallel=1, build_kwargs={"build_option": WITHOUT_VECTORS}, do_fork=True, build_func=tvm.micro.autotvm_build_func,
        runtime=runtime, timeout=300)
    loader = tvm.micro.AutoTvmModuleLoader(template_project_dir=template, project_options=options)
    runner = autotvm.LocalRunner(number=1, repeat=1, timeout=300, module_loader=loader)
    numpy.random.seed(1)
    random.seed(1)
    autotvm.tuner.GATuner(task).tune(
        n_trial=trials, measure_option=autotvm.measure_option(builder=builder, runner=runner),
        callbacks=[autotvm.callback.log_to_file(log)])


def tune(folder, template, board, trials):
    """Tunes a layer, then runs it with the best configuration: all over the template's server."""
    archives.without_runtime(folder)
    options = {"board": board, "project_type": "host_driven"}
    target = tvm.target.Target(TARGET, host=TARGET)
    runtime = Runtime("crt", {"system-lib": True})
    module = networks.network(*NETWORK)
    tasks = autotvm.task.extract_from_program(module["main"], {}, target)
    (task,) = [each for each in tasks if each.name == TEMPLATE]
    log = os.path.join(folder, "tuning.log")
    measured(task, template, options, runtime, trials, log)
    with open(log, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]

    # Two configurations may take the same time by a clock of microseconds: TVM takes the first, and so does this.
    best = min(records, key=lambda record: record["result"][0])
    slowest = max((record for record in records if record is not best), key=lambda record: record["result"][0])
    only_slowest = os.path.join(folder, "slowest.log")
    with open(only_slowest, "w", encoding="utf-8") as file:
        file.write(json.dumps(slowest) + "\n")
    with autotvm.apply_history_best(only_slowest):
        other = built(module, target, runtime)
    with autotvm.apply_history_best(log) as history:
        chosen = history.query(target, task.workload).index
        fastest = built(module, target, runtime)

    project = tvm.micro.generate_project(template, fastest, os.path.join(folder, "project"), options)
    project.build()
    project.flash()
    inputs = networks.drawn_inputs(module, 1)
    with tvm.micro.Session(project.transport()) as session:
        executor = tvm.micro.create_local_aot_executor(session)
        executor.get_input(0).copyfrom(inputs[0])
        executor.run()
        outputs = sessions.answers(executor)
    return {
        "records": records,
        "best": best["config"]["index"],
        "chosen": chosen,
        "differs": fastest.lib.imported_modules[0].get_source() != other.lib.imported_modules[0].get_source(),
        "outputs": outputs,
        "expected": [value.tobytes().hex() for value in networks.answers(*NETWORK, inputs)],
    }


QUESTIONS = {"tune": tune}
