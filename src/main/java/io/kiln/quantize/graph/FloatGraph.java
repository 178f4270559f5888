// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.graph;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A float function as nodes.
 *
 * @param nodes its operators in execution order
 */
public record FloatGraph(Function function, List<Node> nodes) {
    public FloatGraph {
        nodes = List.copyOf(nodes);
    }

    /** The nodes of a function. */
    public static FloatGraph of(Function function) {
        Map<Integer, Integer> uses = function.useCounts();
        Map<Integer, TensorType> types = function.types();
        Map<Integer, Node> nodes = new LinkedHashMap<>();
        for (Binding binding : function.bindings()) {
            Optional<Node> before = fusible(binding, uses, nodes);
            before.ifPresent(node -> nodes.remove(node.output()));
            nodes.put(
                    binding.id(),
                    before.map(node -> binding.op() instanceof Clip ? node.withClip(binding) : node.withBias(binding))
                            .orElseGet(() -> Node.of(binding, types)));
        }
        return new FloatGraph(function, List.copyOf(nodes.values()));
    }

    /** The node into which a binding is fused. */
    private static Optional<Node> fusible(Binding binding, Map<Integer, Integer> uses, Map<Integer, Node> nodes) {
        if (binding.args().isEmpty()
                || !(binding.args().get(0) instanceof Arg.Ref ref)
                || uses.getOrDefault(ref.id(), 0) != 1) {
            return Optional.empty();
        }
        return Optional.ofNullable(nodes.get(ref.id()))
                .filter(node -> node.type().dtype().isFloat()
                        && node.clip().isEmpty()
                        && (isBias(binding, node) || isClamp(binding, node)));
    }

    private static boolean isBias(Binding binding, Node node) {
        return binding.op() instanceof BiasAdd
                && binding.args().get(1) instanceof Constant
                && node.layer().isPresent()
                && node.bias().isEmpty();
    }

    /** A range without 0 cannot be that of a quantized value. */
    private static boolean isClamp(Binding binding, Node node) {
        return binding.op() instanceof Clip clip
                && clip.min() <= 0
                && clip.max() >= 0
                && (node.op() instanceof Layer
                        || node.op() instanceof Pool2d
                        || isArithmetic(node)
                        || isRelu(clip, node));
    }

    /** The only clamp that TensorFlow Lite's integer filters have. */
    private static boolean isRelu(Clip clip, Node node) {
        return node.op() instanceof Svdf && clip.min() == 0 && clip.max() == Float.MAX_VALUE;
    }

    private static boolean isArithmetic(Node node) {
        return node.op() instanceof Binary binary
                && switch (binary.kind()) {
                    case ADD, SUBTRACT, MULTIPLY -> true;
                    default -> false;
                };
    }

    /** Ids of all values that are computed, and of the inputs, in order. */
    public List<Integer> values() {
        return Stream.concat(
                        function.params().stream().map(Parameter::id),
                        nodes.stream().map(Node::output))
                .toList();
    }

    /**
     * What prepares the data that trees compare, and what computes with their votes: both stay float, because few steps would move features
     * over thresholds and make scores equal, between which the label decides. Layers with weights end either.
     */
    public static final class AroundTrees {
        private AroundTrees() {}

        /** The outputs of these nodes. */
        public static Set<Integer> of(FloatGraph graph) {
            List<Node> nodes = graph.nodes();
            Set<Integer> compared = new HashSet<>();
            for (int i = nodes.size() - 1; i >= 0; i--) {
                Node node = nodes.get(i);
                if (isEnsemble(node) || isBetween(node, compared.contains(node.output()))) {
                    node.data().stream()
                            .filter(Arg.Ref.class::isInstance)
                            .forEach(arg -> compared.add(((Arg.Ref) arg).id()));
                }
            }
            Set<Integer> scores = new HashSet<>();
            Set<Integer> around = new HashSet<>();
            for (Node node : nodes) {
                boolean readsScores =
                        node.data().stream().anyMatch(arg -> arg instanceof Arg.Ref ref && scores.contains(ref.id()));
                if (isBetween(node, readsScores || compared.contains(node.output()))) {
                    around.add(node.output());
                }
                if (isEnsemble(node) || isBetween(node, readsScores)) {
                    scores.add(node.output());
                }
            }
            return around;
        }

        private static boolean isEnsemble(Node node) {
            return node.op() instanceof TreeEnsemble;
        }

        private static boolean isBetween(Node node, boolean isNear) {
            return isNear && !isEnsemble(node) && node.layer().isEmpty();
        }
    }
}
