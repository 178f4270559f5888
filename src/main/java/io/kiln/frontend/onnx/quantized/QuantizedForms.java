// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Integers of values that have an {@link IntegerForm}. */
final class QuantizedForms {
    private QuantizedForms() {}

    /** The bytes of a value in a quantization; empty if they cannot be computed in integers. */
    static Optional<Arg> quantized(NodeContext node, IntegerForm form, ElementQuantization to, Limits limits) {
        if (form instanceof IntegerForm.Deferred deferred) {
            return deferred.quantized(to, limits);
        }
        return form instanceof Dequantized own && isOfOneScale(own)
                ? Optional.of(
                        own.by().isSame(to)
                                ? limited(node, own.integers(), limits)
                                : lookup(node, own, table(allReals(own.by()), to, limits)))
                : Optional.empty();
    }

    /** The bytes of an input, if it is dequantized from bytes with one scale. */
    static Optional<Dequantized> bytes(NodeContext node, int input) {
        return node.form(input, Dequantized.class).filter(QuantizedForms::isOfOneScale);
    }

    private static boolean isOfOneScale(Dequantized form) {
        return form.by().isOfBytes() && form.by().isPerTensor();
    }

    /**
     * Runs the importer of a float operator on bytes.
     *
     * @param integers its inputs by index
     * @param emitter makes integer operators of what it emits
     * @return the bytes that it computes; empty if it needs an operator without an integer form
     */
    static Optional<Arg> bytes(
            OnnxImporter importer, NodeContext node, Map<Integer, OnnxValue> integers, Emitter emitter) {
        NodeContext shadow = node.shadow(integers, Optional.of(emitter));
        try {
            importer.emit(shadow);
        } catch (NoIntegers e) {
            return Optional.empty();
        }
        return shadow.output(0)
                .map(OnnxValue::arg)
                .filter(result -> List.of(DType.INT8, DType.INT16)
                        .contains(node.type(result).dtype()));
    }

    /** Bytes, or integers of 16 bits, within limits. */
    static Arg limited(NodeContext node, Arg bytes, Limits limits) {
        return limits.equals(Limits.NONE) || limits.equals(Limits.WIDE)
                ? bytes
                : node.emit(new Clip(limits.low(), limits.high()), bytes);
    }

    /** The real numbers of all bytes, in their order. */
    static Constant allReals(ElementQuantization by) {
        return Constant.reals("", Shape.of(TflLookup.SIZE), i -> by.dequantize(i + Byte.MIN_VALUE));
    }

    /** A function of each element as a table of all bytes. */
    static Arg lookup(NodeContext node, Dequantized data, byte[] table) {
        return node.emit(new TflLookup(), data.integers(), node.bytes(table, Shape.of(TflLookup.SIZE)));
    }

    /** The bytes of results. */
    static byte[] table(Constant results, ElementQuantization to, Limits limits) {
        byte[] table = new byte[results.elements()];
        for (int i = 0; i < table.length; i++) {
            int byteOfResult = quantized(to, results.real(i));
            table[i] = (byte) Math.max(limits.low(), Math.min(limits.high(), byteOfResult));
        }
        return table;
    }

    /** The byte of a result, which may be NaN. */
    static int quantized(ElementQuantization to, float real) {
        return Float.isNaN(real) ? Byte.MIN_VALUE : to.quantize(real);
    }

    /** Thrown out of an importer that emits an operator without an integer form; the node stays in floats. */
    static final class NoIntegers extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoIntegers(Op op) {
            super(op.name(), null, false, false);
        }
    }
}
