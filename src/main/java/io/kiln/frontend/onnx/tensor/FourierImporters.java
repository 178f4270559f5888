// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/**
 * Discrete Fourier transforms of a length that is known at build time, as products with a matrix, whose last dimension holds real parts, or real
 * and imaginary ones; and constants around them: windows, which are sums of cosines of the place within the window, from 0 to 1, and weights of
 * mel bands.
 */
final class FourierImporters {
    private static final int LONGEST_WINDOW = 1 << 20;
    private static final double HAMMING = 25.0 / 46;
    private static final double STEEPNESS = 2595;
    private static final double CORNER = 700;

    /** Version from which on the axis is an input. */
    private static final int AXIS_INPUT = 20;

    /** Most samples of a transform, and bands of its mel scale. */
    private static final int MOST = 1 << 14;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("MelWeightMatrix", FourierImporters::melWeights),
            onnx("DFT", FourierImporters::whole),
            onnx("STFT", FourierImporters::frames),
            onnx("HannWindow", n -> window(n, t -> 0.5 - 0.5 * cosine(1, t))),
            onnx("HammingWindow", n -> window(n, t -> HAMMING - (1 - HAMMING) * cosine(1, t))),
            onnx("BlackmanWindow", n -> window(n, t -> 0.42 - 0.5 * cosine(1, t) + 0.08 * cosine(2, t))));

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
        Constant matrix(Formulas e, int samples, int parts) {
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
        Shape shape = node.shape(0);
        int rank = shape.rank();
        node.require(
                rank >= 2 && shape.dim(-1) <= 2, "its data is " + shape.text(), "one or two parts as last dimension");
        long stated = node.version() < AXIS_INPUT
                ? node.whole("axis", 1)
                : node.has(2) ? node.integers(2, "axis").get(0) : -2;
        int axis = node.axis(stated, rank);
        node.require(axis < rank - 1, "its axis is the last dimension", "another one");
        int samples = shape.dim(axis);
        long length = node.has(1) ? node.integers(1, "dft_length").get(0) : samples;
        boolean isInverse = node.truth("inverse", false);
        Transform by = Transform.of(node, length, isInverse, node.truth("onesided", false));
        List<Integer> order = new ArrayList<>(
                IntStream.range(0, rank - 1).filter(i -> i != axis).boxed().toList());
        order.add(axis);
        order.add(rank - 1);
        Arg ordered = node.transpose(node.cast(node.arg(0), DType.FLOAT32), order);
        int parts = shape.dim(-1);
        Arg rows = node.reshape(ordered, List.of((int) (shape.elements() / samples / parts), samples * parts));
        Arg product = node.emit(new Dense(2 * by.bins()), rows, by.matrix(node, samples, parts));
        List<Integer> dims = new ArrayList<>(order.stream().map(shape::dim).toList());
        dims.set(rank - 2, by.bins());
        dims.set(rank - 1, 2);
        List<Integer> back =
                IntStream.range(0, rank).map(order::indexOf).boxed().toList();
        node.finish(node.transpose(node.reshape(product, dims), back));
    }

    private static void frames(NodeContext node) {
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
        Transform by = Transform.of(node, length, false, node.truth("onesided", true));
        int samples = by.length();
        int count = (int) ((shape.dim(1) - length) / step) + 1;
        Constant places =
                node.places(Shape.of(node.tableOf(count, samples)), i -> (int) (i / samples * step) + i % samples);
        int parts = shape.dim(2);
        Arg taken = node.take(node.cast(node.arg(0), DType.FLOAT32), places, 1);
        Arg framed = node.reshape(taken, List.of(shape.dim(0) * count, samples, parts));
        Arg shaped = node.has(2)
                ? node.multiply(framed, node.reshape(node.cast(node.arg(2), DType.FLOAT32), List.of(1, samples, 1)))
                : framed;
        Arg rows = node.reshape(shaped, List.of(shape.dim(0) * count, samples * parts));
        Arg product = node.emit(new Dense(2 * by.bins()), rows, by.matrix(node, samples, parts));
        node.finish(node.reshape(product, List.of(shape.dim(0), count, by.bins(), 2)));
    }

    /**
     * {@code MelWeightMatrix}, a constant: triangles over the bins of a spectrum, whose corners are equally far apart on the mel scale (2595 log10(1 +
     * f / 700)).
     */
    private static void melWeights(NodeContext node) {
        long bands = node.integers(0, "num_mel_bins").get(0);
        long length = node.integers(1, "dft_length").get(0);
        long rate = node.integers(2, "sample_rate").get(0);
        double low = mel(node.reals(3, "lower_edge_hertz").get(0));
        double high = mel(node.reals(4, "upper_edge_hertz").get(0));
        node.require(node.whole("output_datatype", 1) == 1, "its output_datatype is not float", "float");
        node.require(
                bands > 0 && bands <= MOST && length > 0 && length <= MOST && rate > 0 && low >= 0 && low < high,
                "it has " + bands + " bands of a transform of length " + length + " at " + rate + " Hz",
                "1 to " + MOST + " bands and samples, and frequencies that ascend from 0 Hz on");
        int bins = (int) length / 2 + 1;
        long[] corners = new long[(int) bands + 2];
        for (int i = 0; i < corners.length; i++) {
            double mel = low + i * (high - low) / corners.length;
            double hertz = CORNER * (Math.pow(10, mel / STEEPNESS) - 1);
            corners[i] = (long) Math.floor((length + 1) * hertz / rate);
        }
        node.require(
                corners[corners.length - 1] <= bins,
                "its upper edge lies above half of the sample rate",
                "at most half of the sample rate");
        float[] weights = new float[node.tableOf(bins, bands)];
        for (int band = 0; band < bands; band++) {
            for (long bin = corners[band]; bin < Math.min(bins, corners[band + 2]); bin++) {
                weights[(int) (bin * bands) + band] = weight(bin, corners[band], corners[band + 1], corners[band + 2]);
            }
            if (corners[band + 1] < bins) {
                weights[(int) (corners[band + 1] * bands) + band] = 1;
            }
        }
        node.finish(node.reals(weights, Shape.of(bins, (int) bands)));
    }

    private static double mel(double hertz) {
        return STEEPNESS * Math.log10(1 + hertz / CORNER);
    }

    private static float weight(long bin, long from, long middle, long to) {
        return bin <= middle && from < middle
                ? (float) ((double) (bin - from) / (middle - from))
                : (float) ((double) (to - bin) / (to - middle));
    }

    private static double cosine(int waves, double t) {
        return Math.cos(2 * Math.PI * waves * t);
    }

    private static void window(NodeContext node, DoubleUnaryOperator formula) {
        long size = node.integers(0, "size").get(0);
        node.require(size > 0 && size <= LONGEST_WINDOW, "its size is " + size, "1 to " + LONGEST_WINDOW);
        node.require(node.whole("output_datatype", 1) == 1, "its output_datatype is not float", "float");
        boolean isPeriodic = node.truth("periodic", true);
        double length = Math.max(1, isPeriodic ? size : size - 1);
        float[] values = new float[(int) size];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) formula.applyAsDouble(i / length);
        }
        Arg constant = node.reals(values, Shape.of(values.length));
        node.finish(constant);
    }
}
