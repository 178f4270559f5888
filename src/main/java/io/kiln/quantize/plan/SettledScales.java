// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.element.Unary;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.range.ValueRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Scales with which TensorFlow Lite and TensorFlow Lite Micro compute the same. Some kernels of one divide scales in single precision where
 * those of the other do so in double precision, see {@link KernelAgreement}. About one scale in 128 gives the same multiplier in both, so a
 * scale grows by units of its last place until that is so; likewise for the few scales with which functions differ, see {@link
 * TableAgreement}.
 */
final class SettledScales {
    /** Twice the width in units of the last place of what TensorFlow Lite takes for a power of two. */
    private static final int MOST_STEPS = 1 << 15;

    private final ScaleGroups groups;
    private final Map<Integer, Precision> precisions;
    private final Map<Scaled, Quantization> bases = new HashMap<>();
    private final Map<Scaled, Integer> steps = new HashMap<>();

    /** The nodes so far that a scale matters to. */
    private final Map<Scaled, List<Node>> settled = new HashMap<>();

    /** What has a scale of its own: a group of values, or the constant operand of a node. */
    private record Scaled(int id, int operand, Precision precision) {
        private static final int GROUP = -1;
    }

    private SettledScales(ScaleGroups groups, Map<Integer, Precision> precisions) {
        this.groups = groups;
        this.precisions = precisions;
    }

    /**
     * The scales of a network.
     *
     * @param precisions the precision of each node, by its output
     */
    static SettledScales of(FloatGraph graph, ScaleGroups groups, Map<Integer, Precision> precisions) {
        SettledScales scales = new SettledScales(groups, precisions);
        for (Node node : graph.nodes()) {
            Precision precision = precisions.get(node.output());
            if (precision != Precision.FLOAT && KernelAgreement.isNeeded(node, precision)) {
                scales.settle(node);
            }
        }
        return scales;
    }

    private void settle(Node node) {
        List<Scaled> all = new ArrayList<>();
        for (int i = 0; i < node.data().size(); i++) {
            all.add(scaled(node, i));
        }
        for (Scaled operand : List.copyOf(all)) {
            raise(operand, () -> KernelAgreement.ofOperands(node, precision(node), scales(node)));
        }
        all.add(0, group(node.output(), precision(node)));
        for (Scaled scaled : all) {
            raise(scaled, () -> agrees(node));
        }
        all.forEach(scaled ->
                settled.computeIfAbsent(scaled, s -> new ArrayList<>()).add(node));
    }

    private boolean agrees(Node node) {
        if (node.op() instanceof Unary unary) {
            return TableAgreement.of(unary.kind(), operand(node, 0), quantization(node.output(), precision(node)));
        }
        return KernelAgreement.ofOperands(node, precision(node), scales(node))
                && KernelAgreement.ofOutput(node, precision(node), scales(node));
    }

    /** Whether the integer arithmetic of a node is defined for its scales. */
    boolean areKept(Node node) {
        return ScaleLimits.areKept(node, precision(node), scales(node));
    }

    private Precision precision(Node node) {
        return precisions.get(node.output());
    }

    /** The scales of a node's operands, then that of its output. */
    private List<Float> scales(Node node) {
        List<Float> scales = new ArrayList<>();
        for (int i = 0; i < node.data().size(); i++) {
            scales.add(quantization(node, scaled(node, i)).scale());
        }
        scales.add(quantization(node.output(), precision(node)).scale());
        return scales;
    }

    /** A function reads data of a prescribed scale in a scale of its own, if it must. */
    private Scaled scaled(Node node, int operand) {
        return node.data().get(operand) instanceof Arg.Ref ref
                        && !(node.op() instanceof Unary && groups.isFixed(ref.id(), precision(node)))
                ? group(ref.id(), precision(node))
                : new Scaled(node.output(), operand, precision(node));
    }

    private Scaled group(int id, Precision precision) {
        return new Scaled(groups.root(id), Scaled.GROUP, precision);
    }

    /** Lets a scale grow until a condition holds, and earlier nodes still agree; it stays as it is if that does not help. */
    private void raise(Scaled scaled, BooleanSupplier condition) {
        boolean isFixed = scaled.operand == Scaled.GROUP && groups.isFixed(scaled.id, scaled.precision);
        if (isFixed || condition.getAsBoolean()) {
            return;
        }
        int before = steps.getOrDefault(scaled, 0);
        List<Node> earlier = settled.getOrDefault(scaled, List.of());
        for (int step = before + 1; step <= before + MOST_STEPS; step++) {
            steps.put(scaled, step);
            if (condition.getAsBoolean() && earlier.stream().allMatch(this::agrees)) {
                return;
            }
        }
        steps.put(scaled, before);
    }

    /** The quantization of a float value in an integer precision. */
    Quantization quantization(int id, Precision precision) {
        Scaled scaled = group(id, precision);
        return raised(scaled, bases.computeIfAbsent(scaled, s -> groups.quantization(id, precision)));
    }

    /** The quantization of a node's operand. */
    Quantization operand(Node node, int operand) {
        return quantization(node, scaled(node, operand));
    }

    private Quantization quantization(Node node, Scaled scaled) {
        if (scaled.operand == Scaled.GROUP) {
            return quantization(scaled.id, scaled.precision);
        }
        return raised(scaled, bases.computeIfAbsent(scaled, s -> own(node.data().get(s.operand), s.precision)));
    }

    private Quantization own(Arg operand, Precision precision) {
        return operand instanceof Constant constant
                ? ActivationScale.of(precision, ValueRange.of(ScaleGroups.floats(constant)))
                : groups.quantization(((Arg.Ref) operand).id(), precision);
    }

    private Quantization raised(Scaled scaled, Quantization base) {
        int raised = Float.floatToIntBits(base.scale()) + steps.getOrDefault(scaled, 0);
        return new Quantization(Float.intBitsToFloat(raised), base.zeroPoint());
    }
}
