// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.Upsampling;

/**
 * Columns {@code [begin, end)} of the output whose windows lie inside the input's width; of a transposed convolution, positions of its window.
 *
 * @param begin first column
 * @param end column after the last
 */
public record Interior(int begin, int end) {
    /** The columns of a convolution. */
    public static Interior of(ConvComputation conv) {
        Window w = conv.window();
        Upsampling u = conv.upsampling();
        int width = (conv.output().dim(2) + u.padLeft() + u.strideW() - 1) / u.strideW();
        int begin = Math.min(width, (w.padLeft() + w.strideW() - 1) / w.strideW());
        int last = Math.floorDiv(conv.input().dim(2) + w.padLeft() - w.spanW(), w.strideW());
        return new Interior(begin, Math.max(begin, Math.min(width, last + 1)));
    }

    public int size() {
        return end - begin;
    }
}
