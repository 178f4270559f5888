// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.Bytes;
import io.kiln.tir.PrimFunc;
import java.util.List;

/**
 * A run of a function of the loop IR. Its parameters are inputs, an output unless that is empty, then scratch.
 *
 * @param function the function with its tables
 * @param regions what it may touch of each parameter; it may touch all of its tables
 * @param zeroScratch whether the scratch begins as zeros, as accumulators do; otherwise as garbage
 * @param steps calls one after another; output and scratch keep their content between them
 */
public record LoopRun(PrimFunc function, List<Region> regions, boolean zeroScratch, List<Step> steps) {
    public LoopRun {
        regions = List.copyOf(regions);
        steps = List.copyOf(steps);
    }

    /**
     * Memory of which only a part may be touched.
     *
     * @param bytes its size
     * @param begin first byte that may be touched
     * @param end byte after the last one
     */
    public record Region(int bytes, int begin, int end) {
        /** Memory that may be touched from begin to end. */
        public static Region all(int bytes) {
            return new Region(bytes, 0, bytes);
        }

        /** The rows {@code [first, last)} of a tensor of so many rows; none if they end before they begin. */
        public static Region rows(int bytes, int rows, int first, int last) {
            int row = bytes / rows;
            // A range that needs no row may lie behind the last one.
            int begin = first < last ? first : Math.min(first, rows);
            return new Region(bytes, row * begin, row * (first < last ? last : begin));
        }
    }

    /**
     * A call.
     *
     * @param inputs whole contents of the inputs
     * @param scalars of the function
     */
    public record Step(List<Bytes> inputs, List<Integer> scalars) {
        public Step {
            inputs = List.copyOf(inputs);
            scalars = List.copyOf(scalars);
        }
    }
}
