// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxPools.PoolImporter;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Normalizations by mean and variance, of windows and of neighbouring channels; soft and hard maxima. Formulas are those of ONNX's operator pages. */
final class OnnxNormalizations {
    private static final int ONE_AXIS = 13;
    private static final float EPSILON = 1e-5f;
    private static final float MVN_EPSILON = 1e-9f;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Softmax", new OnnxSoftmaxImporter(false)),
            onnx("LogSoftmax", new OnnxSoftmaxImporter(true)),
            onnx("BatchNormalization", OnnxNormalizations::batch),
            onnx("InstanceNormalization", OnnxNormalizations::instance),
            onnx("LayerNormalization", OnnxNormalizations::layer),
            onnx("RMSNormalization", OnnxNormalizations::rootMeanSquare),
            onnx("SimplifiedLayerNormalization", OnnxNormalizations::rootMeanSquare),
            onnx("GroupNormalization", OnnxNormalizations::group),
            onnx("MeanVarianceNormalization", OnnxNormalizations::meanVariance),
            onnx("LpNormalization", OnnxNormalizations::lp),
            onnx("LRN", OnnxNormalizations::lrn),
            onnx("LpPool", new PoolImporter(OnnxNormalizations::lpPool)),
            onnx("GlobalLpPool", OnnxNormalizations::globalLpPool),
            onnx("Hardmax", OnnxNormalizations::hardmax));

    private OnnxNormalizations() {}

    /** {@code (x - mean) / sqrt(var + epsilon) * scale + bias} for each channel; constants make one factor and one sum. */
    private static void batch(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = Spatial.channelsLast(e, node.arg(0));
        int rank = e.shape(data).rank();
        boolean trains = node.attributes().truth("training_mode", false);
        Arg mean = node.arg(3);
        Arg variance = node.arg(4);
        if (trains) {
            List<Integer> axes = IntStream.range(0, rank - 1).boxed().toList();
            List<Integer> channels = List.of(e.shape(data).dim(-1));
            Arg kept = e.reduce(Reduce.Kind.MEAN, data, axes);
            Arg distance = e.subtract(data, kept);
            Arg current = e.reshape(e.reduce(Reduce.Kind.MEAN, e.multiply(distance, distance), axes), channels);
            Arg currentMean = e.reshape(kept, channels);
            float momentum = node.attributes().real("momentum", 0.9f);
            node.finish(1, e.add(e.multiply(mean, momentum), e.multiply(currentMean, 1 - momentum)));
            node.finish(2, e.add(e.multiply(variance, momentum), e.multiply(current, 1 - momentum)));
            mean = currentMean;
            variance = current;
        }
        Arg deviation =
                e.unary(Unary.Kind.SQRT, e.add(variance, node.attributes().real("epsilon", EPSILON)));
        Arg scale = e.divide(node.arg(1), deviation);
        Arg shift = e.subtract(node.arg(2), e.multiply(mean, scale));
        Arg result = e.add(e.multiply(data, scale), shift);
        node.finish(Spatial.channelsFirst(e, result));
    }

    /** The data minus its mean along axes, divided by its standard deviation. */
    private record Normalized(Arg value, Arg mean, Arg inverse) {
        static Normalized of(Expressions e, Arg data, List<Integer> axes, float epsilon) {
            Arg mean = e.reduce(Reduce.Kind.MEAN, data, axes);
            Arg distance = e.subtract(data, mean);
            Arg variance = e.reduce(Reduce.Kind.MEAN, e.multiply(distance, distance), axes);
            Arg inverse = e.divide(e.number(1, DType.FLOAT32), e.unary(Unary.Kind.SQRT, e.add(variance, epsilon)));
            return new Normalized(e.multiply(distance, inverse), mean, inverse);
        }
    }

    private static void instance(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = Spatial.channelsLast(e, node.arg(0));
        List<Integer> axes =
                IntStream.range(1, e.shape(data).rank() - 1).boxed().toList();
        Normalized normalized = Normalized.of(e, data, axes, node.attributes().real("epsilon", EPSILON));
        Arg result = e.add(e.multiply(normalized.value(), node.arg(1)), node.arg(2));
        node.finish(Spatial.channelsFirst(e, result));
    }

    private static void layer(NodeContext node) {
        Expressions e = new Expressions(node);
        int rank = node.shape(0).rank();
        int axis = node.axis(node.attributes().whole("axis", -1), rank);
        List<Integer> axes = IntStream.range(axis, rank).boxed().toList();
        Normalized normalized =
                Normalized.of(e, node.arg(0), axes, node.attributes().real("epsilon", EPSILON));
        Arg result = e.multiply(normalized.value(), node.arg(1));
        node.finish(node.has(2) ? e.add(result, node.arg(2)) : result);
        node.finish(1, normalized.mean());
        node.finish(2, normalized.inverse());
    }

    /** {@code x / sqrt(mean(x^2) + epsilon) * scale}, the mean over all axes from one on. */
    private static void rootMeanSquare(NodeContext node) {
        Expressions e = new Expressions(node);
        int rank = node.shape(0).rank();
        int axis = node.axis(node.attributes().whole("axis", -1), rank);
        List<Integer> axes = IntStream.range(axis, rank).boxed().toList();
        Arg data = node.arg(0);
        Arg square = e.reduce(Reduce.Kind.MEAN, e.multiply(data, data), axes);
        Arg root = e.unary(Unary.Kind.SQRT, e.add(square, node.attributes().real("epsilon", EPSILON)));
        node.finish(e.multiply(e.divide(data, root), node.arg(1)));
    }

    /** Groups of channels; scale and bias are for each group before version 21, then for each channel. */
    private static void group(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        long groups = node.attributes().requiredWhole("num_groups");
        node.require(
                shape.rank() >= 2 && groups > 0 && groups <= shape.dim(1) && shape.dim(1) % groups == 0,
                "its num_groups is " + groups,
                "a divisor of the channels of " + shape.text());
        int inGroup = shape.dim(1) / (int) groups;
        List<Integer> parted = new ArrayList<>(shape.dims());
        parted.set(1, (int) groups);
        parted.add(2, inGroup);
        List<Integer> axes = IntStream.range(2, parted.size()).boxed().toList();
        Arg value = Normalized.of(
                        e,
                        e.reshape(node.arg(0), parted),
                        axes,
                        node.attributes().real("epsilon", EPSILON))
                .value();
        boolean isChannels = node.shape(1).elements() == shape.dim(1);
        List<Integer> factors = new ArrayList<>(parted.stream().map(d -> 1).toList());
        factors.set(1, (int) groups);
        factors.set(2, isChannels ? inGroup : 1);
        Arg scaled = e.multiply(value, e.reshape(node.arg(1), factors));
        node.finish(e.reshape(e.add(scaled, e.reshape(node.arg(2), factors)), shape));
    }

    private static void meanVariance(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Long> stated = node.attributes().wholes("axes").orElse(List.of(0L, 2L, 3L));
        List<Integer> axes = node.axes(stated, node.shape(0).rank());
        Arg mean = e.reduce(Reduce.Kind.MEAN, node.arg(0), axes);
        Arg distance = e.subtract(node.arg(0), mean);
        Arg variance = e.reduce(Reduce.Kind.MEAN, e.multiply(distance, distance), axes);
        node.finish(e.divide(distance, e.add(e.unary(Unary.Kind.SQRT, variance), MVN_EPSILON)));
    }

    /** {@code x / norm}; 0 where the norm is 0. */
    private static void lp(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Integer> axes = List.of(
                node.axis(node.attributes().whole("axis", -1), node.shape(0).rank()));
        long p = node.attributes().whole("p", 2);
        node.require(p == 1 || p == 2, "its p is " + p, "1 or 2");
        Arg data = node.arg(0);
        Arg norm = p == 1
                ? e.reduce(Reduce.Kind.SUM, e.unary(Unary.Kind.ABS, data), axes)
                : e.unary(Unary.Kind.SQRT, e.reduce(Reduce.Kind.SUM, e.multiply(data, data), axes));
        Arg zero = e.number(0, DType.FLOAT32);
        node.finish(e.where(e.binary(Binary.Kind.EQUAL, norm, zero), zero, e.divide(data, norm)));
    }

    /**
     * Softmax, or its logarithm. From version 13 on along one axis; before, along all axes from one on, as one.
     *
     * @param isLog whether it is the logarithm: {@code (x - max) - log(sum(exp(x - max)))}
     */
    record OnnxSoftmaxImporter(boolean isLog) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Expressions e = new Expressions(node);
            Shape shape = node.shape(0);
            boolean isOne = node.version() >= ONE_AXIS;
            long stated = node.attributes().whole("axis", isOne ? -1 : 1);
            boolean isBeyond = !isOne && stated == shape.rank();
            int axis = isBeyond ? shape.rank() : node.axis(stated, Math.max(1, shape.rank()));
            node.finish(isOne ? along(e, node, axis) : flattened(e, node, axis));
        }

        private Arg along(Expressions e, NodeContext node, int axis) {
            int rank = node.shape(0).rank();
            if (axis == rank - 1 || rank == 0) {
                return rows(e, node, node.arg(0));
            }
            List<Integer> axes =
                    new ArrayList<>(IntStream.range(0, rank).boxed().toList());
            Collections.swap(axes, axis, rank - 1);
            return e.transpose(rows(e, node, e.transpose(node.arg(0), axes)), axes);
        }

        private Arg flattened(Expressions e, NodeContext node, int axis) {
            Shape shape = node.shape(0);
            int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
            Arg matrix = e.reshape(node.arg(0), List.of(Math.toIntExact(shape.elements() / columns), columns));
            return e.reshape(rows(e, node, matrix), shape);
        }

        private Arg rows(Expressions e, NodeContext node, Arg data) {
            if (!isLog) {
                return node.emit(new Softmax(1), data);
            }
            List<Integer> last = List.of(e.shape(data).rank() - 1);
            Arg lowered = e.subtract(data, e.reduce(Reduce.Kind.MAX, data, last));
            Arg sum = e.reduce(Reduce.Kind.SUM, e.unary(Unary.Kind.EXP, lowered), last);
            return e.subtract(lowered, e.unary(Unary.Kind.LOG, sum));
        }
    }

    /** {@code x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta}. */
    private static void lrn(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = Spatial.channelsLast(e, node.arg(0));
        Shape shape = e.shape(data);
        long size = node.attributes().requiredWhole("size");
        node.require(size > 0 && size < (1 << 12), "its size is " + size, "a number of channels");
        int before = (int) (size - 1) / 2;
        int after = (int) size - 1 - before;
        int axis = shape.rank() - 1;
        List<Integer> first = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
        List<Integer> last = new ArrayList<>(first);
        first.set(axis, before);
        last.set(axis, after);
        Arg squares = node.emit(new Pad(first, last), e.multiply(data, data), e.number(0, DType.FLOAT32));
        Arg sum = e.slice(squares, axis, 0, shape.dim(axis));
        for (int i = 1; i < size; i++) {
            sum = e.add(sum, e.slice(squares, axis, i, i + shape.dim(axis)));
        }
        float alpha = node.attributes().real("alpha", 1e-4f);
        float beta = node.attributes().real("beta", 0.75f);
        Arg scaled =
                e.add(e.multiply(sum, (double) alpha / size), node.attributes().real("bias", 1));
        Arg divisor = OnnxElementwiseImporters.real(e, scaled, e.number(beta, DType.FLOAT32));
        node.finish(Spatial.channelsFirst(e, e.divide(data, divisor)));
    }

    /** {@code (mean of |x|^p * number of elements) ^ (1 / p)}, with zeros around the data. */
    private static Arg lpPool(Expressions e, NodeContext node, Arg data, Spatial windows, Spatial stated) {
        List<Integer> before = new ArrayList<>(windows.begins());
        List<Integer> after = new ArrayList<>(windows.ends());
        before.add(0, 0);
        before.add(0);
        after.add(0, 0);
        after.add(0);
        boolean isPadded = Collections.max(before) > 0 || Collections.max(after) > 0;
        Arg wide = isPadded ? node.emit(new Pad(before, after), data, e.number(0, DType.FLOAT32)) : data;
        Arg powers = power(e, node, wide);
        int taps = windows.kernel().stream().reduce(1, (a, b) -> a * b);
        Arg mean = OnnxPools.pooled(e, node, powers, windows.unpadded(), AvgPool2d::new);
        return root(e, node, e.multiply(mean, taps));
    }

    private static void globalLpPool(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Integer> axes = IntStream.range(2, node.shape(0).rank()).boxed().toList();
        node.finish(root(e, node, e.reduce(Reduce.Kind.SUM, power(e, node, node.arg(0)), axes)));
    }

    private static Arg power(Expressions e, NodeContext node, Arg data) {
        long p = node.attributes().whole("p", 2);
        Arg magnitude = e.unary(Unary.Kind.ABS, data);
        return p == 1
                ? magnitude
                : p == 2 ? e.multiply(data, data) : OnnxElementwiseImporters.real(e, magnitude, number(e, (double) p));
    }

    private static Arg root(Expressions e, NodeContext node, Arg sum) {
        long p = node.attributes().whole("p", 2);
        return p == 1
                ? sum
                : p == 2 ? e.unary(Unary.Kind.SQRT, sum) : OnnxElementwiseImporters.real(e, sum, number(e, 1.0 / p));
    }

    private static Arg number(Expressions e, double value) {
        return e.number(value, DType.FLOAT32);
    }

    /** 1 for the first of the largest elements, 0 for the others; before version 13 along all axes from one on. */
    private static void hardmax(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        boolean isOne = node.version() >= ONE_AXIS;
        int axis = node.axis(node.attributes().whole("axis", isOne ? -1 : 1), shape.rank());
        Arg data = node.arg(0);
        if (!isOne) {
            int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
            data = e.reshape(data, List.of(Math.toIntExact(shape.elements() / columns), columns));
            axis = 1;
        }
        List<Integer> dims = new ArrayList<>(e.shape(data).dims());
        Arg places = e.places(Expressions.along(dims.size(), axis, dims.get(axis)), i -> i);
        dims.set(axis, 1);
        Arg index = e.reshape(node.emit(new ArgReduce(true, axis), data), dims);
        Arg isFirst = e.binary(Binary.Kind.EQUAL, index, places);
        node.finish(e.reshape(e.cast(isFirst, DType.FLOAT32), shape));
    }
}
