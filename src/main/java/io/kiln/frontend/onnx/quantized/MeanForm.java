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
import io.kiln.ir.arith.OnnxMean;
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

    /** Version from which on windows are summed by a plain loop. */
    private static final int PLAIN = 19;

    /** Largest step of windows whose columns are summed first. */
    private static final int MOST_VECTOR_STRIDE = 2;

    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!MEANS.contains(node.node().operator())) {
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
        double factor = data.by().scale() / ((double) to.scale() * count);
        double error = new OnnxMean(data.by().scale(), to.scale(), to.zeroPoint(), kind).error(count);
        Sums sums = new Sums((Byte.MIN_VALUE - zero) * count, (Byte.MAX_VALUE - zero) * count, factor);
        if (sums.most() - sums.least() > Integer.MAX_VALUE) {
            return false;
        }
        int low = Byte.MIN_VALUE - to.zeroPoint() - 1;
        int high = Byte.MAX_VALUE - to.zeroPoint();
        for (int below = low; below <= high; below++) {
            if (sums.distance(below + 0.5) <= error) {
                return false;
            }
        }
        return true;
    }

    /** All sums from the least to the most, times a factor. */
    private record Sums(long least, long most, double factor) {
        /** The distance of the nearest of these products to a number. */
        double distance(double number) {
            long near = Math.round(number / factor);
            double distance = Double.POSITIVE_INFINITY;
            for (long sum = near - 1; sum <= near + 1; sum++) {
                long within = Math.max(least, Math.min(most, sum));
                distance = Math.min(distance, Math.abs(within * factor - number));
            }
            return distance;
        }
    }
}
