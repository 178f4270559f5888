// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

/**
 * The rows of an input that a range of output rows reads. Rows count along the height of an NHWC tensor of batch 1; any other
 * tensor is a single row.
 */
public sealed interface RowDependency {
    /** First row read for output rows {@code [begin, end)}; the range must not be empty. */
    int firstRow(int begin, int end);

    /** Row after the last one read. */
    int endRow(int begin, int end);

    /**
     * A window: output row r reads rows {@code r * stride - padding} to {@code r * stride - padding + span}, limited to
     * the input.
     *
     * @param stride input rows between output rows
     * @param padding rows of padding above
     * @param span rows under one window, gaps included
     * @param inputRows rows of the input
     */
    record Window(int stride, int padding, int span, int inputRows) implements RowDependency {
        @Override
        public int firstRow(int begin, int end) {
            return Math.max(0, begin * stride - padding);
        }

        @Override
        public int endRow(int begin, int end) {
            return Math.min(inputRows, (end - 1) * stride - padding + span);
        }
    }

    /** The dependency of an operator that reads all input rows for any output row. */
    record All(int inputRows) implements RowDependency {
        @Override
        public int firstRow(int begin, int end) {
            return 0;
        }

        @Override
        public int endRow(int begin, int end) {
            return inputRows;
        }
    }

    /** The dependency of an operator whose output row r reads input row r. */
    static RowDependency same(int rows) {
        return new Window(1, 0, 1, rows);
    }
}
