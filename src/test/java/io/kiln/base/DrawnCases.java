// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** How many random cases a test draws: its own number, or more with the system property {@code kiln.cases}. */
public final class DrawnCases {
    private DrawnCases() {}

    /**
     * The number of cases. The property never lowers it, so that one value serves every test of a nightly run.
     *
     * @param usual what the test draws without the property, at least 1
     */
    public static int atLeast(int usual) {
        return Math.max(usual, Integer.getInteger("kiln.cases", usual));
    }
}
