// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where every buffer lies in the workspace.
 *
 * @param algorithm which planner found it, for people
 * @param bytes size of the workspace
 * @param lowerBound bytes that every plan needs
 * @param alignment bytes that the workspace itself must be aligned to
 * @param offsets offset in bytes by buffer name, in the problem's order
 */
public record MemoryPlan(String algorithm, long bytes, long lowerBound, int alignment, Map<String, Long> offsets) {
    public MemoryPlan {
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

    /** Bytes above the lower bound. */
    public long gap() {
        return bytes - lowerBound;
    }
}
