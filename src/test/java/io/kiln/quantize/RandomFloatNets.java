// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random float networks around one operator that the quantizer knows: layers that give its operands different ranges, and the operator. */
final class RandomFloatNets {
    private static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);

    /** Applies an operator to images (1, height, width, channels). */
    interface Step {
        Arg.Ref of(Draft draft, Arg.Ref data);
    }

    /** A network under construction. */
    record Draft(FloatNet net, Random random) {
        int between(int low, int high) {
            return low + random.nextInt(high - low + 1);
        }

        float factor() {
            return (float) Math.exp(3 * random.nextDouble() - 1.5);
        }

        /** Another value of the same shape, of another range. */
        Arg.Ref like(Arg.Ref data) {
            int channels = net.shape(data).dim(3);
            return net.bind(
                    new Binary(Binary.Kind.MULTIPLY), net.conv(data, SAME, channels), Constant.scalar(factor()));
        }

        /** Whether an image has at least so many rows, columns and channels. */
        boolean holds(Arg.Ref data, int rows, int columns, int channels) {
            Shape shape = net.shape(data);
            return shape.dim(1) >= rows && shape.dim(2) >= columns && shape.dim(3) >= channels;
        }

        Arg.Ref unary(Unary.Kind kind, Arg.Ref data) {
            return net.bind(new Unary(kind), data);
        }

        Arg.Ref binary(Binary.Kind kind, Arg.Ref data) {
            return net.bind(new Binary(kind), data, like(data));
        }

        /** With a constant for each channel, or for each element. */
        Arg.Ref constant(Binary.Kind kind, Arg.Ref data) {
            Shape shape = net.shape(data);
            Constant constant = random.nextBoolean()
                    ? net.constant(factor(), shape.dim(3))
                    : net.constant(factor(), 1, shape.dim(1), shape.dim(2), shape.dim(3));
            return random.nextBoolean()
                    ? net.bind(new Binary(kind), data, constant)
                    : net.bind(new Binary(kind), constant, data);
        }

        Arg.Ref rows(Arg.Ref data) {
            Shape shape = net.shape(data);
            return net.bind(new Reshape(Shape.of(1, shape.dim(1) * shape.dim(2), shape.dim(3))), data);
        }

        Arg.Ref image(Arg.Ref data, Shape shape) {
            return net.bind(new Reshape(shape), data);
        }

        Arg.Ref product(Arg.Ref a, Arg.Ref b, boolean transposed) {
            return net.bind(new TflBatchMatmul(false, transposed), a, b, Constant.scalar(0), Constant.scalar(0));
        }
    }

    private RandomFloatNets() {}

    /** A shape of 48 elements. */
    static Shape shape(int rank) {
        return switch (rank) {
            case 1 -> Shape.of(48);
            case 2 -> Shape.of(4, 12);
            case 3 -> Shape.of(1, 6, 8);
            case 4 -> Shape.of(2, 4, 2, 3);
            default -> Shape.of(2, 2, 2, 2, 3);
        };
    }

    static Draft draft(long seed) {
        return new Draft(new FloatNet(seed), new Random(seed));
    }

    /** All operators, by a name of the case. */
    static Map<String, Step> steps() {
        Map<String, Step> steps = images();
        matrices(steps);
        return steps;
    }

    /** Those whose result is an image again. */
    static Map<String, Step> images() {
        Map<String, Step> steps = new LinkedHashMap<>();
        layers(steps);
        elements(steps);
        clamps(steps);
        movements(steps);
        return steps;
    }

    private static void layers(Map<String, Step> steps) {
        steps.put("CONV_2D", (d, x) -> d.net.conv(x, SAME, d.between(1, 6)));
        steps.put("DEPTHWISE_CONV_2D", (d, x) -> d.net.shape(x).dim(3) > 1 ? d.net.depthwise(x, SAME) : x);
        steps.put("CONV_2D_RELU6", (d, x) -> d.net.bind(new Clip(0, 6), d.net.conv(x, SAME, d.between(1, 6))));
        steps.put(
                "TRANSPOSE_CONV",
                (d, x) -> d.net.bind(
                        new Conv2dTranspose(new TransposedWindow(Window.of(2, 2).strided(2, 2), 0, 0), 4),
                        x,
                        d.net.constant(0.3f, 4, 2, 2, d.net.shape(x).dim(3))));
        steps.put("FULLY_CONNECTED", (d, x) -> {
            Shape shape = d.net.shape(x);
            Arg.Ref flat = d.net.bind(new Reshape(Shape.of(shape.dim(1), shape.dim(2) * shape.dim(3))), x);
            return d.image(d.net.dense(flat, 12), Shape.of(1, shape.dim(1), 3, 4));
        });
        Window pool = Window.of(2, 2).strided(2, 2);
        steps.put("AVERAGE_POOL_2D", (d, x) -> d.holds(x, 2, 2, 1) ? d.net.bind(new AvgPool2d(pool), x) : x);
        steps.put("MAX_POOL_2D", (d, x) -> d.holds(x, 2, 2, 1) ? d.net.bind(new MaxPool2d(pool), x) : x);
        steps.put(
                "AVERAGE_POOL_2D_RELU",
                (d, x) -> d.net.relu(d.net.bind(new AvgPool2d(Window.of(3, 3).padded(1, 1, 1, 1)), x)));
    }

    private static void elements(Map<String, Step> steps) {
        for (Binary.Kind kind : List.of(
                Binary.Kind.ADD,
                Binary.Kind.SUBTRACT,
                Binary.Kind.MULTIPLY,
                Binary.Kind.MAXIMUM,
                Binary.Kind.MINIMUM,
                Binary.Kind.SQUARED_DIFFERENCE)) {
            steps.put(kind.name(), (d, x) -> d.binary(kind, x));
            steps.put(kind.name() + "_CONSTANT", (d, x) -> d.constant(kind, x));
            steps.put(kind.name() + "_RELU", (d, x) -> d.net.relu(d.binary(kind, x)));
        }
        steps.put(
                "PRELU",
                (d, x) -> d.net.bind(
                        new Binary(Binary.Kind.PRELU),
                        x,
                        d.net.constant(d.factor(), 1, 1, d.net.shape(x).dim(3))));
        steps.put("LEAKY_RELU", (d, x) -> d.net.bind(new LeakyRelu(d.factor() / 5), x));
        for (Unary.Kind kind : List.of(Unary.Kind.SIGMOID, Unary.Kind.TANH, Unary.Kind.HARD_SWISH, Unary.Kind.ELU)) {
            steps.put(kind.name(), (d, x) -> d.unary(kind, x));
        }
        steps.put("SOFTMAX", (d, x) -> d.net.bind(new Softmax(d.random.nextBoolean() ? 1 : 0.7f), d.like(x)));
    }

    private static void clamps(Map<String, Step> steps) {
        steps.put("RELU", (d, x) -> d.net.relu(d.unary(Unary.Kind.TANH, x)));
        steps.put("RELU_FREE", (d, x) -> {
            Arg.Ref y = d.like(x);
            return d.net.bind(new Binary(Binary.Kind.ADD), d.net.relu(y), y);
        });
        steps.put("RELU6", (d, x) -> d.net.bind(new Clip(0, 6), d.net.bind(new Reshape(d.net.shape(x)), d.like(x))));
        steps.put(
                "CLIP_ALONE",
                (d, x) -> d.net.bind(
                        new Clip(d.between(-2, 1) / 2.0, d.between(3, 5) / 2.0),
                        d.net.bind(new Reshape(d.net.shape(x)), d.like(x))));
        steps.put(
                "RELU6_JOINED",
                (d, x) -> d.net.bind(
                        new Concatenate(3, 2),
                        d.net.bind(new Clip(0, 6), d.net.bind(new Reshape(d.net.shape(x)), d.like(x))),
                        d.like(x)));
        steps.put("CLIP", (d, x) -> d.net.bind(new Clip(-0.7, 0.3), d.like(x)));
    }

    private static void movements(Map<String, Step> steps) {
        steps.put(
                "CONCATENATION",
                (d, x) -> d.net.bind(new Concatenate(3, 3), x, d.like(x), d.unary(Unary.Kind.SIGMOID, x)));
        steps.put("TRANSPOSE", (d, x) -> d.net.bind(new Transpose(List.of(0, 2, 1, 3)), x));
        steps.put(
                "PAD", (d, x) -> d.net.bind(new Pad(List.of(0, 1, 0, 0), List.of(0, 0, 2, 0)), x, Constant.scalar(0f)));
        steps.put(
                "STRIDED_SLICE",
                (d, x) -> d.holds(x, 2, 1, 1)
                        ? d.net.bind(new StridedSlice(List.of(0, 1, 0, 0), List.of(1, 4, 3, 2), List.of(1, 2, 1, 1)), x)
                        : x);
        steps.put("RESIZE", (d, x) -> {
            boolean linear = d.random.nextBoolean();
            boolean corners = d.random.nextBoolean();
            return d.net.bind(
                    new Resize2d(
                            d.between(2, 11), d.between(2, 11), linear, corners, !corners && d.random.nextBoolean()),
                    x);
        });
        steps.put(
                "GATHER",
                (d, x) -> d.net.bind(
                        new Take(2, 0), x, Constant.vector(d.net.shape(x).dim(2) - 1, 0, 0)));
        steps.put(
                "BROADCAST_TO",
                (d, x) -> d.net.bind(
                        new BroadcastTo(d.net.shape(x)),
                        d.net.bind(new Reduce(Reduce.Kind.MEAN, List.of(1), true), x)));
        // A product has no integer form, and leaves the range of floats after a few layers.
        for (Reduce.Kind kind : EnumSet.complementOf(EnumSet.of(Reduce.Kind.PROD))) {
            steps.put(
                    "REDUCE_" + kind.name(),
                    (d, x) ->
                            d.net.bind(new Reduce(kind, d.random.nextBoolean() ? List.of(1, 2) : List.of(3), true), x));
        }
    }

    private static void matrices(Map<String, Step> steps) {
        steps.put("BATCH_MATMUL", (d, x) -> d.product(d.rows(x), d.rows(d.like(x)), true));
        steps.put("ATTENTION", (d, x) -> {
            Arg.Ref q = d.rows(d.like(x));
            Arg.Ref k = d.rows(d.like(x));
            Arg.Ref v = d.rows(d.like(x));
            Arg.Ref scores = d.net.bind(new Softmax(1), d.product(q, k, true));
            return d.image(d.product(scores, v, false), d.net.shape(x));
        });
    }
}
