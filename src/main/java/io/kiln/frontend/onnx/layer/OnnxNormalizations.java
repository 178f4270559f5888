// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Normalizations by mean and variance; formulas are those of ONNX's operator pages. */
final class OnnxNormalizations {
    private static final float EPSILON = 1e-5f;
    private static final float MVN_EPSILON = 1e-9f;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("BatchNormalization", OnnxNormalizations::batch),
            onnx("InstanceNormalization", OnnxNormalizations::instance),
            onnx("LayerNormalization", OnnxNormalizations::layer),
            onnx("RMSNormalization", OnnxNormalizations::rootMeanSquare),
            onnx("SimplifiedLayerNormalization", OnnxNormalizations::rootMeanSquare),
            onnx("GroupNormalization", OnnxNormalizations::group),
            onnx("MeanVarianceNormalization", OnnxNormalizations::meanVariance),
            onnx("LpNormalization", OnnxNormalizations::lp));

    private OnnxNormalizations() {}

    /** {@code (x - mean) / sqrt(var + epsilon) * scale + bias} for each channel; constants make one factor and one sum. */
    private static void batch(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = ImageLayouts.channelsLast(e, node.arg(0));
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
        node.finish(ImageLayouts.channelsFirst(e, result));
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
        Arg data = ImageLayouts.channelsLast(e, node.arg(0));
        List<Integer> axes =
                IntStream.range(1, e.shape(data).rank() - 1).boxed().toList();
        Normalized normalized = Normalized.of(e, data, axes, node.attributes().real("epsilon", EPSILON));
        Arg result = e.add(e.multiply(normalized.value(), node.arg(1)), node.arg(2));
        node.finish(ImageLayouts.channelsFirst(e, result));
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
}
