// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ExecutorKind;
import io.kiln.executor.Executor;
import io.kiln.executor.aot.AotExecutor;

/** All executors, by {@link ExecutorKind}. */
final class Executors {
    private Executors() {}

    static Executor of(ExecutorKind kind) {
        return switch (kind) {
            case AOT -> new AotExecutor();
        };
    }
}
