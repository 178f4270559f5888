// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;
import static io.kiln.base.DType.UINT8;
import static java.util.Map.entry;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The table of element-wise operators. */
final class ElementwiseRules {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MOST_SHIFT = 31;

    /** Operators with special rules. */
    private static final Map<String, Rule> SPECIAL = Map.ofEntries(
            entry("add", SumRules::add),
            entry("cast", ElementRules::cast),
            entry("clip", ArithmeticRules::clip),
            entry("isfinite", ElementRules::isFinite),
            entry("multiply", SumRules::multiply),
            entry("negative", ElementRules::negative),
            entry("nn.leaky_relu", Rule.of(a -> new LeakyRelu((float) a.real("alpha")))),
            entry("nn.relu", ArithmeticRules::relu),
            entry("onnx.pair_lookup", Rule.of(ElementwiseRules::pairLookup)),
            entry("qnn.add", ArithmeticRules::addQuantized),
            entry("qnn.dequantize", ArithmeticRules::dequantize),
            entry("qnn.quantize", ArithmeticRules::quantize),
            entry("subtract", SumRules::subtract),
            entry("tfl.add_n", Rule.of(ElementwiseRules::addN)),
            entry("tfl.cast", Rule.of(ElementwiseRules::cast)),
            entry("tfl.leaky_relu", Rule.of(ElementwiseRules::leakyRelu)),
            entry("tfl.lookup", Rule.of(a -> new TflLookup())),
            entry("where", ElementRules::where));

    static final Map<String, Rule> ALL = all();

    private ElementwiseRules() {}

    private static Map<String, Rule> all() {
        Map<String, Rule> all = new HashMap<>(SPECIAL);
        for (Binary.Kind kind : Binary.Kind.values()) {
            all.putIfAbsent(new Binary(kind).name(), call -> ElementRules.binary(call, kind));
        }
        for (Unary.Kind kind : Unary.Kind.values()) {
            all.putIfAbsent(new Unary(kind).name(), call -> ElementRules.unary(call, new Unary(kind), 1));
        }
        for (QnnBinary.Kind kind : QnnBinary.Kind.values()) {
            all.putIfAbsent(new QnnBinary(kind).name(), Rule.of(a -> quantized(a, kind)));
        }
        for (TflSigmoid16.Kind kind : TflSigmoid16.Kind.values()) {
            all.putIfAbsent(new TflSigmoid16(kind, 1, 0).name(), Rule.of(a -> sigmoid(a, kind)));
        }
        return Map.copyOf(all);
    }

    /** An operator whose attributes each allow only one value. */
    private static Op quantized(Attributes a, QnnBinary.Kind kind) {
        QnnBinary op = a.has("precision") ? QnnBinary.ofLite(kind) : new QnnBinary(kind);
        op.attributes().forEach((name, value) -> a.choice(name, String.valueOf(value)));
        return op;
    }

    private static Op sigmoid(Attributes a, TflSigmoid16.Kind kind) {
        return new TflSigmoid16(kind, a.integer("multiplier", 1, Short.MAX_VALUE), a.integer("shift", 0, MOST_SHIFT));
    }

    private static Op cast(Attributes a) {
        return new Cast(a.dtype("dtype", INT8, UINT8, INT16, INT32, UINT32, INT64, UINT64, FLOAT32));
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

    private static PairLookup pairLookup(Attributes a) {
        PairLookup.Kind kind = PairLookup.Kind.valueOf(
                a.choice("kind", "sum", "product", "any").toUpperCase(Locale.ROOT));
        return new PairLookup(
                kind,
                a.real("lhs"),
                a.real("rhs"),
                a.integer("lhs_zero_point", Byte.MIN_VALUE, Byte.MAX_VALUE),
                a.integer("rhs_zero_point", Byte.MIN_VALUE, Byte.MAX_VALUE));
    }
}
