// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A made-up forest: each tree is grown on samples of its own, as a random forest's are. It is written as a model, and as what generators of
 * C for trees write: a function for each tree, of nested conditions on floats.
 */
final class NestedTrees {
    static final int FEATURES = 12;
    private static final int SAMPLES = 600;
    private static final int MOST_DEPTH = 7;
    private static final int FEWEST_SAMPLES = 4;

    private final Random random;
    private final List<Node> nodes = new ArrayList<>();
    private final int trees;

    /** A split, or a leaf without a feature. */
    private record Node(int tree, int id, int feature, float value, int yes, int no) {}

    private NestedTrees(int trees) {
        this.random = new Random(trees);
        this.trees = trees;
        for (int tree = 0; tree < trees; tree++) {
            List<float[]> samples = new ArrayList<>();
            for (int i = 0; i < SAMPLES; i++) {
                samples.add(sample());
            }
            grow(tree, nodes.size(), samples, MOST_DEPTH);
        }
    }

    static NestedTrees of(int trees) {
        return new NestedTrees(trees);
    }

    /** Features, then the target. */
    private float[] sample() {
        float[] x = new float[FEATURES + 1];
        for (int i = 0; i < FEATURES; i++) {
            x[i] = (float) random.nextGaussian();
        }
        x[FEATURES] = x[0] * x[1] + (float) Math.sin(x[2]) + (x[3] > 0.3f ? x[4] : -x[5]);
        return x;
    }

    private int grow(int tree, int first, List<float[]> samples, int depth) {
        int place = nodes.size();
        int id = place - first;
        int feature = random.nextInt(FEATURES);
        float value = samples.get(random.nextInt(samples.size()))[feature];
        List<float[]> below = samples.stream().filter(s -> s[feature] <= value).toList();
        List<float[]> above =
                samples.stream().filter(s -> !(s[feature] <= value)).toList();
        if (depth == 0 || Math.min(below.size(), above.size()) < FEWEST_SAMPLES) {
            float mean = (float)
                    samples.stream().mapToDouble(s -> s[FEATURES]).average().orElseThrow();
            nodes.add(new Node(tree, id, -1, mean / trees, 0, 0));
            return place;
        }
        nodes.add(new Node(tree, id, feature, value, 0, 0));
        int yes = grow(tree, first, below, depth - 1);
        int no = grow(tree, first, above, depth - 1);
        nodes.set(place, new Node(tree, id, feature, value, yes, no));
        return place;
    }

    /** Number of splits. */
    long splits() {
        return nodes.stream().filter(n -> n.feature >= 0).count();
    }

    /** A row of features. */
    Bytes input(long seed) {
        Random own = new Random(seed);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * FEATURES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < FEATURES; i++) {
            data.putFloat((float) own.nextGaussian());
        }
        return Bytes.wrap(data.array());
    }

    /** The forest as a model. */
    Bytes model() {
        Map<String, Object> all = new LinkedHashMap<>();
        List<Node> leaves = nodes.stream().filter(n -> n.feature < 0).toList();
        all.put("nodes_treeids", nodes.stream().map(n -> (long) n.tree).toList());
        all.put("nodes_nodeids", nodes.stream().map(n -> (long) n.id).toList());
        all.put(
                "nodes_featureids",
                nodes.stream().map(n -> (long) Math.max(0, n.feature)).toList());
        all.put(
                "nodes_values",
                nodes.stream().map(n -> n.feature < 0 ? 0f : n.value).toList());
        all.put(
                "nodes_modes",
                nodes.stream().map(n -> n.feature < 0 ? "LEAF" : "BRANCH_LEQ").toList());
        all.put(
                "nodes_truenodeids",
                nodes.stream().map(n -> (long) nodes.get(n.yes).id).toList());
        all.put(
                "nodes_falsenodeids",
                nodes.stream().map(n -> (long) nodes.get(n.no).id).toList());
        all.put("target_treeids", leaves.stream().map(n -> (long) n.tree).toList());
        all.put("target_nodeids", leaves.stream().map(n -> (long) n.id).toList());
        all.put("target_ids", leaves.stream().map(n -> 0L).toList());
        all.put("target_weights", leaves.stream().map(Node::value).toList());
        all.put("n_targets", 1L);
        ModelBuilder builder = new ModelBuilder(17).learning(3);
        builder.input("x", ElementType.FLOAT, List.of(1, FEATURES));
        builder.node("ai.onnx.ml", "TreeEnsembleRegressor", List.of("x"), "y", all);
        builder.output("y", ElementType.FLOAT, List.of(1, 1));
        return builder.build();
    }

    /** The forest as C: what stands in place of an operator function of this signature. */
    String nested(String signature) {
        StringBuilder text = new StringBuilder();
        int[] roots =
                nodes.stream().filter(n -> n.id == 0).mapToInt(nodes::indexOf).toArray();
        for (int root : roots) {
            text.append("static inline float tree_")
                    .append(nodes.get(root).tree)
                    .append("(const float *x) {\n(void)x;\n");
            branch(text, root);
            text.append("}\n");
        }
        text.append("__attribute__((noinline)) ")
                .append(signature)
                .append(" {\n")
                .append(signature.contains("scratch") ? "  (void)scratch;\n" : "")
                .append("  float sum = 0.0f;\n");
        Arrays.stream(roots)
                .forEach(root -> text.append("  sum += tree_")
                        .append(nodes.get(root).tree)
                        .append("(input);\n"));
        return text.append("  output[0] = sum;\n  return 0;\n}\n").toString();
    }

    private void branch(StringBuilder text, int place) {
        Node node = nodes.get(place);
        if (node.feature < 0) {
            text.append("return ").append(node.value).append("f;\n");
            return;
        }
        text.append("if (x[")
                .append(node.feature)
                .append("] <= ")
                .append(node.value)
                .append("f) {\n");
        branch(text, node.yes);
        text.append("} else {\n");
        branch(text, node.no);
        text.append("}\n");
    }
}
