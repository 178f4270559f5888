// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

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

        /** All spellings. */
        public static List<String> texts() {
            return Stream.of(values()).map(Order::text).toList();
        }
    }

    public OnnxAveragePool {
        Check.that(
                order == Order.ROWS || order == Order.COLUMNS || (!window.isPadded() && window.kernelW() == 1),
                "windows in lanes and groups have one column and no padding");
    }

    @Override
    public String name() {
        return "onnx.avg_pool2d";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "pool_size",
                window.kernelSize(),
                "strides",
                window.strides(),
                "dilation",
                window.dilation(),
                "padding",
                window.padding(),
                "order",
                order.text(),
                "form",
                form.text());
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8);
    }

    @Override
    public void check(Arguments args) {
        OnnxScales.check(name(), args);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 4);
        Check.dtype("data of " + name(), args.get(0), DType.INT8);
        for (int scale : List.of(1, 3)) {
            Check.scalar("scale", args.get(scale), DType.FLOAT32);
            Check.scalar("zero point", args.get(scale + 1), DType.INT32);
        }
        Shape data = args.get(0).shape();
        int height = window.outputHeight(data.dim(1));
        int width = window.outputWidth(data.dim(2));
        Check.that(height > 0 && width > 0, name() + ": the window is larger than the padded input");
        Check.that(
                order != Order.ALIGNED || (height == 1 && data.dim(2) == 1 && data.dim(3) == 1),
                "windows in order `aligned` are whole images of one column and one channel");
        return new TensorType(Shape.of(data.dim(0), height, width, data.dim(3)), DType.INT8);
    }
}
