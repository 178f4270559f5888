// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT8;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Cast;
import io.kiln.ir.op.LeakyRelu;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.TflAddN;
import io.kiln.ir.op.TflLeakyRelu;
import io.kiln.ir.op.TflLookup;
import io.kiln.ir.op.TflSigmoid16;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Element-wise operators by their names in the text; {@link Rules} reads those of one and two plain tensors itself. */
final class ElementwiseOperators {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MOST_SHIFT = 31;

    static final Map<String, Function<Attributes, Op>> ALL = all();

    private ElementwiseOperators() {}

    private static Map<String, Function<Attributes, Op>> all() {
        Map<String, Function<Attributes, Op>> all = new HashMap<>();
        for (QnnBinary.Kind kind : QnnBinary.Kind.values()) {
            QnnBinary op = new QnnBinary(kind);
            all.put(op.name(), a -> {
                op.attributes().forEach((name, value) -> a.choice(name, String.valueOf(value)));
                return op;
            });
        }
        for (TflSigmoid16.Kind kind : TflSigmoid16.Kind.values()) {
            all.put(
                    new TflSigmoid16(kind, 1, 0).name(),
                    a -> new TflSigmoid16(
                            kind, a.integer("multiplier", 1, Short.MAX_VALUE), a.integer("shift", 0, MOST_SHIFT)));
        }
        add(all, new TflLookup());
        all.put("nn.leaky_relu", a -> new LeakyRelu((float) a.real("alpha")));
        all.put("tfl.cast", a -> new Cast(a.dtype("dtype", INT8, UINT8, INT16, INT32, UINT32, INT64, FLOAT32)));
        all.put("tfl.leaky_relu", ElementwiseOperators::leakyRelu);
        all.put("tfl.add_n", ElementwiseOperators::addN);
        return Map.copyOf(all);
    }

    /** An operator without attributes. */
    private static void add(Map<String, Function<Attributes, Op>> all, Op op) {
        all.put(op.name(), a -> op);
    }

    private static Op leakyRelu(Attributes a) {
        return new TflLeakyRelu(
                a.integer("input_zero_point", Short.MIN_VALUE, Short.MAX_VALUE),
                a.integer("output_zero_point", Short.MIN_VALUE, Short.MAX_VALUE),
                multiplier(a, "positive"),
                multiplier(a, "negative"));
    }

    private static Op addN(Attributes a) {
        int count = a.integer("count", 2, TflAddN.MOST);
        int inputZeroPoint = a.integer("input_zero_point", Byte.MIN_VALUE, Byte.MAX_VALUE);
        int outputZeroPoint = a.integer("output_zero_point", Byte.MIN_VALUE, Byte.MAX_VALUE);
        return new TflAddN(
                count,
                inputZeroPoint,
                outputZeroPoint,
                new QuantizedMultiplier(a.integer("multiplier", 0, MAX), a.integer("shift", -MOST_SHIFT, 0)));
    }

    private static QuantizedMultiplier multiplier(Attributes a, String side) {
        return new QuantizedMultiplier(
                a.integer(side + "_multiplier", -MAX, MAX), a.integer(side + "_shift", -MOST_SHIFT, MOST_SHIFT - 1));
    }
}
