// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.StablehloOptions.ReduceWindow;
import io.kiln.frontend.tflite.schema.StablehloOptions.StablehloReduceWindow;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * STABLEHLO_REDUCE_WINDOW and REDUCE_WINDOW: the elements of each window, combined one after the other, in the order of the data, from a first value. Windows may
 * be dilated, and elements of the first value may lie between and around the data.
 */
public final class ReduceWindowImporters {
    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.STABLEHLO_REDUCE_WINDOW, 1, ReduceWindowImporters::stablehlo),
            builtin(BuiltinOperator.REDUCE_WINDOW, 1, ReduceWindowImporters::plain));

    /** REDUCE_WINDOW's functions by their number in the schema ({@code ReduceWindowFunction}), from 1 on. */
    private static final List<Binary.Kind> FUNCTIONS = List.of(
            Binary.Kind.ADD,
            Binary.Kind.MULTIPLY,
            Binary.Kind.MINIMUM,
            Binary.Kind.MAXIMUM,
            Binary.Kind.LOGICAL_AND,
            Binary.Kind.LOGICAL_OR);

    private static final Set<DType> NUMBERS = Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64);

    /** Most elements of a window: each is an operator. */
    private static final int MOST_STEPS = 1024;

    private static final int MOST_SIZE = 1 << 16;

    private ReduceWindowImporters() {}

    private static void stablehlo(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StablehloReduceWindow.TYPE);
        operator.requireThat(operator.inputCount() == 2, "it reduces several tensors at once", "one tensor");
        int rank = operator.input(0).shape().rank();
        FlatVector padding = options.get(StablehloReduceWindow.PADDING);
        operator.requireThat(
                padding.size() == 0 || padding.size() == 2 * rank,
                "it has " + padding.size() + " paddings",
                "two for each of " + rank + " dimensions");
        int[] paddings = IntStream.range(0, 2 * rank)
                .map(i -> padding.size() == 0 ? 0 : PadImporters.width(operator, padding.i64(i)))
                .toArray();
        Windows windows = new Windows(
                sizes(operator, "window dimensions", options.get(StablehloReduceWindow.WINDOW_DIMENSIONS), rank),
                sizes(operator, "strides", options.get(StablehloReduceWindow.WINDOW_STRIDES), rank),
                sizes(operator, "dilations", options.get(StablehloReduceWindow.WINDOW_DILATIONS), rank));
        List<Integer> apart =
                sizes(operator, "dilations of the data", options.get(StablehloReduceWindow.BASE_DILATIONS), rank);
        Binary.Kind kind = ScalarBody.of(
                        operator, options.get(StablehloReduceWindow.BODY_SUBGRAPH_INDEX), Set.copyOf(FUNCTIONS))
                .orElseThrow(() -> operator.failure("its subgraph returns an element", "a function of two elements"));
        emit(operator, windows, apart, paddings, kind);
    }

    private static void plain(OperatorContext operator) {
        int number = operator.laterOptions(ReduceWindow.TYPE).get(ReduceWindow.REDUCE_FUNCTION);
        operator.requireThat(
                number >= 1 && number <= FUNCTIONS.size(),
                "its function has the number " + number,
                "1 to " + FUNCTIONS.size());
        int rank = operator.input(0).shape().rank();
        Windows windows = new Windows(
                sizes(operator, "window dimensions", 2),
                sizes(operator, "strides", 3),
                sizes(operator, "dilations", 4));
        emit(operator, windows, Collections.nCopies(rank, 1), new int[2 * rank], FUNCTIONS.get(number - 1));
    }

    private static void emit(
            OperatorContext operator, Windows windows, List<Integer> apart, int[] paddings, Binary.Kind kind) {
        TfliteTensor data = operator.input(0);
        boolean isLogical = kind == Binary.Kind.LOGICAL_AND || kind == Binary.Kind.LOGICAL_OR;
        operator.requireTypes(isLogical ? Set.of(DType.BOOL) : NUMBERS, data);
        Constant first = PadImporters.value(operator, operator.input(1));
        operator.requireThat(
                windows.elements() <= MOST_STEPS,
                "its window has more than " + MOST_STEPS + " elements",
                "smaller windows");
        Arg padded = operator.value(data);
        for (int axis = 0; axis < apart.size(); axis++) {
            padded = PadImporters.between(operator, padded, axis, apart.get(axis) - 1, first);
            padded = PadImporters.atEnds(operator, padded, axis, paddings[2 * axis], paddings[2 * axis + 1], first);
        }
        List<Integer> counts = windows.counts(operator.type(padded).shape());
        Shape stated = operator.outputShape(() -> new Shape(counts));
        operator.requireThat(
                stated.dims().equals(counts) && !counts.contains(0),
                "it makes " + operator.output().withShape(stated).text() + " of " + data.text(),
                "the shape " + counts + ", with elements");
        operator.finish(reduced(operator, padded, first, kind, windows));
    }

    /** Sizes of windows, steps from one to the next, and steps within them, for each dimension. */
    private record Windows(List<Integer> sizes, List<Integer> strides, List<Integer> dilations) {
        /** Elements of a window; not all are counted beyond the most. */
        int elements() {
            return (int) sizes.stream().mapToLong(n -> n).reduce(1, (a, b) -> Math.min(a * b, MOST_STEPS + 1L));
        }

        /** How many windows a tensor has along each dimension. */
        List<Integer> counts(Shape shape) {
            return IntStream.range(0, sizes.size())
                    .mapToObj(axis -> {
                        long left = shape.dim(axis) - (long) dilations.get(axis) * (sizes.get(axis) - 1) - 1;
                        return left < 0 ? 0 : (int) left / strides.get(axis) + 1;
                    })
                    .toList();
        }

        /** The element at one place of all windows. */
        StridedSlice element(int place, List<Integer> counts) {
            List<Integer> begin = new ArrayList<>();
            List<Integer> end = new ArrayList<>();
            int rest = place;
            for (int axis = sizes.size() - 1; axis >= 0; axis--) {
                int from = rest % sizes.get(axis) * dilations.get(axis);
                begin.add(0, from);
                end.add(0, from + (counts.get(axis) - 1) * strides.get(axis) + 1);
                rest /= sizes.get(axis);
            }
            return new StridedSlice(begin, end, strides);
        }
    }

    private static Arg reduced(OperatorContext operator, Arg data, Constant first, Binary.Kind kind, Windows windows) {
        Formulas f = operator;
        boolean isChoice = kind == Binary.Kind.MAXIMUM || kind == Binary.Kind.MINIMUM;
        List<Integer> counts = windows.counts(operator.type(data).shape());
        Arg total = first;
        for (int place = 0; place < windows.elements(); place++) {
            Arg element = operator.emit(windows.element(place, counts), data);
            // Of equal elements, and beside NaN, std::max and std::min keep the first: the right operand of ours.
            total = isChoice ? f.binary(kind, element, total) : f.binary(kind, total, element);
        }
        return total;
    }

    private static List<Integer> sizes(OperatorContext operator, String what, int input) {
        int[] sizes = operator.integers(
                "the " + what, operator.input(input), operator.input(0).shape().rank());
        operator.requireThat(
                Arrays.stream(sizes).allMatch(n -> n >= 1 && n <= MOST_SIZE),
                "its " + what + " are " + Arrays.toString(sizes),
                "1 to " + MOST_SIZE);
        return Arrays.stream(sizes).boxed().toList();
    }

    /** Numbers of 1 and more; 1 for each dimension if none are stated. */
    private static List<Integer> sizes(OperatorContext operator, String what, FlatVector stated, int rank) {
        if (stated.size() == 0) {
            return Collections.nCopies(rank, 1);
        }
        operator.requireThat(
                stated.size() == rank
                        && IntStream.range(0, rank).mapToLong(stated::i64).allMatch(n -> n >= 1 && n <= MOST_SIZE),
                "its " + what + " are " + stated.size() + " numbers, or not all from 1 to " + MOST_SIZE,
                "one for each of " + rank + " dimensions");
        return IntStream.range(0, rank).mapToObj(i -> (int) stated.i64(i)).toList();
    }

    /** A subgraph that combines two elements, for STABLEHLO_SCATTER and STABLEHLO_REDUCE_WINDOW; TensorFlow Lite, too, runs one operator at most. */
    static final class ScalarBody {
        private ScalarBody() {}

        /**
         * What the subgraph computes of its two inputs; empty if it returns the second one.
         *
         * @param kinds functions that the calling operator knows
         */
        static Optional<Binary.Kind> of(OperatorContext operator, int subgraph, Set<Binary.Kind> kinds) {
            Function body = operator.subgraph(subgraph, List.of(), List.of()).function();
            operator.requireThat(
                    body.params().size() == 2 && body.results().size() == 1,
                    "its subgraph takes " + body.params().size() + " values and computes "
                            + body.results().size(),
                    "one of two");
            Arg.Ref first = new Arg.Ref(body.params().get(0).id());
            Arg.Ref second = new Arg.Ref(body.params().get(1).id());
            int result = body.results().get(0).id();
            List<Binding> computed = body.bindings();
            boolean isCopy = computed.size() == 1
                    && computed.get(0).id() == result
                    && computed.get(0).op() instanceof Copy
                    && computed.get(0).args().equals(List.of(second));
            if (isCopy) {
                return Optional.empty();
            }
            boolean isKnown = computed.size() == 1
                    && computed.get(0).id() == result
                    && computed.get(0).op() instanceof Binary binary
                    && kinds.contains(binary.kind())
                    && new HashSet<>(computed.get(0).args()).equals(Set.of(first, second));
            operator.requireThat(
                    isKnown,
                    "its subgraph is not a function of two elements that TensorFlow Lite runs",
                    kinds.toString());
            return Optional.of(((Binary) computed.get(0).op()).kind());
        }
    }
}
