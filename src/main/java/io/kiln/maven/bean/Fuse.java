// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

/** {@code <fuse>}: how operators are fused. What is not set here comes from {@code kiln.fuse.*}. */
public final class Fuse {
    /** How many operators of the IR a fused group may hold. */
    private Integer maxDepth;

    /** Set by Maven from {@code <maxDepth>}. */
    public void setMaxDepth(Integer maxDepth) {
        this.maxDepth = maxDepth;
    }

    public Integer maxDepth() {
        return maxDepth;
    }
}
