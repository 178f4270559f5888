// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;

/**
 * Mean of int8 over a window whose bytes are those of ONNX Runtime: a sum of floats, each step rounded to single precision, so that the
 * order counts; the quotient as in {@link io.kiln.ir.arith.OnnxMean}. Padding is left out. NHWC.
 *
 * <p>Arguments: data, its scale and zero point, the result's scale and zero point.
 *
 * @param window geometry
 * @param order in which elements are summed
 * @param form which kernel
 */
public record OnnxAveragePool(Window window, Order order, OnnxForm form) implements Op {
    public static final Signature<OnnxAveragePool> SIGNATURE = Signature.of(OnnxAveragePool.class, "onnx.avg_pool2d")
            .data("data", operand -> operand.rank(4), DType.INT8)
            .quantization("input")
            .quantization("output")
            .attributes(
                    Attribute.pool(OnnxAveragePool::window),
                    Attribute.choice("order", OnnxAveragePool::order, Order::text, List.of(Order.values())),
                    OnnxForm.attribute(OnnxAveragePool::form),
                    OnnxAveragePool::new)
            // It stores what its steps round: a limit has loops of its own.
            .traits()
            .rules((op, args) -> OnnxScales.check(op.name(), args, 1, 3))
            .result(OnnxAveragePool::result);

    @Override
    public Card<OnnxAveragePool> card() {
        return SIGNATURE.of(this);
    }

    /** Lanes of {@link Order#LANES}. */
    public static final int LANES = 4;

    /** In which order the elements of a window are summed. */
    public enum Order {
        /** Row by row. */
        ROWS,
        /** Each column, then their sums (MlasPool2DVectorKernel in core/mlas/lib/pooling.cpp). */
        COLUMNS,
        /** Every fourth element of the first ones, then these four sums in pairs, then the others (MlasPoolGlobalKernel, likewise). */
        LANES,
        /** Groups of four, then one of two, then a single element; each group one after the other (MlasSgemmKernelM1Avx in core/mlas/lib). */
        GROUPS,
        /**
         * Every eighth element from the first one on whose address in a dense tensor is a multiple of 16 bytes, then these eight sums, then the
         * elements before and after them (Eigen's redux of a vector, compiled for SSE). Windows are whole images of one column and one channel.
         */
        ALIGNED;

        /** The spelling in Relay text. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public OnnxAveragePool {
        Check.that(
                order == Order.ROWS || order == Order.COLUMNS || (!window.isPadded() && window.kernelW() == 1),
                "windows in lanes and groups have one column and no padding");
    }

    private TensorType result(List<TensorType> args) {
        TensorType result = window.slid(this, args.get(0));
        Shape data = args.get(0).shape();
        Check.that(
                order != Order.ALIGNED || (result.shape().dim(1) == 1 && data.dim(2) == 1 && data.dim(3) == 1),
                "windows in order `aligned` are whole images of one column and one channel");
        return result;
    }
}
