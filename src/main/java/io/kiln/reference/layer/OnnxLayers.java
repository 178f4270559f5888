// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.arith.OnnxMean;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;

/** Layers whose bytes are those of ONNX Runtime, computed in floats as there. */
final class OnnxLayers {
    private OnnxLayers() {}

    static Tensor softmax(OnnxSoftmax op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] result = new int[data.length];
        int depth = type.shape().dim(-1);
        float from = args.get(1).scalarFloat();
        float to = args.get(3).scalarFloat();
        int zero = args.get(4).scalarInt();
        float[] table = op.form() == OnnxForm.QDQ ? new float[0] : OnnxSoftmaxArithmetic.table(from, depth);
        for (int row = 0; row < data.length; row += depth) {
            int[] bytes = Arrays.copyOfRange(data, row, row + depth);
            int[] probabilities = op.form() == OnnxForm.QDQ
                    ? quantized(bytes, from, args.get(2).scalarInt(), to, op.isLog())
                    : lookedUp(bytes, table, OnnxSoftmaxArithmetic.factor(to));
            for (int i = 0; i < depth; i++) {
                long sum = (long) probabilities[i] + zero;
                result[row + i] = op.form() == OnnxForm.INT8
                        ? (byte) sum
                        : (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, sum));
            }
        }
        return Tensor.of(type, result);
    }

    private static int[] quantized(int[] bytes, float scale, int zeroPoint, float to, boolean isLog) {
        int largest = Arrays.stream(bytes).max().orElseThrow();
        float most = (largest - zeroPoint) * scale;
        float[] exponentials = new float[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            exponentials[i] = OnnxSoftmaxArithmetic.exponential((bytes[i] - zeroPoint) * scale - most);
        }
        int[] result = new int[bytes.length];
        if (isLog) {
            float logarithm = SingleLogarithm.of(OnnxSoftmaxArithmetic.sum(exponentials));
            Arrays.setAll(result, i -> (int) Math.rint(((bytes[i] - zeroPoint) * scale - most - logarithm) / to));
            return result;
        }
        float reciprocal = 1 / OnnxSoftmaxArithmetic.sum(exponentials);
        Arrays.setAll(result, i -> (int) Math.rint(exponentials[i] * reciprocal / to));
        return result;
    }

    private static int[] lookedUp(int[] bytes, float[] table, float factor) {
        int largest = Arrays.stream(bytes).max().orElseThrow();
        float[] exponentials = new float[bytes.length];
        float sum = 0;
        for (int i = 0; i < bytes.length; i++) {
            exponentials[i] = table[table.length - 1 + bytes[i] - largest];
            sum += exponentials[i];
        }
        int[] result = new int[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            result[i] = (int) Math.rint(exponentials[i] * factor / sum);
        }
        return result;
    }

    static Tensor resize(OnnxResize2d op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        Shape in = args.get(0).type().shape();
        int[] rows = args.get(OnnxResize2d.ROWS).ints();
        float[] rowWeights = args.get(OnnxResize2d.ROWS + 1).floats();
        int[] columns = args.get(OnnxResize2d.COLUMNS).ints();
        float[] columnWeights = args.get(OnnxResize2d.COLUMNS + 1).floats();
        int zero = args.get(OnnxResize2d.FROM + 1).scalarInt();
        OnnxBilinear by = new OnnxBilinear(
                args.get(OnnxResize2d.FROM).scalarFloat(),
                args.get(OnnxResize2d.TO).scalarFloat(),
                args.get(OnnxResize2d.TO + 1).scalarInt());
        int height = type.shape().dim(1);
        int width = type.shape().dim(2);
        int channels = in.dim(3);
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            int x = i / channels % width;
            int y = i / channels / width % height;
            int image = i / channels / width / height * in.dim(1);
            int upper = (image + rows[y]) * in.dim(2);
            int lower = (image + rows[height + y]) * in.dim(2);
            int[] bytes = {
                upper + columns[x], upper + columns[width + x], lower + columns[x], lower + columns[width + x]
            };
            int channel = i % channels;
            Arrays.setAll(bytes, k -> data[bytes[k] * channels + channel] - zero);
            OnnxBilinear.Point at = new OnnxBilinear.Point(
                    columnWeights[width + x], columnWeights[x], rowWeights[height + y], rowWeights[y]);
            result[i] = by.interpolate(at, bytes);
        }
        return Tensor.of(type, result);
    }

    static Tensor average(OnnxAveragePool op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        float from = args.get(1).scalarFloat();
        int zero = args.get(2).scalarInt();
        OnnxMean mean =
                new OnnxMean(from, args.get(3).scalarFloat(), args.get(4).scalarInt(), op.form());
        int columns = args.get(0).type().shape().dim(2);
        int channels = args.get(0).type().shape().dim(3);
        int[] result = new int[(int) type.shape().elements()];
        LayerKernels.reduce(op.window(), args.get(0), type, (places, count, at) -> {
            float[] reals = new float[count];
            int[] columnOf = new int[count];
            for (int i = 0; i < count; i++) {
                reals[i] = (data[places[i]] - zero) * from;
                columnOf[i] = places[i] / channels % columns;
            }
            result[at] = mean.quantize(sum(op.order(), reals, columnOf, places[0]), count);
        });
        return Tensor.of(type, result);
    }

    /** The sum of elements, given row by row, and the place of the first one. */
    private static float sum(OnnxAveragePool.Order order, float[] reals, int[] columnOf, int place) {
        float sum = 0;
        switch (order) {
            case ROWS -> {
                for (float real : reals) {
                    sum += real;
                }
            }
            case COLUMNS -> {
                for (int column : Arrays.stream(columnOf).sorted().distinct().toArray()) {
                    float part = 0;
                    for (int i = 0; i < reals.length; i++) {
                        part += columnOf[i] == column ? reals[i] : 0;
                    }
                    sum += part;
                }
            }
            case LANES -> sum = inLanes(reals);
            case GROUPS -> sum = inGroups(reals);
            case ALIGNED -> sum = aligned(reals, -place & (OnnxAveragePool.LANES - 1));
        }
        return sum;
    }

    private static float inLanes(float[] reals) {
        int whole = reals.length / OnnxAveragePool.LANES * OnnxAveragePool.LANES;
        float[] lanes = new float[OnnxAveragePool.LANES];
        for (int i = 0; i < whole; i++) {
            lanes[i % OnnxAveragePool.LANES] += reals[i];
        }
        float sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
        for (int i = whole; i < reals.length; i++) {
            sum += reals[i];
        }
        return sum;
    }

    private static float inGroups(float[] reals) {
        float sum = 0;
        int done = 0;
        for (int size = OnnxAveragePool.LANES; size > 0; size /= 2) {
            for (; reals.length - done >= size; done += size) {
                float part = reals[done];
                for (int i = 1; i < size; i++) {
                    part += reals[done + i];
                }
                sum += part;
            }
        }
        return sum;
    }

    /** Sums from the first aligned element on in two vectors. */
    private static float aligned(float[] reals, int firstAligned) {
        int lanes = OnnxAveragePool.LANES;
        int begin = Math.min(firstAligned, reals.length);
        int end = begin + (reals.length - begin) / lanes * lanes;
        int pairs = begin + (reals.length - begin) / (2 * lanes) * (2 * lanes);
        float[] vectors = new float[2 * lanes];
        for (int i = begin; i < pairs; i++) {
            vectors[(i - begin) % (2 * lanes)] += reals[i];
        }
        for (int i = 0; i < lanes; i++) {
            vectors[i] += vectors[i + lanes];
            vectors[i] += pairs < end ? reals[pairs + i] : 0;
        }
        float sum = (vectors[0] + vectors[2]) + (vectors[1] + vectors[3]);
        for (int i = 0; i < reals.length; i++) {
            sum += i < begin || i >= end ? reals[i] : 0;
        }
        return sum;
    }

    /** The votes of decision trees, see {@link TreeEnsemble}. */
    static final class TreeKernel {
        private final TreeEnsemble op;
        private final float[] data;
        private final int features;
        private final int[] nodes;
        private final int[] firstVotes;
        private final int[] targets;
        private final Tensor weights;

        private TreeKernel(TreeEnsemble op, List<Tensor> args) {
            this.op = op;
            this.data = args.get(0).floats();
            this.features = args.get(0).shape().dim(1);
            this.nodes = args.get(1).ints();
            this.firstVotes = args.get(3).ints();
            this.targets = args.get(4).ints();
            this.weights = args.get(5);
        }

        static Tensor run(TreeEnsemble op, List<Tensor> args, TensorType type) {
            TreeKernel kernel = new TreeKernel(op, args);
            double[] sums = new double[Math.toIntExact(type.shape().elements())];
            boolean[] haveVotes = new boolean[sums.length];
            for (int row = 0; row < type.shape().dim(0); row++) {
                for (int root : args.get(2).ints()) {
                    kernel.vote(kernel.leaf(root, row), row * op.targets(), sums, haveVotes);
                }
            }
            return kernel.isQuantized()
                    ? Tensor.ofInts(type, i -> (int) sums[i])
                    : Tensor.ofReals(type, i -> (float) sums[i]);
        }

        private boolean isQuantized() {
            return !weights.isFloat();
        }

        private int leaf(int root, int row) {
            int at = root;
            while (at >= 0) {
                int node = TreeEnsemble.FIELDS * at;
                boolean isThen = key(nodes[node], row) <= nodes[node + 1];
                at = nodes[isThen ? node + 2 : node + 3];
            }
            return -1 - at;
        }

        private int key(int feature, int row) {
            float value = data[row * features + feature % features];
            return Float.isNaN(value) && feature >= features ? Integer.MIN_VALUE : FloatKeys.key(value);
        }

        private void vote(int leaf, int first, double[] sums, boolean[] haveVotes) {
            for (int vote = firstVotes[leaf]; vote < firstVotes[leaf + 1]; vote++) {
                int at = first + targets[vote];
                double weight = isQuantized() ? weights.ints()[vote] : weights.floats()[vote];
                boolean replaces = switch (op.aggregate()) {
                    case SUM -> false;
                    case MIN -> !haveVotes[at] || weight < sums[at];
                    case MAX -> !haveVotes[at] || weight > sums[at];
                };
                haveVotes[at] = true;
                if (op.aggregate() == TreeEnsemble.Aggregate.SUM) {
                    // Twice as many digits: the sum of two floats, rounded twice, is their sum in single precision.
                    double sum = sums[at] + weight;
                    sums[at] = isQuantized() ? sum : (float) sum;
                } else if (replaces) {
                    sums[at] = weight;
                }
            }
        }
    }
}
