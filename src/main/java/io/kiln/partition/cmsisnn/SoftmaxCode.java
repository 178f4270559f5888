// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.Int16SoftmaxTables;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.Shape;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.util.List;

/** Calls of {@code arm_softmax_*}. */
final class SoftmaxCode {
    private static final int INTEGER_BITS = 5;
    private static final int FRACTION_BITS = 31 - INTEGER_BITS;

    private SoftmaxCode() {}

    static CompositeCode of(ExternalFunction function) {
        Match match = function.body();
        Shape shape = match.result().shape();
        int row = shape.dim(-1);
        String rows = String.valueOf(shape.elements() / row);
        TflSoftmax softmax = (TflSoftmax) match.root().op();
        float beta = softmax.beta();
        float scale = match.root().constant(1).real(0);
        if (match.result().dtype() == DType.INT16) {
            return wide(rows, row, TflInt16Softmax.multiplier(beta, scale), Int16SoftmaxTables.of(softmax.tables()));
        }
        double real = Math.min((double) beta * scale * (1 << FRACTION_BITS), Integer.MAX_VALUE);
        QuantizedMultiplier by = QuantizedMultiplier.of(real);
        long least = -((((1L << INTEGER_BITS) - 1) << FRACTION_BITS) >> by.shift());
        return new CompositeCode(
                ExternalCall.plain("arm_softmax_s8"),
                List.of(),
                "arm_softmax_s8",
                List.of(
                        "input_",
                        rows,
                        String.valueOf(row),
                        String.valueOf(by.multiplier()),
                        String.valueOf(by.shift()),
                        String.valueOf(least),
                        "output_"),
                false);
    }

    private static CompositeCode wide(String rows, int row, QuantizedMultiplier by, Int16SoftmaxTables values) {
        List<ExternalCall.Table> tables = List.of(
                LayerTables.shorts("exponentials", values.exponentials()),
                LayerTables.shorts("reciprocals", values.reciprocals()));
        return new CompositeCode(
                new ExternalCall(tables, 0, "arm_softmax_s16"),
                List.of("const cmsis_nn_softmax_lut_s16 lut = "
                        + "{.exp_lut = exponentials_, .one_by_one_lut = reciprocals_};"),
                "arm_softmax_s16",
                List.of(
                        "input_",
                        rows,
                        String.valueOf(row),
                        String.valueOf(by.multiplier()),
                        String.valueOf(by.shift()),
                        "&lut",
                        "output_"));
    }
}
