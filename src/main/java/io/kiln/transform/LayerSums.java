// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.ChannelRanges.Range;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/** The sums that a quantized convolution or dense layer computes; a dense layer has one tap. */
final class LayerSums {
    private final int[] weights;
    private final boolean depthwise;
    private final int groups;
    private final int outputs;
    private final int depth;
    private final int taps;
    private final int zeroPoint;
    private final List<int[]> insides;

    /**
     * Analyses a layer.
     *
     * @param binding a {@code qnn.conv2d} or {@code qnn.dense} whose weight is constant
     * @param data type of its input
     */
    LayerSums(Binding binding, TensorType data) {
        Constant weight = binding.constant(1);
        int kernelZeroPoint = (int) binding.constant(3).integer(0);
        byte[] stored = weight.data().toArray();
        this.weights = new int[weight.elements()];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = stored[i] - kernelZeroPoint;
        }
        Shape shape = binding.type().shape();
        this.outputs = shape.dim(-1);
        this.zeroPoint = (int) binding.constant(2).integer(0);
        if (binding.op() instanceof QnnConv2d conv) {
            int inputs = data.shape().dim(3);
            this.groups = conv.groups();
            this.depthwise = conv.isDepthwise(inputs);
            this.depth = inputs / groups;
            this.taps = conv.window().kernelH() * conv.window().kernelW();
            this.insides = tapsInside(conv.window(), data.shape(), shape);
        } else {
            this.groups = 1;
            this.depthwise = false;
            this.depth = data.shape().dim(1);
            this.taps = 1;
            this.insides = List.of(new int[] {0});
        }
    }

    int outputs() {
        return outputs;
    }

    /** Zero point of the data. */
    int zeroPoint() {
        return zeroPoint;
    }

    /** Number of distinct sets of taps inside the data, depending on the position of the output. */
    int borders() {
        return insides.size();
    }

    /** Weight less its zero point; {@code c} counts within the channels that the output channel reads. */
    int weight(int output, int tap, int c) {
        return weights[depthwise ? tap * outputs + output : (output * taps + tap) * depth + c];
    }

    /** Sum of an output channel's weights for one input channel, over the taps inside the data at one border. */
    long weightSum(int output, int c, int border) {
        long sum = 0;
        for (int tap : insides.get(border)) {
            sum += weight(output, tap, c);
        }
        return sum;
    }

    /** Whether all output channels' weights for an input channel are zero. */
    boolean ignores(int c) {
        for (int o = 0; o < outputs; o++) {
            for (int tap = 0; tap < taps; tap++) {
                if (weight(o, tap, c) != 0) {
                    return false;
                }
            }
        }
        return true;
    }

    /** The ranges of the output channels' accumulators at any position, given those of the input channels. */
    IntFunction<Range> accumulators(List<Range> data) {
        long[] least = data.stream().mapToLong(range -> range.low() - zeroPoint).toArray();
        long[] most = data.stream().mapToLong(range -> range.high() - zeroPoint).toArray();
        return output -> accumulator(output, least, most);
    }

    private Range accumulator(int output, long[] least, long[] most) {
        int first = output / (outputs / groups) * depth;
        long[] low = new long[taps];
        long[] high = new long[taps];
        for (int tap = 0; tap < taps; tap++) {
            // A depthwise layer's output channels read one input channel each.
            int at = depthwise ? tap * outputs + output : (output * taps + tap) * depth;
            long lowest = 0;
            long highest = 0;
            for (int c = 0; c < depth; c++) {
                long weight = weights[at + c];
                lowest += weight * (weight < 0 ? most : least)[first + c];
                highest += weight * (weight < 0 ? least : most)[first + c];
            }
            low[tap] = lowest;
            high[tap] = highest;
        }
        return insides.stream()
                .map(inside -> new Range(sum(low, inside), sum(high, inside)))
                .reduce(Range::hull)
                .orElseThrow();
    }

    private static long sum(long[] byTap, int[] inside) {
        long sum = 0;
        for (int tap : inside) {
            sum += byTap[tap];
        }
        return sum;
    }

    /**
     * The distinct sets of taps inside the data over all output positions: one in the middle, others along the borders
     * if there is padding. Taps count row by row.
     *
     * @param data NHWC shape of the input
     * @param output NHWC shape of the output
     */
    static List<int[]> tapsInside(Window window, Shape data, Shape output) {
        Set<List<Integer>> rows = tapsOfAxis(
                output.dim(1), window.strideH(), window.padTop(), window.dilationH(), window.kernelH(), data.dim(1));
        Set<List<Integer>> columns = tapsOfAxis(
                output.dim(2), window.strideW(), window.padLeft(), window.dilationW(), window.kernelW(), data.dim(2));
        List<int[]> sets = new ArrayList<>();
        for (List<Integer> row : rows) {
            for (List<Integer> column : columns) {
                sets.add(row.stream()
                        .flatMapToInt(y -> column.stream().mapToInt(x -> y * window.kernelW() + x))
                        .toArray());
            }
        }
        return sets;
    }

    private static Set<List<Integer>> tapsOfAxis(
            int outputs, int stride, int padding, int dilation, int taps, int inputs) {
        Set<List<Integer>> distinct = new LinkedHashSet<>();
        for (int o = 0; o < outputs; o++) {
            List<Integer> inside = new ArrayList<>();
            for (int k = 0; k < taps; k++) {
                int position = o * stride - padding + k * dilation;
                if (position >= 0 && position < inputs) {
                    inside.add(k);
                }
            }
            distinct.add(inside);
        }
        return distinct;
    }
}
