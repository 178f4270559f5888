// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ExecutorKind;
import io.kiln.executor.Executor;
import io.kiln.executor.aot.AotExecution;
import io.kiln.executor.graph.GraphExecution;

/** All executors, by {@link ExecutorKind}. */
final class Executors {
    private Executors() {}

    /**
     * The executor of a kind.
     *
     * @param linked whether constants lie in the C
     */
    static Executor of(ExecutorKind kind, boolean linked) {
        return switch (kind) {
            case AOT -> new AotExecution();
            case GRAPH, NONE -> new GraphExecution(linked);
        };
    }
}
