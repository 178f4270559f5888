// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Draws forests: comparisons, missing values, votes, sums and transformations, in the forms of all versions of the operators. */
public final class RandomForests {
    private static final float[] GRID = {
        0f, -0f, 1f, -1f, 0.5f, -0.5f, 1.5f, 2f, -2f, 0.1f, -0.1f, 3f, Float.MIN_VALUE, -Float.MIN_VALUE, 1e30f, -1e30f
    };
    private static final List<String> MODES =
            List.of("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "MEMBER");
    private static final List<String> TRANSFORMS = List.of("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT");
    private static final List<String> AGGREGATES = List.of("AVERAGE", "SUM", "MIN", "MAX");
    private static final int MEMBER = 6;

    private final Random random;
    private final int features;
    private final int rows;
    private final int[] modes;
    private final boolean haveMissing;

    /** Targets that leaves vote for; in each, all of them or one. */
    private int targets;

    private boolean isForAll;
    private boolean isForTree;
    private boolean isPositive;

    /** Whether data, thresholds and weights are double. */
    private boolean isDouble;

    /** Whether a tree may be a leaf alone; of these, ONNX Runtime computes wrong sums, or crashes, for the newest operator. */
    private boolean mayBeLeaves = true;

    private final List<Node> nodes = new ArrayList<>();
    private final List<float[]> votes = new ArrayList<>();
    private final List<Float> members = new ArrayList<>();
    private final List<Integer> roots = new ArrayList<>();

    /** A split or, with a negative feature, a leaf; children are nodes. */
    private record Node(int tree, int id, int feature, int mode, float value, boolean isMissingTrue, int yes, int no) {}

    /**
     * A model.
     *
     * @param ulps by how many units of 1 its scores may differ: those of transformations, whose functions are rounded otherwise
     */
    public record Model(Bytes file, int ulps) {}

    private RandomForests(long seed) {
        this.random = new Random(seed);
        this.features = 1 + random.nextInt(12);
        this.rows = random.nextInt(4) == 0 ? 3 : 1;
        this.modes = switch (random.nextInt(5)) {
            case 0 -> new int[] {0};
            case 1 -> new int[] {1, 1, 1, 4};
            case 2 -> new int[] {2, 3};
            case 3 -> new int[] {4, 5};
            default -> new int[] {0, 1, 2, 3, 4, 5};
        };
        this.haveMissing = random.nextBoolean();
    }

    /** A model with input {@code x}. */
    public static Model draw(long seed) {
        RandomForests forest = new RandomForests(seed);
        return switch ((int) (seed % 4)) {
            case 0 -> forest.regressor();
            case 1 -> forest.classifier();
            case 2 -> forest.binary();
            default -> forest.ensemble();
        };
    }

    /** Elements that hit thresholds, and numbers that are missing, of either sign, or infinite. */
    public static Bytes input(int count, long seed) {
        Random random = new Random(seed);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(12)) {
                case 0 -> data.putInt(random.nextBoolean() ? 0x7fc00000 : 0xffc00001);
                case 1 -> data.putFloat(random.nextBoolean() ? Float.POSITIVE_INFINITY : Float.NEGATIVE_INFINITY);
                case 2, 3, 4 -> data.putFloat((float) random.nextGaussian());
                default -> data.putFloat(GRID[random.nextInt(GRID.length)]);
            }
        }
        return Bytes.wrap(data.array());
    }

    /** Elements of a tensor. */
    public static Bytes floats(float... values) {
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return Bytes.wrap(data.array());
    }

    private void grow(boolean hasMembers) {
        int trees = random.nextInt(16) == 0 ? 60 : 1 + random.nextInt(8);
        int depth = trees > 12 ? 2 : 1 + random.nextInt(6);
        int[] known = hasMembers ? IntStream.rangeClosed(0, MEMBER).toArray() : modes;
        isForTree = random.nextBoolean();
        for (int tree = 0; tree < trees; tree++) {
            int first = nodes.size();
            roots.add(first);
            grow(tree, first, depth, known, tree % targets);
        }
    }

    /** Adds a node and those below it, the node first; returns its place. */
    private int grow(int tree, int first, int depth, int[] known, int target) {
        int place = nodes.size();
        boolean isLeaf = depth == 0 || ((place > first || mayBeLeaves) && random.nextInt(4) == 0);
        nodes.add(new Node(tree, place - first, -1, 0, 0, false, 0, 0));
        votes.add(isLeaf ? vote(target) : new float[0]);
        if (!isLeaf) {
            int mode = known[random.nextInt(known.length)];
            if (mode == MEMBER) {
                IntStream.rangeClosed(0, random.nextInt(4)).forEach(i -> members.add((float) (1 + random.nextInt(5))));
                members.add(Float.NaN);
            }
            float value = random.nextInt(3) == 0 ? (float) random.nextGaussian() : GRID[random.nextInt(GRID.length)];
            boolean isMissingTrue = haveMissing && random.nextBoolean();
            int feature = random.nextInt(features);
            int yes = grow(tree, first, depth - 1, known, target);
            int no = grow(tree, first, depth - 1, known, target);
            nodes.set(place, new Node(tree, place - first, feature, mode, value, isMissingTrue, yes, no));
        }
        return place;
    }

    /** Weights for the targets, NaN for none. */
    private float[] vote(int treesTarget) {
        float[] weights = new float[targets];
        int one = isForTree ? treesTarget : random.nextInt(targets);
        for (int i = 0; i < targets; i++) {
            float weight = random.nextInt(4) == 0 ? random.nextInt(9) / 8f : (float) random.nextGaussian();
            weights[i] = isForAll || i == one ? (isPositive ? Math.abs(weight) : weight) : Float.NaN;
        }
        return weights;
    }

    private List<Long> longs(List<Node> of, java.util.function.ToLongFunction<Node> get) {
        return of.stream().map(get::applyAsLong).toList();
    }

    private Map<String, Object> lists(String prefix, int onlyId) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("nodes_treeids", longs(nodes, Node::tree));
        all.put("nodes_nodeids", longs(nodes, Node::id));
        all.put("nodes_featureids", longs(nodes, n -> Math.max(0, n.feature)));
        all.put("nodes_values", nodes.stream().map(Node::value).toList());
        all.put(
                "nodes_modes",
                nodes.stream()
                        .map(n -> n.feature < 0 ? "LEAF" : MODES.get(n.mode))
                        .toList());
        all.put("nodes_truenodeids", longs(nodes, n -> n.feature < 0 ? 0 : nodes.get(n.yes).id));
        all.put("nodes_falsenodeids", longs(nodes, n -> n.feature < 0 ? 0 : nodes.get(n.no).id));
        if (haveMissing) {
            all.put("nodes_missing_value_tracks_true", longs(nodes, n -> n.isMissingTrue ? 1 : 0));
        }
        List<Long> trees = new ArrayList<>();
        List<Long> ids = new ArrayList<>();
        List<Long> of = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (int target = 0; target < votes.get(i).length; target++) {
                if (!Float.isNaN(votes.get(i)[target])) {
                    trees.add((long) nodes.get(i).tree);
                    ids.add((long) nodes.get(i).id);
                    of.add((long) (target + onlyId));
                    weights.add(votes.get(i)[target]);
                }
            }
        }
        all.put(prefix + "_treeids", trees);
        all.put(prefix + "_nodeids", ids);
        all.put(prefix + "_ids", of);
        all.put(prefix + "_weights", weights);
        return all;
    }

    private List<Float> base(int count) {
        return random.doubles(count, -1, 1).mapToObj(x -> (float) x).toList();
    }

    /** A regression whose features are scaled first. */
    public static Model scaled(long seed) {
        RandomForests forest = new RandomForests(seed);
        forest.targets = 1;
        forest.isForAll = true;
        forest.grow(false);
        Map<String, Object> all = forest.lists("target", 0);
        all.put("base_values", forest.base(1));
        ModelBuilder builder = forest.begin(3);
        Map<String, Object> scale = Map.of("offset", forest.base(forest.features), "scale", List.of(0.7f));
        builder.node("ai.onnx.ml", "Scaler", List.of("x"), "scaled", scale);
        builder.node("ai.onnx.ml", "TreeEnsembleRegressor", List.of("scaled"), "y", all);
        builder.output("y", ElementType.FLOAT, List.of(forest.rows, 1));
        return new Model(builder.build(), 0);
    }

    /**
     * A model with thresholds and weights of double, of which some are floats, and others a little below or above; smallest and largest
     * votes are exact, sums differ by their rounding.
     */
    public static Model doubles(long seed) {
        RandomForests forest = new RandomForests(seed);
        forest.isDouble = true;
        return seed % 2 == 0 ? forest.regressor() : forest.ensemble();
    }

    private ModelBuilder begin(int version) {
        ModelBuilder builder = new ModelBuilder(17).learning(version);
        builder.input("x", isDouble ? ElementType.DOUBLE : ElementType.FLOAT, List.of(rows, features));
        return builder;
    }

    /** The lists as tensors of double. */
    private Map<String, Object> asDoubles(Map<String, Object> lists) {
        Map<String, Object> all = new LinkedHashMap<>(lists);
        for (String name : List.of("nodes_values", "target_weights", "base_values")) {
            if (isDouble && all.remove(name) instanceof List<?> list) {
                all.put(
                        name + "_as_tensor",
                        floats(list.stream().map(Float.class::cast).toList()));
            }
        }
        return all;
    }

    private Model regressor() {
        targets = 1 + random.nextInt(3);
        isForAll = targets == 1 || random.nextBoolean();
        grow(false);
        Map<String, Object> all = lists("target", 0);
        String transform = random.nextBoolean() ? "NONE" : TRANSFORMS.get(random.nextInt(TRANSFORMS.size()));
        all.put("n_targets", (long) targets);
        all.put("aggregate_function", AGGREGATES.get(random.nextInt(AGGREGATES.size())));
        all.put("post_transform", transform);
        if (random.nextBoolean()) {
            all.put("base_values", base(targets));
        }
        ModelBuilder builder = begin(random.nextBoolean() && !isDouble ? 1 : 3);
        builder.node("ai.onnx.ml", "TreeEnsembleRegressor", List.of("x"), "y", asDoubles(all));
        builder.output("y", ElementType.FLOAT, List.of(rows, targets));
        boolean isApplied = targets > 1 || transform.equals("PROBIT");
        return new Model(builder.build(), isApplied ? ulps(transform) : 0);
    }

    private Model classifier() {
        targets = 3 + random.nextInt(3);
        isForAll = random.nextInt(3) > 0;
        isPositive = random.nextBoolean();
        grow(false);
        Map<String, Object> all = lists("class", 0);
        if (random.nextBoolean()) {
            all.put("base_values", base(targets));
        }
        return classified(all, targets);
    }

    private Model binary() {
        targets = 1;
        isForAll = true;
        isPositive = random.nextBoolean();
        grow(false);
        int only = rows == 1 && random.nextInt(8) == 0 ? 1 : 0;
        Map<String, Object> all = lists("class", only);
        if (only == 0 && random.nextBoolean()) {
            all.put("base_values", base(1));
        }
        return classified(all, 2);
    }

    private Model classified(Map<String, Object> all, int classes) {
        String transform = TRANSFORMS.get(random.nextInt(TRANSFORMS.size() - (classes == 2 ? 1 : 0)));
        all.put("post_transform", transform);
        all.put(
                "classlabels_int64s",
                random.nextBoolean()
                        ? IntStream.range(0, classes).mapToObj(i -> (long) i).toList()
                        : IntStream.range(0, classes).mapToObj(i -> 7L * i - 9).toList());
        ModelBuilder builder = begin(random.nextBoolean() ? 1 : 3);
        builder.node("ai.onnx.ml", "TreeEnsembleClassifier", List.of("x"), List.of("label", "scores"), all);
        builder.output("label", ElementType.INT64, List.of(rows));
        builder.output("scores", ElementType.FLOAT, List.of(rows, classes));
        return new Model(builder.build(), ulps(transform));
    }

    private Model ensemble() {
        targets = 1 + random.nextInt(3);
        isForAll = targets == 1;
        mayBeLeaves = false;
        grow(random.nextBoolean());
        Map<Integer, Integer> splits = new HashMap<>();
        List<Node> inner = new ArrayList<>();
        List<Long> leafTargets = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).feature >= 0) {
                splits.put(i, inner.size());
                inner.add(nodes.get(i));
            } else {
                splits.put(i, leafTargets.size());
                for (int target = 0; target < targets; target++) {
                    if (!Float.isNaN(votes.get(i)[target])) {
                        leafTargets.add((long) target);
                        weights.add(votes.get(i)[target]);
                    }
                }
            }
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("nodes_featureids", longs(inner, Node::feature));
        all.put("nodes_modes", modes(inner));
        all.put("nodes_splits", floats(inner.stream().map(Node::value).toList()));
        all.put("nodes_truenodeids", longs(inner, n -> splits.get(n.yes)));
        all.put("nodes_falsenodeids", longs(inner, n -> splits.get(n.no)));
        all.put("nodes_trueleafs", longs(inner, n -> nodes.get(n.yes).feature < 0 ? 1 : 0));
        all.put("nodes_falseleafs", longs(inner, n -> nodes.get(n.no).feature < 0 ? 1 : 0));
        if (haveMissing) {
            all.put("nodes_missing_value_tracks_true", longs(inner, n -> n.isMissingTrue ? 1 : 0));
        }
        all.put(
                "tree_roots",
                roots.stream().map(root -> (long) splits.get(root)).toList());
        all.put("leaf_targetids", leafTargets);
        all.put("leaf_weights", floats(weights));
        if (!members.isEmpty()) {
            all.put("membership_values", floats(members));
        }
        int transform = random.nextBoolean() ? 0 : random.nextInt(TRANSFORMS.size());
        all.put("n_targets", (long) targets);
        all.put("aggregate_function", (long) random.nextInt(AGGREGATES.size()));
        all.put("post_transform", (long) transform);
        ModelBuilder builder = begin(5);
        builder.node("ai.onnx.ml", "TreeEnsemble", List.of("x"), "y", all);
        builder.output("y", isDouble ? ElementType.DOUBLE : ElementType.FLOAT, List.of(rows, targets));
        return new Model(builder.build(), targets > 1 || transform == 4 ? ulps(TRANSFORMS.get(transform)) : 0);
    }

    private static int ulps(String transform) {
        return switch (transform) {
            case "NONE" -> 0;
            case "PROBIT" -> 1000;
            default -> 2;
        };
    }

    private TensorProto floats(List<Float> values) {
        TensorProto.Builder tensor = TensorProto.newBuilder().addDims(values.size());
        if (!isDouble) {
            return tensor.setDataType(TensorProto.DataType.FLOAT_VALUE)
                    .addAllFloatData(values)
                    .build();
        }
        values.forEach(value -> tensor.addDoubleData(
                switch (random.nextInt(3)) {
                    case 0 -> value;
                    case 1 -> Math.nextUp((double) value);
                    default -> value - Math.abs(value) * 1e-9;
                }));
        return tensor.setDataType(TensorProto.DataType.DOUBLE_VALUE).build();
    }

    private static TensorProto modes(List<Node> of) {
        byte[] numbers = new byte[of.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (byte) of.get(i).mode;
        }
        return TensorProto.newBuilder()
                .setDataType(TensorProto.DataType.UINT8_VALUE)
                .addDims(numbers.length)
                .setRawData(ByteString.copyFrom(numbers))
                .build();
    }
}
