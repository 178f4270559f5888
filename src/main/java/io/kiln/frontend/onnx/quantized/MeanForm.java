// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.QuantizedForms.NoIntegers;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.arith.OnnxMean;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Means of bytes as rescaled sums. The sum of floats is rounded at each step, so that its quotient by the scale may lie on either side
 * of a half that the exact one hits: where a sum comes so close, integers compute each rounding of the floats.
 *
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
        if (node.is("GlobalAveragePool")) {
            return OnnxAveragePool.Order.LANES;
        }
        if (inner == 1) {
            return OnnxAveragePool.Order.ALIGNED;
        }
        return outer == 1 ? OnnxAveragePool.Order.ROWS : OnnxAveragePool.Order.GROUPS;
    }

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

    /** Turns a mean of floats into a sum of bytes as its importer emits it: the mean of a window becomes a depthwise convolution with ones. */
    private record IntegerMean(NodeContext node, MeanForm form) implements Emitter {
        @Override
        public Arg emit(Op op, List<Arg> args, Origin origin) {
            if (op instanceof AvgPool2d pool) {
                return window(pool.window(), args.get(0));
            }
            if (op instanceof Reduce reduce && reduce.kind() == Reduce.Kind.MEAN) {
                return reduced(reduce, args.get(0));
            }
            if (op instanceof Pad) {
                Constant zero = node.number(form.data().by().zeroPoint(), DType.INT8);
                return node.emit(op, args.get(0), zero);
            }
            if (op instanceof Transpose || op instanceof Reshape || op instanceof Take || op instanceof Concatenate) {
                return node.emit(op, args);
            }
            throw new NoIntegers(op);
        }

        private Arg window(Window window, Arg data) {
            int channels = node.type(data).shape().dim(3);
            long count = (long) window.kernelH() * window.kernelW();
            if (window.isPadded() || !form.isClear(count)) {
                return inSinglePrecision(window, form.order(node, window), data);
            }
            ElementQuantization by = form.data().by();
            Arg sums = node.emit(
                    new QnnConv2d(window, channels, channels, channels == 1 ? "OHWI" : "HWOI"),
                    data,
                    ones(window, channels),
                    Constant.scalar(by.zeroPoint()),
                    Constant.scalar(0),
                    Constant.scalar(by.scale()),
                    Constant.scalar(1f));
            return rescaled(sums, count);
        }

        /** The steps of floats, in ONNX Runtime's order. */
        private Arg inSinglePrecision(Window window, OnnxAveragePool.Order order, Arg data) {
            ElementQuantization by = form.data().by();
            OnnxAveragePool pool = new OnnxAveragePool(window, order, form.kind());
            if (!SingleFactor.isOrdinary(by.scale())
                    || !SingleFactor.isOrdinary(form.to().scale())) {
                throw new NoIntegers(pool);
            }
            Arg bytes = node.emit(
                    pool,
                    data,
                    Constant.scalar(by.scale()),
                    Constant.scalar(by.zeroPoint()),
                    Constant.scalar(form.to().scale()),
                    Constant.scalar(form.to().zeroPoint()));
            return QuantizedForms.limited(node, bytes, form.limits());
        }

        private Constant ones(Window window, int channels) {
            Shape shape = channels == 1
                    ? Shape.of(1, window.kernelH(), window.kernelW(), 1)
                    : Shape.of(window.kernelH(), window.kernelW(), channels, 1);
            return (Constant) node.broadcast(node.number(1, DType.INT8), shape);
        }

        private Arg reduced(Reduce reduce, Arg data) {
            Shape shape = node.shape(data);
            List<Integer> axes = reduce.axes();
            long count = 1;
            for (int axis : axes) {
                count *= shape.dim(axis);
            }
            if (!form.isClear(count)) {
                return reducedInSinglePrecision(reduce, data, Math.toIntExact(count));
            }
            Arg centred =
                    node.add(node.cast(data, DType.INT32), -form.data().by().zeroPoint());
            Arg sums = node.emit(new Reduce(Reduce.Kind.SUM, axes, reduce.keepDims()), centred);
            return rescaled(sums, count);
        }

        /** The reduced dimensions become the rows of an image with as many channels as there are elements after them. */
        private Arg reducedInSinglePrecision(Reduce reduce, Arg data, int count) {
            Shape shape = node.shape(data);
            List<Integer> wide = count == 1
                    ? reduce.axes()
                    : reduce.axes().stream().filter(i -> shape.dim(i) > 1).toList();
            int last = wide.get(wide.size() - 1);
            List<Integer> order = new ArrayList<>(IntStream.range(0, shape.rank())
                    .filter(i -> !wide.contains(i))
                    .boxed()
                    .toList());
            boolean areAdjacent = order.stream().noneMatch(i -> i > wide.get(0) && i < last && shape.dim(i) > 1);
            order.addAll(wide);
            Arg ordered = areAdjacent ? data : node.transpose(data, order);
            int inner = areAdjacent
                    ? shape.dims().subList(last + 1, shape.rank()).stream().reduce(1, (a, b) -> a * b)
                    : 1;
            int outer = (int) (shape.elements() / count / inner);
            Arg image = node.reshape(ordered, List.of(outer, count, 1, inner));
            OnnxAveragePool.Order by = areAdjacent ? form.order(node, outer, inner) : OnnxAveragePool.Order.ROWS;
            Arg bytes = inSinglePrecision(Window.of(count, 1), by, image);
            return node.reshape(bytes, result(reduce, shape));
        }

        private static List<Integer> result(Reduce reduce, Shape shape) {
            List<Integer> dims = new ArrayList<>();
            for (int i = 0; i < shape.rank(); i++) {
                if (!reduce.axes().contains(i)) {
                    dims.add(shape.dim(i));
                } else if (reduce.keepDims()) {
                    dims.add(1);
                }
            }
            return dims;
        }

        private Arg rescaled(Arg sums, long count) {
            Arg bytes = node.emit(
                    new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                    sums,
                    Constant.scalar(form.data().by().scale()),
                    Constant.scalar(0),
                    Constant.scalar(form.to().scale() * count),
                    Constant.scalar(form.to().zeroPoint()));
            return QuantizedForms.limited(node, bytes, form.limits());
        }
    }
}
