// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Problem;
import java.util.ArrayList;
import java.util.List;

/** Choices of a compile request that exclude each other. */
final class RequestProblems {
    private static final String WHERE = "compile request";

    private RequestProblems() {}

    /** The problems of a request. */
    static List<Problem> of(Convention convention, ExecutorKind executor, Io io, boolean linked) {
        List<Problem> problems = new ArrayList<>();
        if (convention.hasPackedEntry() && io == Io.WORKSPACE) {
            problems.add(new Problem(
                    "kiln.io is workspace with kiln.interfaceApi packed: packed functions take each tensor by itself",
                    WHERE,
                    "kiln.io caller, or kiln.interfaceApi c",
                    "Leave kiln.io out"));
        }
        if (executor != ExecutorKind.AOT && io == Io.WORKSPACE) {
            problems.add(new Problem(
                    "kiln.io is workspace with kiln.executor " + executor.text()
                            + ": operators that are found by their names take each tensor by itself",
                    WHERE,
                    "kiln.io caller, or kiln.executor aot",
                    "Leave kiln.io out"));
        }
        if (executor == ExecutorKind.AOT && !linked) {
            problems.add(new Problem(
                    "kiln.linkParams is false with kiln.executor aot: its main function passes no parameters",
                    WHERE,
                    "kiln.linkParams true, or kiln.executor graph",
                    "Leave kiln.linkParams out, or set kiln.executor to graph"));
        }
        return problems;
    }
}
