// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxResize2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.op.signal.FilterBankAccumulate;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** How long the interpreter computes an operator, roughly: bytes that it touches, elements whose place it computes and the steps of its inner loops. */
final class FoldedWork {
    /** The fixed cost of an operator, however small its tensors are. */
    private static final long CALL = 256;

    /** The place of an element of the largest tensor, from the indices along all dimensions. */
    private static final int PLACE = 8;

    /** A function such as the logarithm, or an interpolation of up to 16 neighbours, for each element. */
    private static final int FUNCTION = 16;

    /** A function that is computed as a sum of many terms, for each element. */
    private static final int SERIES = 64;

    /** A sine and a cosine of as many products as a transform has steps, for each element. */
    private static final int FFT = 512;

    private FoldedWork() {}

    /**
     * The steps of an operator.
     *
     * @param args types of its arguments
     * @param result type of its result
     */
    static long of(Op op, List<TensorType> args, TensorType result) {
        long bytes = result.bytes() + args.stream().mapToLong(TensorType::bytes).sum();
        long places = times(PLACE, Math.max(result.shape().elements(), mostElements(args)));
        return plus(plus(CALL, bytes), plus(places, loops(op, args, result)));
    }

    private static long mostElements(List<TensorType> args) {
        return args.stream().mapToLong(arg -> arg.shape().elements()).max().orElse(0);
    }

    private static long loops(Op op, List<TensorType> args, TensorType result) {
        long elements = result.shape().elements();
        if (op instanceof AvgPool2d pool) {
            return times(elements, elements(pool.window()));
        }
        if (op instanceof MaxPool2d pool) {
            return times(elements, elements(pool.window()));
        }
        if (op instanceof OnnxAveragePool pool) {
            // Sums by columns pass all taps for each column.
            return times(times(elements, elements(pool.window())), pool.window().kernelW());
        }
        if (op instanceof SignalFft) {
            return times(elements, FFT);
        }
        if (op instanceof FilterBankAccumulate) {
            return times(elements, args.get(1).shape().elements());
        }
        if (op instanceof Unary unary) {
            return times(elements, unary.kind() == Unary.Kind.ERF ? SERIES : FUNCTION);
        }
        if (op instanceof OnnxResize2d || op instanceof Resize2d) {
            return times(elements, FUNCTION);
        }
        if (op instanceof TreeEnsemble) {
            // At most all nodes, each of whose keys is computed anew.
            return times(pixels(args.get(0)), times(PLACE, args.get(1).shape().elements()));
        }
        if (op instanceof Topk) {
            return times(elements, args.get(0).shape().dim(-1));
        }
        if (op instanceof TflBatchMatmul) {
            TensorType data = args.get(0);
            return times(elements, Math.max(data.shape().dim(-1), data.shape().dim(-2)));
        }
        if (op instanceof DetectionPostprocess) {
            // Each box of each class is compared with the others.
            long boxes = pixels(args.get(0));
            return times(times(boxes, boxes), args.get(1).shape().dim(-1));
        }
        long weights = weights(op).stream()
                .mapToLong(i -> args.get(i).shape().elements())
                .sum();
        return weights == 0 ? 0 : times(Math.max(pixels(args.get(0)), pixels(result)), weights);
    }

    /** Of a transposed layer, too, whose products depend on the borders: at most these. */
    private static List<Integer> weights(Op op) {
        return op instanceof Layer layer && layer.isTransposed() ? List.of(1) : op.weights();
    }

    private static long times(long a, long b) {
        return Math.multiplyHigh(a, b) == 0 && a * b >= 0 ? a * b : Long.MAX_VALUE;
    }

    private static long plus(long a, long b) {
        return a + b < 0 ? Long.MAX_VALUE : a + b;
    }

    private static long elements(Window window) {
        return (long) window.kernelH() * window.kernelW();
    }

    private static long pixels(TensorType type) {
        return type.shape().rank() == 0
                ? 1
                : type.shape().elements() / Math.max(1, type.shape().dim(-1));
    }
}
