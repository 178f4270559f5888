// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

/** Adds to a planned module the code that calls its operators in order, and the interface by which programs run it. */
public interface Executor {
    /** The module with its entry point. */
    ExecutableModule drive(PlannedModule module);
}
