// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.Digests;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A fused group prepared for lowering: the operator at its root and its epilogue.
 *
 * @param name C function name
 * @param root the first operator
 * @param rootTypes types of the root's arguments
 * @param tail what is done with the accumulator
 * @param output id of the result
 * @param type type of the result
 * @param op Relay names joined by {@code +}
 */
public record FusedOperator(
        String name, Binding root, List<TensorType> rootTypes, Tail tail, int output, TensorType type, String op) {
    /**
     * The epilogue of an accumulator: what is done with it, in this order.
     *
     * @param bias added to it, per channel
     * @param requantization its rescaling
     * @param clip limits of the result
     */
    public record Tail(Optional<Constant> bias, Optional<Requantization> requantization, Optional<Clip> clip) {}

    public FusedOperator {
        rootTypes = List.copyOf(rootTypes);
    }

    /** Analyses a group of a function. */
    private static FusedOperator of(
            String name, Group group, Map<Integer, Binding> bindings, Map<Integer, TensorType> types) {
        List<Binding> chain = group.bindings().stream().map(bindings::get).toList();
        if (group.composite().isPresent()) {
            return external(name, group, chain, types);
        }
        Binding root = chain.get(0);
        Optional<Constant> bias = Optional.empty();
        Optional<Requantization> requantization = Optional.empty();
        Optional<Clip> clip = Optional.empty();
        List<Binding> following = isEpilogue(root.op()) ? chain : chain.subList(1, chain.size());
        for (Binding binding : following) {
            if (binding.op() instanceof BiasAdd) {
                bias = Optional.of(binding.constant(1));
            } else if (binding.op().has(Trait.RESCALES)) {
                requantization = Optional.of(Requantization.of(binding));
            } else if (binding.op() instanceof Clip limits) {
                clip = Optional.of(limits);
            } else {
                throw new IllegalArgumentException(binding.op().name() + " cannot follow in a group");
            }
        }
        List<TensorType> rootTypes = new ArrayList<>();
        for (Arg arg : root.args()) {
            rootTypes.add(arg.type(types));
        }
        Binding last = chain.get(chain.size() - 1);
        Tail tail = new Tail(bias, requantization, clip);
        return new FusedOperator(name, root, rootTypes, tail, last.id(), last.type(), joined(chain));
    }

    /** A composite of another code generator: the call of a function that reads what comes from outside. */
    private static FusedOperator external(
            String name, Group group, List<Binding> chain, Map<Integer, TensorType> types) {
        List<Integer> inputs = chain.stream()
                .flatMap(binding -> binding.reads().stream())
                .filter(id -> !group.bindings().contains(id))
                .distinct()
                .toList();
        Binding last = chain.get(chain.size() - 1);
        String composite = group.composite().orElseThrow().name();
        CustomCall call = new CustomCall(composite, composite, "", inputs.size(), 1, last.type(), false, -1);
        Binding root = new Binding(
                last.id(),
                call,
                inputs.stream().<Arg>map(Arg.Ref::new).toList(),
                last.type(),
                chain.get(0).origin());
        return new FusedOperator(
                name,
                root,
                inputs.stream().map(types::get).toList(),
                new Tail(Optional.empty(), Optional.empty(), Optional.empty()),
                last.id(),
                last.type(),
                joined(chain));
    }

    private static String joined(List<Binding> chain) {
        return chain.stream().map(b -> b.op().name()).collect(Collectors.joining("+"));
    }

    /** The bias that is added to the accumulator, per channel. */
    public Optional<Constant> bias() {
        return tail.bias;
    }

    /** The requantization of the accumulator. */
    public Optional<Requantization> requantization() {
        return tail.requantization;
    }

    /** Limits of the result. */
    public Optional<Clip> clip() {
        return tail.clip;
    }

    /** A single requantization or clip is an epilogue without a preceding operator. */
    private static boolean isEpilogue(Op root) {
        return root.has(Trait.RESCALES) || root instanceof Clip;
    }

    /** Ids of the root's arguments that are not constants, each once, in order. */
    public List<Integer> inputs() {
        return root.reads().stream().distinct().toList();
    }

    /** Type in which the root computes, before the epilogue. */
    public DType sumType() {
        return isEpilogue(root.op()) ? rootTypes.get(0).dtype() : root.type().dtype();
    }

    /** Remaining factors of float accumulators over int8 weights: one element, or one per output channel. */
    public Optional<Constant> sumScale() {
        boolean isQuantized = root.op() instanceof Layer layer && layer.isQuantized();
        return isQuantized && root.type().dtype().isFloat()
                ? Optional.of(root.constant(Layer.KERNEL_SCALE))
                : Optional.empty();
    }

    /** The fused operators of all groups of a function in order, with unique C names under a prefix. */
    public static List<FusedOperator> all(Function function, String prefix) {
        Map<Integer, Binding> bindings = function.bindingsById();
        Map<Integer, TensorType> types = function.types();
        OperatorNames names = new OperatorNames(prefix);
        return function.groups().stream()
                .map(group -> of(names.next(group.name()), group, bindings, types))
                .toList();
    }

    /**
     * C names of operator functions as in microTVM: {@code tvmgen_<module>_fused_<op>_<op>}, then {@code _1}, {@code _2}.
     * The readable part is cut at 80 characters and a digest appended.
     */
    private static final class OperatorNames {
        private static final int LONGEST = 80;

        private final String prefix;
        private final Map<String, Integer> used = new HashMap<>();

        OperatorNames(String prefix) {
            this.prefix = prefix;
        }

        String next(String groupName) {
            String readable = groupName.length() <= LONGEST
                    ? groupName
                    : groupName.substring(0, LONGEST) + "_"
                            + Digests.sha256(groupName).substring(0, 16);
            int count = used.merge(readable, 1, Integer::sum);
            return prefix + "_" + readable + (count == 1 ? "" : "_" + (count - 1));
        }
    }
}
