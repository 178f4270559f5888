// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Discrete Fourier transforms of a length that is known at build time, as products with a matrix. The last dimension holds real parts, or real
 * and imaginary ones.
 */
final class FourierImporters {
    /** Version from which on the axis is an input. */
    private static final int AXIS_INPUT = 20;

    private static final int MOST = 1 << 14;

    static final List<OnnxRegistration> ALL =
            List.of(onnx("DFT", FourierImporters::whole), onnx("STFT", FourierImporters::frames));

    private FourierImporters() {}

    /**
     * A transform.
     *
     * @param length of the signal, after zeros are added to it or its end is left out
     * @param isInverse whether it computes the signal
     * @param bins numbers of the result, from frequency 0 on
     */
    private record Transform(int length, boolean isInverse, int bins) {
        static Transform of(NodeContext node, long length, boolean isInverse, boolean isOneSided) {
            node.require(length > 0 && length <= MOST, "its length is " + length, "1 to " + MOST);
            int whole = (int) length;
            return new Transform(whole, isInverse, isOneSided ? whole / 2 + 1 : whole);
        }

        /** The matrix, one row for each part of each bin. */
        Constant matrix(Expressions e, int samples, int parts) {
            float[] matrix = new float[e.tableOf(2L * bins, (long) samples * parts)];
            double sign = isInverse ? 1 : -1;
            double scale = isInverse ? 1.0 / length : 1;
            for (int bin = 0; bin < bins; bin++) {
                for (int t = 0; t < Math.min(samples, length); t++) {
                    double angle = 2 * Math.PI * ((long) bin * t % length) / length;
                    double real = scale * Math.cos(angle);
                    double imaginary = sign * scale * Math.sin(angle);
                    int row = 2 * bin * samples * parts + t * parts;
                    matrix[row] = (float) real;
                    matrix[row + samples * parts] = (float) imaginary;
                    if (parts == 2) {
                        matrix[row + 1] = (float) -imaginary;
                        matrix[row + samples * parts + 1] = (float) real;
                    }
                }
            }
            return e.reals(matrix, Shape.of(2 * bins, samples * parts));
        }
    }

    private static void whole(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int rank = shape.rank();
        node.require(
                rank >= 2 && shape.dim(-1) <= 2, "its data is " + shape.text(), "one or two parts as last dimension");
        long stated = node.version() < AXIS_INPUT
                ? node.attributes().whole("axis", 1)
                : node.has(2) ? node.integers(2, "axis").get(0) : -2;
        int axis = node.axis(stated, rank);
        node.require(axis < rank - 1, "its axis is the last dimension", "another one");
        int samples = shape.dim(axis);
        long length = node.has(1) ? node.integers(1, "dft_length").get(0) : samples;
        boolean isInverse = node.attributes().truth("inverse", false);
        Transform by = Transform.of(node, length, isInverse, node.attributes().truth("onesided", false));
        List<Integer> order = new ArrayList<>(
                IntStream.range(0, rank - 1).filter(i -> i != axis).boxed().toList());
        order.add(axis);
        order.add(rank - 1);
        Arg ordered = e.transpose(e.cast(node.arg(0), DType.FLOAT32), order);
        int parts = shape.dim(-1);
        Arg rows = e.reshape(ordered, List.of((int) (shape.elements() / samples / parts), samples * parts));
        Arg product = node.emit(new Dense(2 * by.bins()), rows, by.matrix(e, samples, parts));
        List<Integer> dims = new ArrayList<>(order.stream().map(shape::dim).toList());
        dims.set(rank - 2, by.bins());
        dims.set(rank - 1, 2);
        List<Integer> back =
                IntStream.range(0, rank).map(order::indexOf).boxed().toList();
        node.finish(e.transpose(e.reshape(product, dims), back));
    }

    private static void frames(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        node.require(
                shape.rank() == 3 && shape.dim(2) <= 2, "its signal is " + shape.text(), "a batch of signals in parts");
        long step = node.integers(1, "frame_step").get(0);
        node.require(node.has(2) || node.has(3), "it has neither a window nor a frame_length", "one of them");
        long window = node.has(2) ? node.shape(2).elements() : 0;
        long length = node.has(3) ? node.integers(3, "frame_length").get(0) : window;
        node.require(
                step > 0 && length > 0 && length <= shape.dim(1) && (window == 0 || window == length),
                "its frames have " + length + " samples, one every " + step + ", of " + shape.dim(1),
                "frames inside the signal, as long as their window");
        Transform by = Transform.of(node, length, false, node.attributes().truth("onesided", true));
        int samples = by.length();
        int count = (int) ((shape.dim(1) - length) / step) + 1;
        Constant places = e.places(Shape.of(e.tableOf(count, samples)), i -> (int) (i / samples * step) + i % samples);
        int parts = shape.dim(2);
        Arg taken = e.take(e.cast(node.arg(0), DType.FLOAT32), places, 1);
        Arg framed = e.reshape(taken, List.of(shape.dim(0) * count, samples, parts));
        Arg shaped = node.has(2)
                ? e.multiply(framed, e.reshape(e.cast(node.arg(2), DType.FLOAT32), List.of(1, samples, 1)))
                : framed;
        Arg rows = e.reshape(shaped, List.of(shape.dim(0) * count, samples * parts));
        Arg product = node.emit(new Dense(2 * by.bins()), rows, by.matrix(e, samples, parts));
        node.finish(e.reshape(product, List.of(shape.dim(0), count, by.bins(), 2)));
    }
}
