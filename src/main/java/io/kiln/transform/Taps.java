// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The taps of a window that lie inside the data. */
final class Taps {
    private Taps() {}

    /**
     * The distinct sets of taps inside the data over all output positions: one in the middle, others along the borders
     * if there is padding. Taps count row by row.
     *
     * @param data NHWC shape of the input
     * @param output NHWC shape of the output
     */
    static List<int[]> inside(Window window, Shape data, Shape output) {
        Set<List<Integer>> rows = axis(
                output.dim(1), window.strideH(), window.padTop(), window.dilationH(), window.kernelH(), data.dim(1));
        Set<List<Integer>> columns = axis(
                output.dim(2), window.strideW(), window.padLeft(), window.dilationW(), window.kernelW(), data.dim(2));
        List<int[]> sets = new ArrayList<>();
        for (List<Integer> row : rows) {
            for (List<Integer> column : columns) {
                sets.add(row.stream()
                        .flatMapToInt(y -> column.stream().mapToInt(x -> y * window.kernelW() + x))
                        .toArray());
            }
        }
        return sets;
    }

    private static Set<List<Integer>> axis(int outputs, int stride, int padding, int dilation, int taps, int inputs) {
        Set<List<Integer>> distinct = new LinkedHashSet<>();
        for (int o = 0; o < outputs; o++) {
            List<Integer> inside = new ArrayList<>();
            for (int k = 0; k < taps; k++) {
                int position = o * stride - padding + k * dilation;
                if (position >= 0 && position < inputs) {
                    inside.add(k);
                }
            }
            distinct.add(inside);
        }
        return distinct;
    }
}
