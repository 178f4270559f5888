// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.OnnxAveragePool;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Means of bytes as rescaled sums. The sum of floats is rounded at each step, so that its quotient by the scale may lie on either side
 * of a half that the exact one hits: where a sum comes so close, integers compute each rounding of the floats.
 *
 * @param data the input
 * @param to quantization of the result
 * @param limits of the bytes
 * @param isOfSum whether the result is defined as a rescaled sum of integers
 * @param kind which kernel of ONNX Runtime computes it
 */
record MeanForm(Dequantized data, ElementQuantization to, Limits limits, boolean isOfSum, OnnxForm kind) {
    private static final Set<String> MEANS = Set.of("AveragePool", "GlobalAveragePool", "ReduceMean");

    /** Roundings besides those of the sum: of the operands, both quotients, the scale, and the zero point. */
    private static final int MORE_ROUNDINGS = 8;

    private static final double HALF_ULP = Math.scalb(1.0, -24);
    private static final long MOST_SUMS = 1 << 24;

    /** Version from which on windows are summed by a plain loop. */
    private static final int PLAIN = 19;

    /** Largest step of windows whose columns are summed first. */
    private static final int MOST_VECTOR_STRIDE = 2;

    /** Means over volumes are computed in two steps. */
    private static final int VOLUME = 5;

    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        boolean isPlane =
                !node.node().operator().equals("AveragePool") || node.shape(0).rank() < VOLUME;
        if (!MEANS.contains(node.node().operator()) || !isPlane) {
            return Optional.empty();
        }
        return QuantizedForms.bytes(node, 0).map(data ->
                (Deferred) (to, limits) -> new MeanForm(data, to, limits, false, OnnxForm.QDQ).emit(importer, node));
    }

    /** The order in which a window is summed. */
    OnnxAveragePool.Order order(NodeContext node, Window window) {
        boolean isPlain = kind != OnnxForm.QDQ || node.version() >= PLAIN || window.strideW() > MOST_VECTOR_STRIDE;
        return isPlain ? OnnxAveragePool.Order.ROWS : OnnxAveragePool.Order.COLUMNS;
    }

    /**
     * The order in which a whole image or adjacent dimensions are summed.
     *
     * @param outer elements of the dimensions before them
     * @param inner elements of those after them
     */
    OnnxAveragePool.Order order(NodeContext node, int outer, int inner) {
        if (node.node().operator().equals("GlobalAveragePool")) {
            return OnnxAveragePool.Order.LANES;
        }
        if (inner == 1) {
            return OnnxAveragePool.Order.ALIGNED;
        }
        return outer == 1 ? OnnxAveragePool.Order.ROWS : OnnxAveragePool.Order.GROUPS;
    }

    /** Emits the mean of a node. */
    Optional<Arg> emit(OnnxImporter importer, NodeContext node) {
        OnnxValue bytes = new OnnxValue(data.integers(), ElementType.FLOAT);
        return QuantizedForms.bytes(importer, node, Map.of(0, bytes), new IntegerMean(node, this));
    }

    /** Whether the mean of a number of bytes is never so close to a half that roundings of floats decide. */
    boolean isClear(long count) {
        if (isOfSum) {
            return true;
        }
        int zero = data.by().zeroPoint();
        long least = (Byte.MIN_VALUE - zero) * count;
        long most = (Byte.MAX_VALUE - zero) * count;
        if (most - least > MOST_SUMS) {
            return false;
        }
        double factor = data.by().scale() / ((double) to.scale() * count);
        double low = Byte.MIN_VALUE - to.zeroPoint() - 1.0;
        double high = Byte.MAX_VALUE - to.zeroPoint() + 1.0;
        for (long sum = least; sum <= most; sum++) {
            double value = sum * factor;
            double fromHalf = Math.abs(value - Math.floor(value) - 0.5);
            double error = (Math.abs(value) + Byte.MAX_VALUE) * (count + MORE_ROUNDINGS) * HALF_ULP;
            if (value > low && value < high && fromHalf <= error) {
                return false;
            }
        }
        return true;
    }
}
