// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

/** {@code <fuse>}: how operators are fused. Unset elements default to {@code kiln.fuse.*}. */
public final class Fuse {
    /** Largest number of IR operators in a fused group. */
    private Integer maxDepth;

    /** Set by Maven from {@code <maxDepth>}. */
    public void setMaxDepth(Integer maxDepth) {
        this.maxDepth = maxDepth;
    }

    public Integer maxDepth() {
        return maxDepth;
    }
}
