// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/**
 * Layers of a transformer on rows (steps, channels).
 *
 * @param heads attention heads, which divide the channels
 */
record Transformer(FloatNet net, int heads) {
    /** Attention and two fully connected layers, each with a residual sum and a normalization. */
    Arg.Ref layer(Arg.Ref rows) {
        int channels = net.shape(rows).dim(1);
        Arg.Ref attended = normalized(binary(Binary.Kind.ADD, rows, attention(rows)));
        Arg.Ref wide = gelu(net.dense(attended, 2 * channels));
        return normalized(binary(Binary.Kind.ADD, attended, net.dense(wide, channels)));
    }

    private Arg.Ref attention(Arg.Ref rows) {
        Shape shape = net.shape(rows);
        int depth = shape.dim(1) / heads;
        Arg.Ref scores = product(split(rows), split(rows), true);
        Arg.Ref scaled = binary(Binary.Kind.MULTIPLY, scores, Constant.scalar((float) (1 / Math.sqrt(depth))));
        Arg.Ref mixed = product(net.bind(new Softmax(1), scaled), split(rows), false);
        Arg.Ref joined = net.bind(new Transpose(List.of(0, 2, 1, 3)), mixed);
        return net.dense(net.bind(new Reshape(shape), joined), shape.dim(1));
    }

    /** A projection of the rows: (1, heads, steps, depth). */
    private Arg.Ref split(Arg.Ref rows) {
        Shape shape = net.shape(rows);
        Shape parts = Shape.of(1, shape.dim(0), heads, shape.dim(1) / heads);
        Arg.Ref projected = net.bind(new Reshape(parts), net.dense(rows, shape.dim(1)));
        return net.bind(new Transpose(List.of(0, 2, 1, 3)), projected);
    }

    private Arg.Ref product(Arg.Ref a, Arg.Ref b, boolean isTransposed) {
        return net.bind(new TflBatchMatmul(false, isTransposed), a, b, Constant.scalar(0), Constant.scalar(0));
    }

    private Arg.Ref normalized(Arg.Ref rows) {
        int channels = net.shape(rows).dim(1);
        Arg.Ref distance = binary(Binary.Kind.SUBTRACT, rows, mean(rows));
        Arg.Ref variance = mean(binary(Binary.Kind.MULTIPLY, distance, distance));
        Arg.Ref deviation =
                net.bind(new Unary(Unary.Kind.SQRT), binary(Binary.Kind.ADD, variance, Constant.scalar(1e-3f)));
        Arg.Ref unit = binary(Binary.Kind.DIVIDE, distance, deviation);
        Arg.Ref scaled = binary(Binary.Kind.MULTIPLY, unit, net.constant(1, channels));
        return binary(Binary.Kind.ADD, scaled, net.constant(0.2f, channels));
    }

    private Arg.Ref mean(Arg.Ref rows) {
        return net.bind(new Reduce(Reduce.Kind.MEAN, List.of(1), true), rows);
    }

    /** {@code x / 2 * (1 + tanh(0.8 * (x + 0.045 * x^3)))}. */
    private Arg.Ref gelu(Arg.Ref rows) {
        Arg.Ref cube = binary(Binary.Kind.MULTIPLY, binary(Binary.Kind.MULTIPLY, rows, rows), rows);
        Arg.Ref sum = binary(Binary.Kind.ADD, rows, binary(Binary.Kind.MULTIPLY, cube, Constant.scalar(0.044715f)));
        Arg.Ref bent =
                net.bind(new Unary(Unary.Kind.TANH), binary(Binary.Kind.MULTIPLY, sum, Constant.scalar(0.7978846f)));
        Arg.Ref gate = binary(Binary.Kind.ADD, bent, Constant.scalar(1f));
        return binary(Binary.Kind.MULTIPLY, binary(Binary.Kind.MULTIPLY, rows, Constant.scalar(0.5f)), gate);
    }

    private Arg.Ref binary(Binary.Kind kind, Arg a, Arg b) {
        return net.bind(new Binary(kind), a, b);
    }
}
