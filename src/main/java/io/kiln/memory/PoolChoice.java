// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

/** Which pools may hold a buffer. */
@FunctionalInterface
public interface PoolChoice {
    /** Whether the buffer may lie in the pool, given by index. */
    boolean mayHold(int pool, WorkspaceBuffer buffer);
}
