# SPDX-License-Identifier: Apache-2.0
"""Asks the real TVM what a test wants to know.

Reads one request a line, {"ask": name, ...}, and answers one line: {"answer": ...} or {"failure": text}. What TVM itself prints goes to
the error stream.
"""
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import tvm

import archives
import libraries
import sessions
import texts
import tuning

QUESTIONS = {**archives.QUESTIONS, **libraries.QUESTIONS, **sessions.QUESTIONS, **texts.QUESTIONS, **tuning.QUESTIONS}

# The folder that the build unpacks TVM to has its version.
assert f"/tvm-{tvm.__version__}-" in tvm.__file__, (tvm.__version__, tvm.__file__)


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"answer": QUESTIONS[request.pop("ask")](**request)}
        except Exception:
            reply = {"failure": traceback.format_exc()}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


main()
