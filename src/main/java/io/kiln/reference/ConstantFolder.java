// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankAccumulate;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;

/**
 * Computes constants while a model is compiled, within limits on work and bytes that do not depend on the computer. One folder counts everything
 * that is computed of a model while it is read, another one everything in the passes.
 */
public final class ConstantFolder implements GraphBuilder.Folder {
    /** Steps of {@link FoldedWork}: at most 4 ns each, hence three seconds; eight passes over 100 MB of weights. */
    static final long USUAL_STEPS = 3L << 28;

    /** All results together. */
    static final long USUAL_BYTES = 512L << 20;

    /** One result while it is computed, when each element takes four or eight bytes. */
    private static final long USUAL_TENSOR_BYTES = 1L << 28;

    private static final int STEPS_PER_BYTE = 64;
    private static final int BYTES_PER_BYTE = 4;

    private final long mostSteps;
    private final long mostBytes;
    private final long mostTensorBytes;
    private long steps;
    private long bytes;

    /** @param modelBytes bytes of the model's own constants, or of its file: a large model may compute more */
    public ConstantFolder(long modelBytes) {
        mostSteps = Math.max(USUAL_STEPS, STEPS_PER_BYTE * modelBytes);
        mostBytes = Math.max(USUAL_BYTES, BYTES_PER_BYTE * modelBytes);
        mostTensorBytes = Math.max(USUAL_TENSOR_BYTES, Integer.BYTES * modelBytes);
    }

    @Override
    public Constant fold(Op op, List<Constant> args, TensorType type, String where) {
        spend(op, args.stream().map(Constant::type).toList(), type, where);
        return Interpreter.fold(op, args, type);
    }

    /**
     * Counts an operator before it is computed.
     *
     * @param args types of its arguments
     * @param type type of its result
     * @param where the operator, for the message
     * @throws KilnException if the model has too much to compute
     */
    void spend(Op op, List<TensorType> args, TensorType type, String where) {
        int width = type.dtype().isLong() ? Long.BYTES : Integer.BYTES;
        if (type.shape().elements() > mostTensorBytes / width) {
            throw failure(
                    "computing the constant " + type.text() + " takes more than %,d bytes", mostTensorBytes, where);
        }
        bytes += type.bytes();
        if (bytes > mostBytes) {
            throw failure("the model's computed constants have more than %,d bytes", mostBytes, where);
        }
        long more = FoldedWork.of(op, args, type);
        if (more > mostSteps - steps) {
            throw failure("computing the model's constants takes more than %,d steps", mostSteps, where);
        }
        steps += more;
    }

    private static KilnException failure(String what, long limit, String where) {
        return Failure.MODEL.exception(
                String.format(Locale.ROOT, what, limit),
                where,
                "a model for a microcontroller",
                "Export the model with its constants folded");
    }

    /** How long the interpreter computes an operator, roughly: bytes that it touches, elements whose place it computes and the steps of its inner loops. */
    static final class FoldedWork {
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
            long bytes =
                    result.bytes() + args.stream().mapToLong(TensorType::bytes).sum();
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
                return times(
                        times(elements, elements(pool.window())), pool.window().kernelW());
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
                return times(
                        pixels(args.get(0)), times(PLACE, args.get(1).shape().elements()));
            }
            if (op instanceof Topk) {
                return times(elements, args.get(0).shape().dim(-1));
            }
            if (op instanceof TflBatchMatmul) {
                TensorType data = args.get(0);
                return times(
                        elements, Math.max(data.shape().dim(-1), data.shape().dim(-2)));
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
}
