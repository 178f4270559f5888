// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/** One call in the text, as a rule sees it. */
public interface CallSite {
    Attributes attributes();

    List<Value> args();

    /** Whether Kiln printed the call, as a comment after it says; then it stays one operator of a function. */
    boolean isOwn();

    /** Appends an operator, and returns its result. */
    Arg emit(Op op, List<? extends Arg> args);

    /** The elements of a constant in other places, under the constant's name; never an operator of the function. */
    Constant moved(Op op, Constant constant);

    /** The type of a value in the function. */
    TensorType type(Arg arg);

    /** The operator that computes a value; empty for inputs and constants. */
    Optional<Binding> producer(Arg arg);

    /** The same, if it is a given operator. */
    default Optional<Binding> producer(Arg arg, Op op) {
        return producer(arg).filter(binding -> binding.op().equals(op));
    }

    /**
     * Marks the operator that computes a value as replaced by another. It is removed, unless something else reads it.
     */
    void supersede(Arg arg);

    /**
     * The value at an argument position.
     *
     * @throws IllegalArgumentException if there is none
     */
    default Value value(int index) {
        if (index >= args().size()) {
            throw new IllegalArgumentException("it has " + args().size() + " arguments, and needs " + (index + 1));
        }
        return args().get(index);
    }

    /** Refuses a call that has another number of arguments. */
    default void arity(int count) {
        if (args().size() != count) {
            throw new IllegalArgumentException("it takes " + count + " arguments, not " + args().size());
        }
    }

    /** An argument in the layout and type of the text. */
    default Arg plain(int index) {
        return plain(value(index));
    }

    /** A constant argument in the layout and type of the text. */
    default Constant constant(int index) {
        if (plain(index) instanceof Constant constant) {
            return constant;
        }
        throw new IllegalArgumentException("argument " + (index + 1) + " is not constant; it must be a number,"
                + " meta[relay.Constant][n] or a parameter of the .params file");
    }

    /** All arguments from a position on, in the layout and type of the text. */
    default List<Arg> plainFrom(int index) {
        return IntStream.range(index, args().size()).mapToObj(this::plain).toList();
    }

    /** Appends an operator on all arguments, in the layout and type of the text. */
    default Value compute(Op op) {
        return compute(op, plainFrom(0));
    }

    /** Appends an operator whose result is in the layout and type of the text. */
    default Value compute(Op op, List<? extends Arg> args) {
        return plain(emit(op, args));
    }

    /** A result that is the same in text and function. */
    default Value plain(Arg result) {
        return Value.plain(result, type(result));
    }

    /** A result that is NCHW in the text and NHWC in the function. */
    default Value image(Arg result) {
        TensorType type = type(result);
        Shape shape = Value.permuted(type.shape(), Value.TO_CHANNELS_FIRST);
        return Value.channelsLast(result, new TensorType(shape, type.dtype()));
    }

    /** The value in the layout and type of the text. */
    default Arg plain(Value any) {
        Value value = whole(any);
        if (value.isSpread()) {
            return moved(new BroadcastTo(value.type().shape()), (Constant) value.arg());
        }
        if (value.isPlain()) {
            return value.arg();
        }
        Shape nchw = value.flattened().orElse(value.type().shape());
        if (!Value.isSameOrder(nchw)) {
            Arg image = reshape(value.arg(), Value.permuted(nchw, Value.TO_CHANNELS_LAST));
            Arg first = emit(new Transpose(Value.TO_CHANNELS_FIRST), List.of(image));
            return reshape(first, value.type().shape());
        }
        return reshape(value.arg(), value.type().shape());
    }

    /**
     * The value with its padding and in its own type, both of which are computed unless a window has absorbed them; the order of dimensions stays.
     */
    default Value whole(Value value) {
        Arg arg = value.arg();
        if (value.padding().isPresent()) {
            Value.Padding border = value.padding().orElseThrow();
            List<List<Integer>> widths = border.widths();
            arg = padded(
                    arg,
                    value.channelsLast()
                            ? new Value.Padding(
                                    Value.TO_CHANNELS_LAST.stream()
                                            .map(widths::get)
                                            .toList(),
                                    border.value())
                            : border);
        }
        if (value.widened()) {
            arg = emit(new Cast(value.type().dtype()), List.of(arg));
        }
        return value.isWhole()
                ? value
                : new Value(arg, value.type(), value.channelsLast(), value.flattened(), Optional.empty(), false);
    }

    /** A value with a computed border around it. */
    default Arg padded(Arg data, Value.Padding padding) {
        List<Integer> before =
                padding.widths().stream().map(pair -> pair.get(0)).toList();
        List<Integer> after = padding.widths().stream().map(pair -> pair.get(1)).toList();
        Constant border = Constants.scalar(padding.value(), type(data).dtype());
        return emit(new Pad(before, after), List.of(data, border));
    }

    /** A value of rank 4 that is NCHW in the text, as NHWC. */
    default Value channelsLast(Value value) {
        if (value.channelsLast()) {
            return value;
        }
        if (value.isSpread()) {
            return channelsLast(Value.plain(plain(value), value.type()));
        }
        Shape nchw = type(value.arg()).shape();
        if (nchw.rank() != 4 || value.flattened().isPresent()) {
            throw new IllegalArgumentException(
                    "the data, " + value.type().text() + ", is not NCHW, which data_layout says or leaves unsaid");
        }
        Shape nhwc = Value.permuted(nchw, Value.TO_CHANNELS_LAST);
        Arg arg;
        if (value.arg() instanceof Constant constant) {
            arg = transpose(constant, Value.TO_CHANNELS_LAST);
        } else if (Value.isSameOrder(nchw)) {
            arg = reshape(value.arg(), nhwc);
        } else {
            throw new IllegalArgumentException("the data, " + value.type().text() + ", is NCHW: "
                    + "it would have to be transposed at run time; in TVM, run"
                    + " relay.transform.ConvertLayout({\"qnn.conv2d\": [\"NHWC\", \"default\"], \"nn.conv2d\": [\"NHWC\","
                    + " \"default\"]}) and print again");
        }
        return new Value(arg, value.type(), true, value.flattened(), value.padding(), value.widened());
    }

    default Arg reshape(Arg arg, Shape shape) {
        if (arg instanceof Constant constant) {
            return new Constant(
                    constant.name(), new TensorType(shape, constant.type().dtype()), constant.data());
        }
        return type(arg).shape().equals(shape) ? arg : emit(new Reshape(shape), List.of(arg));
    }

    /** A constant whose dimension {@code i} is dimension {@code axes[i]} of another. */
    default Constant transpose(Constant constant, List<Integer> axes) {
        return moved(new Transpose(axes), constant);
    }

    /** Makes operators from a call. Each family has a table of rules by names in the text. */
    interface Rule {
        /**
         * The result of the call.
         *
         * @throws IllegalArgumentException with a message for users if the call is not supported
         */
        Value apply(CallSite call);

        /**
         * The rule of an operator determined by its attributes alone; its arguments are those of the call.
         *
         * @param make makes the operator from the attributes
         */
        static Rule of(Function<? super Attributes, ? extends Op> make) {
            return call -> call.compute(make.apply(call.attributes()));
        }

        /** A rule for calls that have a number of arguments. */
        static Rule of(int arity, Rule rule) {
            return call -> {
                call.arity(arity);
                return rule.apply(call);
            };
        }
    }
}
