// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.type.Shape;

/**
 * {@code MelWeightMatrix}, a constant: triangles over the bins of a spectrum, whose corners are equally far apart on the mel scale (2595 log10(1 +
 * f / 700)).
 */
final class MelWeightImporter implements OnnxImporter {
    private static final double STEEPNESS = 2595;
    private static final double CORNER = 700;
    private static final int MOST = 1 << 14;

    @Override
    public void emit(NodeContext node) {
        long bands = node.integers(0, "num_mel_bins").get(0);
        long length = node.integers(1, "dft_length").get(0);
        long rate = node.integers(2, "sample_rate").get(0);
        double low = mel(node.reals(3, "lower_edge_hertz").get(0));
        double high = mel(node.reals(4, "upper_edge_hertz").get(0));
        node.require(node.attributes().whole("output_datatype", 1) == 1, "its output_datatype is not float", "float");
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
        Expressions e = new Expressions(node);
        float[] weights = new float[e.tableOf(bins, bands)];
        for (int band = 0; band < bands; band++) {
            for (long bin = corners[band]; bin < Math.min(bins, corners[band + 2]); bin++) {
                weights[(int) (bin * bands) + band] = weight(bin, corners[band], corners[band + 1], corners[band + 2]);
            }
            if (corners[band + 1] < bins) {
                weights[(int) (corners[band + 1] * bands) + band] = 1;
            }
        }
        node.finish(e.reals(weights, Shape.of(bins, (int) bands)));
    }

    private static double mel(double hertz) {
        return STEEPNESS * Math.log10(1 + hertz / CORNER);
    }

    private static float weight(long bin, long from, long middle, long to) {
        return bin <= middle && from < middle
                ? (float) ((double) (bin - from) / (middle - from))
                : (float) ((double) (to - bin) / (to - middle));
    }
}
