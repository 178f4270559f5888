// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.stream.DoubleStream;

/** The votes of decision trees, see {@link TreeEnsemble}. */
final class TreeKernel {
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
                ? Tensor.of(
                        type, DoubleStream.of(sums).mapToInt(sum -> (int) sum).toArray())
                : Tensor.of(type, floats(sums));
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
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
