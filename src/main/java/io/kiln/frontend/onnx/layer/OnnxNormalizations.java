// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxPools.PoolImporter;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
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
        Arg data = Spatial.channelsLast(node, node.arg(0));
        int rank = node.shape(data).rank();
        boolean trains = node.truth("training_mode", false);
        Arg mean = node.arg(3);
        Arg variance = node.arg(4);
        if (trains) {
            List<Integer> axes = IntStream.range(0, rank - 1).boxed().toList();
            List<Integer> channels = List.of(node.shape(data).dim(-1));
            Arg kept = node.reduce(Reduce.Kind.MEAN, data, axes);
            Arg distance = node.subtract(data, kept);
            Arg current =
                    node.reshape(node.reduce(Reduce.Kind.MEAN, node.multiply(distance, distance), axes), channels);
            Arg currentMean = node.reshape(kept, channels);
            float momentum = node.real("momentum", 0.9f);
            node.finish(1, node.add(node.multiply(mean, momentum), node.multiply(currentMean, 1 - momentum)));
            node.finish(2, node.add(node.multiply(variance, momentum), node.multiply(current, 1 - momentum)));
            mean = currentMean;
            variance = current;
        }
        Arg deviation = node.sqrt(node.add(variance, node.real("epsilon", EPSILON)));
        Arg scale = node.divide(node.arg(1), deviation);
        Arg shift = node.subtract(node.arg(2), node.multiply(mean, scale));
        Arg result = node.add(node.multiply(data, scale), shift);
        node.finish(Spatial.channelsFirst(node, result));
    }

    /** The data minus its mean along axes, divided by its standard deviation. */
    private record Normalized(Arg value, Arg mean, Arg inverse) {
        static Normalized of(Formulas e, Arg data, List<Integer> axes, float epsilon) {
            Arg mean = e.reduce(Reduce.Kind.MEAN, data, axes);
            Arg distance = e.subtract(data, mean);
            Arg variance = e.reduce(Reduce.Kind.MEAN, e.multiply(distance, distance), axes);
            Arg inverse = e.divide(e.real(1), e.sqrt(e.add(variance, epsilon)));
            return new Normalized(e.multiply(distance, inverse), mean, inverse);
        }
    }

    private static void instance(NodeContext node) {
        Arg data = Spatial.channelsLast(node, node.arg(0));
        List<Integer> axes =
                IntStream.range(1, node.shape(data).rank() - 1).boxed().toList();
        Normalized normalized = Normalized.of(node, data, axes, node.real("epsilon", EPSILON));
        Arg result = node.add(node.multiply(normalized.value(), node.arg(1)), node.arg(2));
        node.finish(Spatial.channelsFirst(node, result));
    }

    private static void layer(NodeContext node) {
        int rank = node.shape(0).rank();
        int axis = node.axis(node.whole("axis", -1), rank);
        List<Integer> axes = IntStream.range(axis, rank).boxed().toList();
        Normalized normalized = Normalized.of(node, node.arg(0), axes, node.real("epsilon", EPSILON));
        Arg result = node.multiply(normalized.value(), node.arg(1));
        node.finish(node.has(2) ? node.add(result, node.arg(2)) : result);
        node.finish(1, normalized.mean());
        node.finish(2, normalized.inverse());
    }

    /** {@code x / sqrt(mean(x^2) + epsilon) * scale}, the mean over all axes from one on. */
    private static void rootMeanSquare(NodeContext node) {
        int rank = node.shape(0).rank();
        int axis = node.axis(node.whole("axis", -1), rank);
        List<Integer> axes = IntStream.range(axis, rank).boxed().toList();
        Arg data = node.arg(0);
        Arg square = node.reduce(Reduce.Kind.MEAN, node.multiply(data, data), axes);
        Arg root = node.sqrt(node.add(square, node.real("epsilon", EPSILON)));
        node.finish(node.multiply(node.divide(data, root), node.arg(1)));
    }

    /** Groups of channels; scale and bias are for each group before version 21, then for each channel. */
    private static void group(NodeContext node) {
        Shape shape = node.shape(0);
        long groups = node.requiredWhole("num_groups");
        node.require(
                shape.rank() >= 2 && groups > 0 && groups <= shape.dim(1) && shape.dim(1) % groups == 0,
                "its num_groups is " + groups,
                "a divisor of the channels of " + shape.text());
        int inGroup = shape.dim(1) / (int) groups;
        List<Integer> parted = new ArrayList<>(shape.dims());
        parted.set(1, (int) groups);
        parted.add(2, inGroup);
        List<Integer> axes = IntStream.range(2, parted.size()).boxed().toList();
        Arg value = Normalized.of(node, node.reshape(node.arg(0), parted), axes, node.real("epsilon", EPSILON))
                .value();
        boolean isChannels = node.shape(1).elements() == shape.dim(1);
        List<Integer> factors = new ArrayList<>(parted.stream().map(d -> 1).toList());
        factors.set(1, (int) groups);
        factors.set(2, isChannels ? inGroup : 1);
        Arg scaled = node.multiply(value, node.reshape(node.arg(1), factors));
        node.finish(node.reshape(node.add(scaled, node.reshape(node.arg(2), factors)), shape));
    }

    private static void meanVariance(NodeContext node) {
        List<Long> stated = node.wholes("axes").orElse(List.of(0L, 2L, 3L));
        List<Integer> axes = node.axes(stated, node.shape(0).rank());
        Arg mean = node.reduce(Reduce.Kind.MEAN, node.arg(0), axes);
        Arg distance = node.subtract(node.arg(0), mean);
        Arg variance = node.reduce(Reduce.Kind.MEAN, node.multiply(distance, distance), axes);
        node.finish(node.divide(distance, node.add(node.sqrt(variance), MVN_EPSILON)));
    }

    /** {@code x / norm}; 0 where the norm is 0. */
    private static void lp(NodeContext node) {
        List<Integer> axes =
                List.of(node.axis(node.whole("axis", -1), node.shape(0).rank()));
        long p = node.whole("p", 2);
        node.require(p == 1 || p == 2, "its p is " + p, "1 or 2");
        Arg data = node.arg(0);
        Arg norm = p == 1
                ? node.reduce(Reduce.Kind.SUM, node.abs(data), axes)
                : node.sqrt(node.reduce(Reduce.Kind.SUM, node.multiply(data, data), axes));
        Arg zero = node.real(0);
        node.finish(node.where(node.equal(norm, zero), zero, node.divide(data, norm)));
    }

    /**
     * Softmax, or its logarithm. From version 13 on along one axis; before, along all axes from one on, as one.
     *
     * @param isLog whether it is the logarithm: {@code (x - max) - log(sum(exp(x - max)))}
     */
    record OnnxSoftmaxImporter(boolean isLog) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Shape shape = node.shape(0);
            boolean isOne = node.version() >= ONE_AXIS;
            long stated = node.whole("axis", isOne ? -1 : 1);
            boolean isBeyond = !isOne && stated == shape.rank();
            int axis = isBeyond ? shape.rank() : node.axis(stated, Math.max(1, shape.rank()));
            node.finish(isOne ? along(node, axis) : flattened(node, axis));
        }

        private Arg along(NodeContext node, int axis) {
            int rank = node.shape(0).rank();
            if (axis == rank - 1 || rank == 0) {
                return rows(node, node.arg(0));
            }
            List<Integer> axes =
                    new ArrayList<>(IntStream.range(0, rank).boxed().toList());
            Collections.swap(axes, axis, rank - 1);
            return node.transpose(rows(node, node.transpose(node.arg(0), axes)), axes);
        }

        private Arg flattened(NodeContext node, int axis) {
            Shape shape = node.shape(0);
            int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
            Arg matrix = node.reshape(node.arg(0), List.of(Math.toIntExact(shape.elements() / columns), columns));
            return node.reshape(rows(node, matrix), shape);
        }

        private Arg rows(NodeContext node, Arg data) {
            if (!isLog) {
                return node.emit(new Softmax(1), data);
            }
            List<Integer> last = List.of(node.shape(data).rank() - 1);
            Arg lowered = node.subtract(data, node.reduce(Reduce.Kind.MAX, data, last));
            Arg sum = node.reduce(Reduce.Kind.SUM, node.exp(lowered), last);
            return node.subtract(lowered, node.log(sum));
        }
    }

    /** {@code x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta}. */
    private static void lrn(NodeContext node) {
        Arg data = Spatial.channelsLast(node, node.arg(0));
        Shape shape = node.shape(data);
        long size = node.requiredWhole("size");
        node.require(size > 0 && size < (1 << 12), "its size is " + size, "a number of channels");
        int before = (int) (size - 1) / 2;
        int after = (int) size - 1 - before;
        int axis = shape.rank() - 1;
        List<Integer> first = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
        List<Integer> last = new ArrayList<>(first);
        first.set(axis, before);
        last.set(axis, after);
        Arg squares = node.emit(new Pad(first, last), node.multiply(data, data), node.real(0));
        Arg sum = node.slice(squares, axis, 0, shape.dim(axis));
        for (int i = 1; i < size; i++) {
            sum = node.add(sum, node.slice(squares, axis, i, i + shape.dim(axis)));
        }
        float alpha = node.real("alpha", 1e-4f);
        float beta = node.real("beta", 0.75f);
        Arg scaled = node.add(node.multiply(sum, (double) alpha / size), node.real("bias", 1));
        Arg divisor = OnnxElementwiseImporters.real(node, scaled, node.real(beta));
        node.finish(Spatial.channelsFirst(node, node.divide(data, divisor)));
    }

    /** {@code (mean of |x|^p * number of elements) ^ (1 / p)}, with zeros around the data. */
    private static Arg lpPool(NodeContext node, Arg data, Spatial windows, Spatial stated) {
        Arg powers = power(node, Spatial.padded(node, data, windows.begins(), windows.ends()));
        int taps = windows.kernel().stream().reduce(1, (a, b) -> a * b);
        Arg mean = OnnxPools.pooled(node, powers, windows.unpadded(), AvgPool2d::new);
        return root(node, node.multiply(mean, taps));
    }

    private static void globalLpPool(NodeContext node) {
        List<Integer> axes = IntStream.range(2, node.shape(0).rank()).boxed().toList();
        node.finish(root(node, node.reduce(Reduce.Kind.SUM, power(node, node.arg(0)), axes)));
    }

    private static Arg power(NodeContext node, Arg data) {
        long p = node.whole("p", 2);
        Arg magnitude = node.abs(data);
        return p == 1
                ? magnitude
                : p == 2
                        ? node.multiply(data, data)
                        : OnnxElementwiseImporters.real(node, magnitude, node.real((double) p));
    }

    private static Arg root(NodeContext node, Arg sum) {
        long p = node.whole("p", 2);
        return p == 1 ? sum : p == 2 ? node.sqrt(sum) : OnnxElementwiseImporters.real(node, sum, node.real(1.0 / p));
    }

    /** 1 for the first of the largest elements, 0 for the others; before version 13 along all axes from one on. */
    private static void hardmax(NodeContext node) {
        Shape shape = node.shape(0);
        boolean isOne = node.version() >= ONE_AXIS;
        int axis = node.axis(node.whole("axis", isOne ? -1 : 1), shape.rank());
        Arg data = node.arg(0);
        if (!isOne) {
            int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
            data = node.reshape(data, List.of(Math.toIntExact(shape.elements() / columns), columns));
            axis = 1;
        }
        Shape rows = node.shape(data);
        Arg places = node.places(Formulas.along(rows.rank(), axis, rows.dim(axis)), i -> i);
        Arg index = node.reshape(node.emit(new ArgReduce(true, axis), data), rows.with(axis, 1));
        Arg isFirst = node.equal(index, places);
        node.finish(node.reshape(node.cast(isFirst, DType.FLOAT32), shape));
    }
}
