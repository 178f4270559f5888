// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The position of every buffer in the workspace.
 *
 * @param algorithm the planner that found it, for people
 * @param bytes size of the workspace
 * @param lowerBound least bytes of any plan
 * @param alignment alignment of the workspace in bytes
 * @param buffers the problem's buffers, in its order
 * @param offsets offset in bytes by buffer name, in the problem's order
 */
public record MemoryPlan(
        String algorithm,
        long bytes,
        long lowerBound,
        int alignment,
        List<WorkspaceBuffer> buffers,
        Map<String, Long> offsets) {
    public MemoryPlan {
        buffers = List.copyOf(buffers);
        offsets = Collections.unmodifiableMap(new LinkedHashMap<>(offsets));
    }

    /** Offset of a buffer of the problem. */
    public long offset(String buffer) {
        Long offset = offsets.get(buffer);
        if (offset == null) {
            throw new IllegalArgumentException("no buffer `" + buffer + "` in the plan");
        }
        return offset;
    }
}
