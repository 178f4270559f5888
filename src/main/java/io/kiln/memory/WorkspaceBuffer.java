// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

/**
 * A buffer in the workspace.
 *
 * @param name unique in its problem
 * @param bytes size, 0 or more
 * @param alignment a power of two; the offset is a multiple of it
 * @param firstUse first step of the execution order that touches it
 * @param lastUse last step that touches it, inclusive
 */
public record WorkspaceBuffer(String name, long bytes, int alignment, int firstUse, int lastUse) {
    public WorkspaceBuffer {
        require(bytes >= 0 && bytes <= 1L << 40, name, "has a size of " + bytes + " bytes");
        require(Integer.bitCount(alignment) == 1 && alignment > 0, name, "has alignment " + alignment);
        require(firstUse <= lastUse, name, "is used from step " + firstUse + " to step " + lastUse);
    }

    /** Whether both are alive at some step. */
    public boolean livesWith(WorkspaceBuffer other) {
        return firstUse <= other.lastUse && other.firstUse <= lastUse;
    }

    /** Number of steps during which it is alive. */
    public long steps() {
        return (long) lastUse - firstUse + 1;
    }

    private static void require(boolean holds, String name, String what) {
        if (!holds) {
            throw new IllegalArgumentException("buffer `" + name + "` " + what);
        }
    }
}
