// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Problem;
import io.kiln.target.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/** Choices of a compile request that exclude each other. */
final class RequestProblems {
    private static final String WHERE = "compile request";

    private RequestProblems() {}

    /**
     * The problems of memory pools: they are filled in order, which takes limits.
     *
     * @param what they hold, for messages
     */
    static List<Problem> ofPools(String what, List<MemoryPool> pools) {
        List<Problem> problems = new ArrayList<>();
        if (pools.isEmpty()) {
            problems.add(new Problem("there is no memory pool for " + what, WHERE, "one pool or more", ""));
        }
        for (MemoryPool pool : pools.subList(0, Math.max(0, pools.size() - 1))) {
            if (pool.limit().isEmpty()) {
                problems.add(new Problem(
                        "the memory pool `" + pool.name() + "` of " + what
                                + " has no limit, so that those after it stay empty",
                        WHERE,
                        "the most bytes of each pool but the last",
                        "Limit it"));
            }
        }
        if (pools.stream().map(MemoryPool::name).distinct().count() < pools.size()) {
            problems.add(new Problem("two memory pools have one name", WHERE, "a name for each", ""));
        }
        return problems;
    }

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
