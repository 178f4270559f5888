// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.graph;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An operator with the bias and the clamp that TensorFlow Lite fuses into it.
 *
 * @param op the operator
 * @param args its arguments
 * @param argTypes their types
 * @param bias the bias of a layer
 * @param clip the clamp of its result
 * @param result the value that it computes, after bias and clamp
 * @param origin where the operator came from
 */
public record Node(
        Op op,
        List<Arg> args,
        List<TensorType> argTypes,
        Optional<Constant> bias,
        Optional<Clip> clip,
        Result result,
        Origin origin) {
    /**
     * A value.
     *
     * @param id its number in the function
     */
    public record Result(int id, TensorType type) {
        static Result of(Binding binding) {
            return new Result(binding.id(), binding.type());
        }
    }

    public Node {
        args = List.copyOf(args);
        argTypes = List.copyOf(argTypes);
    }

    static Node of(Binding binding, Map<Integer, TensorType> types) {
        return new Node(
                binding.op(),
                binding.args(),
                binding.args().stream().map(arg -> arg.type(types)).toList(),
                Optional.empty(),
                Optional.empty(),
                Result.of(binding),
                binding.origin());
    }

    Node withBias(Binding binding) {
        return new Node(
                op, args, argTypes, Optional.of(binding.constant(1)), clip, Result.of(binding), binding.origin());
    }

    Node withClip(Binding binding) {
        return new Node(
                op, args, argTypes, bias, Optional.of((Clip) binding.op()), Result.of(binding), binding.origin());
    }

    /** Id of the value that it computes, after bias and clamp. */
    public int output() {
        return result.id;
    }

    /** Type of that value. */
    public TensorType type() {
        return result.type;
    }

    /** The layer, if it is one with weights known at build time. */
    public Optional<Layer> layer() {
        return op instanceof Layer layer && args.get(1) instanceof Constant ? Optional.of(layer) : Optional.empty();
    }

    /** The weights of a {@link #layer}. */
    public Constant weights() {
        return (Constant) args.get(1);
    }

    /** The arguments that carry data: all but a layer's weights, indices, and constants of other operators' own. */
    public List<Arg> data() {
        boolean isFirst = layer().isPresent() || op instanceof Take;
        return args.subList(0, isFirst ? 1 : op.operands());
    }

    /** Whether a lookup's indices, as far as they are constant, are those of elements; others would be clamped. */
    public boolean hasOnlyExistingIndices() {
        return !(op instanceof Take take)
                || !(args.get(1) instanceof Constant indices)
                || IntStream.range(0, indices.elements())
                        .mapToLong(indices::integer)
                        .allMatch(i -> i >= 0 && i < argTypes.get(0).shape().dim(take.axis()));
    }

    /** The multiply-accumulates of a layer; 0 for others. */
    public long macs() {
        return new Binding(output(), op, args, type(), origin).macs();
    }

    /** Its name in reports and options: that of the tensor that it computes. */
    public String name() {
        return origin.tensor();
    }
}
