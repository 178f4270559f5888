// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import java.util.Map;
import java.util.function.Function;

/** What {@link Rules} has no rules for of the layers of convolutional networks: operators of our own, copies, and what remembers. */
final class LayerOperators {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("copy", a -> new Copy()),
            Map.entry("tfl.requantize", a -> {
                a.choice("rounding", "TFLITE");
                return new TflRequantize(
                        a.integer("axis", -4, 3),
                        a.integer("input_zero_point", MIN, MAX),
                        a.integer("output_zero_point", MIN, MAX),
                        outDtype(a));
            }),
            Map.entry("tfl.softmax", a -> {
                a.integer("axis", -1, -1, -1);
                return new TflSoftmax((float) a.real("beta"));
            }));

    private LayerOperators() {}

    private static DType outDtype(Attributes a) {
        return a.dtype("out_dtype", DType.INT8, DType.INT16, DType.INT32, DType.UINT8);
    }
}
