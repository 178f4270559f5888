// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.IntegerForms.Form;
import io.kiln.quantize.range.ValueRange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Values that share a scale, because an operator that only moves elements lies between them. The group's range is the
 * union of its values' ranges. An operator with several operands takes an operand into its group if that is an
 * arithmetic result that nothing else reads; others are rescaled before it.
 */
final class ScaleGroups {
    private final Map<Integer, Integer> parents = new HashMap<>();
    private final Map<Integer, ValueRange> ranges;
    private final Map<Integer, Form> fixed = new HashMap<>();

    private ScaleGroups(Map<Integer, ValueRange> ranges) {
        this.ranges = new HashMap<>(ranges);
    }

    /**
     * The groups of a network.
     *
     * @param ranges the range of each float value
     * @param forms the integer form of each node that has one, by its output
     */
    static ScaleGroups of(FloatGraph graph, Map<Integer, ValueRange> ranges, Map<Integer, Form> forms) {
        ScaleGroups groups = new ScaleGroups(ranges);
        Map<Integer, Integer> uses = graph.function().useCounts();
        for (Node node : graph.nodes()) {
            Optional<Form> form = Optional.ofNullable(forms.get(node.output()));
            if (form.isPresent() && form.get().kind() == Form.Kind.FIXED) {
                groups.fixed.put(node.output(), form.get());
            } else if (form.isPresent() && form.get().kind() == Form.Kind.SAME) {
                groups.share(node, forms, uses);
            }
        }
        return groups;
    }

    private void share(Node node, Map<Integer, Form> forms, Map<Integer, Integer> uses) {
        List<Arg> data = node.data();
        for (Arg arg : data) {
            if (arg instanceof Constant constant) {
                ranges.merge(root(node.output()), ValueRange.of(floats(constant)), ValueRange::union);
            } else if (arg instanceof Arg.Ref ref && (isOnly(data, ref) || isFree(ref, forms, uses))) {
                join(ref.id(), node.output());
            }
        }
    }

    private static boolean isOnly(List<Arg> data, Arg.Ref ref) {
        return data.stream().allMatch(ref::equals);
    }

    private static boolean isFree(Arg.Ref ref, Map<Integer, Form> forms, Map<Integer, Integer> uses) {
        return uses.get(ref.id()) == 1
                && forms.containsKey(ref.id())
                && forms.get(ref.id()).kind() == Form.Kind.FREE;
    }

    private void join(int first, int second) {
        int root = root(first);
        int other = root(second);
        if (root != other) {
            parents.put(other, root);
            ranges.put(
                    root,
                    ranges.getOrDefault(root, ValueRange.EMPTY).union(ranges.getOrDefault(other, ValueRange.EMPTY)));
            Optional.ofNullable(fixed.get(other)).ifPresent(form -> fixed.put(root, form));
        }
    }

    /** The value that stands for a value's group. */
    int root(int id) {
        int root = id;
        while (parents.containsKey(root)) {
            root = parents.get(root);
        }
        return root;
    }

    /** Whether an operator prescribes the quantization of a value's group. */
    boolean isFixed(int id, Precision precision) {
        return prescribed(id, precision).isPresent();
    }

    private Optional<Quantization> prescribed(int id, Precision precision) {
        return Optional.ofNullable(fixed.get(root(id))).flatMap(Form::fixed).filter(q -> isOf(precision, q));
    }

    /** The quantization of a float value in an integer precision, from its group's range. */
    Quantization quantization(int id, Precision precision) {
        return prescribed(id, precision)
                .orElseGet(() -> quantization(precision, ranges.getOrDefault(root(id), ValueRange.EMPTY)));
    }

    /** A prescribed quantization belongs to the precision of the operator that prescribes it. */
    private static boolean isOf(Precision precision, Quantization quantization) {
        return (precision == Precision.INT16) == (quantization.scale() == 1f / 32768);
    }

    static float[] floats(Constant constant) {
        float[] values = new float[constant.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = constant.real(i);
        }
        return values;
    }

    private static final int INT8_STEPS = 255;

    /**
     * The quantization of a range in single precision. For int8 {@code scale = (max - min) / 255} and the zero point
     * {@code -128 - min / scale}, halves away from zero; for int16 {@code scale = max|x| / 32767} and zero point 0. A
     * range of 0 alone gets the smallest scale that an int8 model can state without trouble.
     */
    static Quantization quantization(Precision precision, ValueRange observed) {
        ValueRange range = observed.withZero();
        if (range.min() == range.max()) {
            return new Quantization(1f / INT8_STEPS, precision == Precision.INT8 ? Byte.MIN_VALUE : 0);
        }
        if (precision == Precision.INT16) {
            return new Quantization(positive(range.magnitude() / Short.MAX_VALUE), 0);
        }
        float scale = positive((range.max() - range.min()) / INT8_STEPS);
        float zero = Byte.MIN_VALUE - range.min() / scale;
        long rounded = Math.round(Math.abs((double) zero)) * (zero < 0 ? -1 : 1);
        return new Quantization(scale, (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded)));
    }

    private static float positive(float scale) {
        return Math.max(scale, Float.MIN_NORMAL);
    }
}
