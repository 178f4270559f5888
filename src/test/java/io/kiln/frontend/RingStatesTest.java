// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputValues.BoundStates;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.QuantizedReductions.TflSum;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** States of functions that are drawn at random: as rings, they answer as if all elements were moved in every run. */
class RingStatesTest {
    private static final int SEEDS = 1500;

    private static final Origin ORIGIN = new Origin("m", 0, "Use", "t");

    private static final class Draw {
        private final Random random;
        private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        private final List<Arg.Ref> pool = new ArrayList<>();
        private final List<Result> results = new ArrayList<>();
        private final Map<String, String> pairs = new HashMap<>();

        private Draw(long seed) {
            random = new Random(seed);
        }

        private int below(int bound) {
            return random.nextInt(bound);
        }

        private <T> T oneOf(List<T> of) {
            return of.get(below(of.size()));
        }

        private static List<Integer> range(int end) {
            return IntStream.range(0, end).boxed().toList();
        }

        private Constant constant(Shape shape, DType dtype) {
            byte[] data = new byte[Math.toIntExact(new TensorType(shape, dtype).bytes())];
            ByteBuffer to = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
            while (to.hasRemaining()) {
                switch (dtype) {
                    case FLOAT32 -> to.putFloat(below(9) - 4);
                    case INT32 -> to.putInt(below(9) - 4);
                    case BOOL -> to.put((byte) below(2));
                    default -> to.put((byte) (below(256) - 128));
                }
            }
            return new Constant("", new TensorType(shape, dtype), Bytes.wrap(data));
        }

        private void state(int index, int axis, int size, int added, DType dtype, List<Integer> dims) {
            List<Integer> now = new ArrayList<>(dims);
            now.set(axis, added);
            List<Integer> old = new ArrayList<>(dims);
            old.set(axis, size - added);
            Arg.Ref x = graph.parameter("x" + index, new TensorType(new Shape(now), dtype), Optional.empty());
            Arg.Ref past = graph.parameter("past" + index, new TensorType(new Shape(old), dtype), Optional.empty());
            Arg.Ref all = graph.call(new Concatenate(axis, 2), List.of(past, x), ORIGIN);
            pool.add(all);
            if (below(2) == 0) {
                pool.add(x);
            }
            results.add(new Result(all.id(), "present" + index, Optional.empty()));
            pairs.put("past" + index, "present" + index);
        }

        private Shape shape(Arg arg) {
            return graph.type(arg).shape();
        }

        /** Another operand: a value, or a constant that may be the same along some axes. */
        private Arg other(Arg data) {
            if (below(2) == 0) {
                return oneOf(pool);
            }
            List<Integer> dims = new ArrayList<>(shape(data).dims());
            dims.replaceAll(dim -> below(3) == 0 ? dim : 1);
            while (!dims.isEmpty() && below(3) == 0) {
                dims.remove(0);
            }
            return constant(new Shape(dims), graph.type(data).dtype());
        }

        private List<Integer> subset(int rank) {
            return range(rank).stream().filter(axis -> below(2) == 0).toList();
        }

        private Reshape reshape(Shape from) {
            List<Integer> dims = new ArrayList<>(from.dims());
            int at = below(Math.max(1, dims.size()));
            switch (below(4)) {
                case 0 -> dims.add(at, 1);
                case 1 -> {
                    if (dims.size() > 1) {
                        int next = Math.min(at, dims.size() - 2);
                        dims.set(next, dims.get(next) * dims.remove(next + 1));
                    }
                }
                case 2 -> dims.remove((Integer) 1);
                default -> {
                    int half = dims.isEmpty() || dims.get(at) % 2 != 0 ? 1 : 2;
                    if (!dims.isEmpty()) {
                        dims.set(at, dims.get(at) / half);
                        dims.add(at + below(2), half);
                    }
                }
            }
            return new Reshape(new Shape(dims));
        }

        private Arg.Ref step() {
            Arg.Ref a = below(3) == 0 ? oneOf(pool) : pool.get(pool.size() - 1);
            Shape shape = shape(a);
            int rank = shape.rank();
            Constant zero = Constant.scalar(0);
            int axis = rank == 0 ? 0 : below(rank);
            int kind = below(27);
            return switch (kind) {
                case 0, 1, 2 -> call(new Binary(oneOf(List.of(Binary.Kind.values()))), a, other(a));
                case 3 -> call(new Binary(oneOf(List.of(Binary.Kind.values()))), other(a), a);
                case 4 -> call(new Clip(-3, 5), a);
                case 5 -> call(new Cast(oneOf(List.of(DType.INT8, DType.INT32))), a);
                case 6, 7 -> {
                    List<Integer> axes = new ArrayList<>(range(rank));
                    Collections.shuffle(axes, random);
                    yield call(new Transpose(axes), a);
                }
                case 8, 9 -> call(reshape(shape), a);
                case 10, 11 -> call(new Reduce(oneOf(List.of(Reduce.Kind.values())), subset(rank), below(2) == 0), a);
                case 12 -> call(new ArgReduce(below(2) == 0, axis), a);
                case 13, 14, 15 -> call(new TflBatchMatmul(below(2) == 0, below(2) == 0), a, other(a), zero, zero);
                default -> quantized(kind, a);
            };
        }

        private Arg.Ref quantized(int kind, Arg.Ref a) {
            Shape shape = shape(a);
            int rank = shape.rank();
            Constant zero = Constant.scalar(0);
            Constant one = Constant.scalar(1f);
            int axis = rank == 0 ? 0 : below(rank);
            return switch (kind) {
                case 16 ->
                    call(
                            new TflSoftmax(1f),
                            a,
                            Constant.scalar(0.05f),
                            zero,
                            Constant.scalar(1 / 256f),
                            Constant.scalar(-128));
                case 17 -> call(new TflLookup(), a, constant(Shape.of(256), oneOf(List.of(DType.INT8, DType.INT32))));
                case 18, 19 -> rescaled(a, axis, rank == 0 || below(2) == 0 ? 1 : shape.dim(axis), kind == 18);
                case 20 -> call(new QnnAdd(Rounding.TFLITE), a, other(a), one, zero, one, zero, one, zero);
                case 21 ->
                    call(
                            new QnnBinary(oneOf(List.of(QnnBinary.Kind.values())), FloatPrecision.SINGLE),
                            a,
                            other(a),
                            one,
                            zero,
                            one,
                            zero,
                            one,
                            zero);
                case 22 -> call(new TflSum(subset(rank), below(2) == 0), a, zero);
                case 23 ->
                    below(2) == 0
                            ? call(new TflCumsum(axis, false, below(2) == 0), a, zero)
                            : call(new BiasAdd(axis), a, constant(Shape.of(shape.dim(axis)), DType.INT32));
                case 24 ->
                    call(
                            new Where(),
                            constant(other(a) instanceof Constant c ? c.type().shape() : shape, DType.BOOL),
                            a,
                            other(a));
                case 25 ->
                    below(2) == 0
                            ? call(
                                    new OnnxSoftmax(OnnxForm.QDQ, false),
                                    a,
                                    Constant.scalar(0.05f),
                                    zero,
                                    Constant.scalar(1 / 256f),
                                    Constant.scalar(-128))
                            : call(new TflNormalize(TflNormalize.Kind.L2_NORMALIZE), a, one, zero);
                default -> below(2) == 0 ? call(new Copy(), a) : call(new BroadcastTo(stacked(shape)), a);
            };
        }

        private Arg.Ref rescaled(Arg.Ref a, int axis, int channels, boolean isByMultipliers) {
            if (isByMultipliers) {
                Constant multipliers = vector(channels, i -> (1 << 30) + below(1 << 20));
                Constant shifts = vector(channels, i -> -below(3));
                return call(new TflRequantize(axis, 0, below(5), DType.INT8, Rounding.TFLITE), a, multipliers, shifts);
            }
            float[] scales = new float[channels];
            for (int i = 0; i < channels; i++) {
                scales[i] = 0.1f + below(9);
            }
            return call(
                    new QnnRequantize(axis, Rounding.UPWARD, DType.INT8),
                    a,
                    channels == 1 ? Constant.scalar(scales[0]) : Constant.vector(scales),
                    Constant.scalar(0),
                    Constant.scalar(1f),
                    Constant.scalar(0));
        }

        private static Shape stacked(Shape shape) {
            List<Integer> dims = new ArrayList<>(shape.dims());
            dims.add(0, 2);
            return new Shape(dims);
        }

        private static Constant vector(int count, IntUnaryOperator of) {
            int[] values = IntStream.range(0, count).map(of).toArray();
            return count == 1 ? Constant.scalar(values[0]) : Constant.vector(values);
        }

        private Arg.Ref call(Op op, Arg... args) {
            return graph.call(op, List.of(args), ORIGIN);
        }

        private Function function() {
            int rank = 2 + below(3);
            int axis = below(rank);
            int added = 1 + below(3);
            int size = added * (2 + below(3));
            DType dtype = oneOf(List.of(DType.INT8, DType.INT8, DType.INT32));
            List<Integer> dims = new ArrayList<>();
            range(rank).forEach(i -> dims.add(1 + below(4)));
            state(0, axis, size, added, dtype, dims);
            if (below(2) == 0) {
                boolean isOther = below(3) == 0;
                int axis2 = below(4) == 0 ? below(rank) : axis;
                List<Integer> dims2 = new ArrayList<>(dims);
                if (axis2 != axis) {
                    dims2.set(axis, size);
                }
                state(1, axis2, size, isOther && size % (added + 1) == 0 ? added + 1 : added, dtype, dims2);
            }
            int steps = 2 + below(6);
            for (int i = 0, tries = 0; i < steps && tries < 200; tries++) {
                try {
                    Arg.Ref made = step();
                    if (shape(made).elements() < 5000) {
                        pool.add(made);
                        i++;
                    }
                } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                    // The operator does not take such a value: another one is drawn.
                    tries++;
                }
            }
            results.add(new Result(pool.get(pool.size() - 1).id(), "y", Optional.empty()));
            if (below(3) == 0) {
                results.add(new Result(pool.get(pool.size() - 1 - below(2)).id(), "z", Optional.empty()));
            }
            return BoundStates.bind(graph.build("m", results), pairs, "m.onnx");
        }
    }

    /** The bindings of a function, one a line. */
    private static String text(Function function) {
        return function.bindings().stream().map(Binding::toString).collect(Collectors.joining("\n"));
    }

    private static boolean isRing(Function function) {
        return function.bindings().stream().anyMatch(binding -> binding.op() instanceof RingWrite);
    }

    /** Integers are equal in every run, whatever functions do with their states and with values of one run. */
    @Test
    void ringsAnswerAsStatesThatAreMoved() {
        int rings = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Function plain = new Draw(seed).function();
            Function ring = RingStates.of(plain);
            if (!isRing(ring)) {
                continue;
            }
            rings++;
            Interpreter.State of = Interpreter.State.initial(ring);
            Interpreter.State usual = Interpreter.State.initial(plain);
            Random random = new Random(seed);
            for (int run = 0; run < 12; run++) {
                List<Bytes> inputs = new ArrayList<>();
                for (Parameter parameter : plain.params()) {
                    byte[] data = new byte[(int) parameter.type().bytes()];
                    random.nextBytes(data);
                    inputs.add(Bytes.wrap(data));
                }
                assertThat(Interpreter.run(ring, inputs, of))
                        .as("case %s, run %s: %s", seed, run, text(plain))
                        .isEqualTo(Interpreter.run(plain, inputs, usual));
            }
        }
        assertThat(rings).isGreaterThan(SEEDS / 3);
    }

    private static Function bound(GraphBuilder graph, Arg.Ref result, Arg.Ref all) {
        List<Result> results = List.of(
                new Result(result.id(), "y", Optional.empty()), new Result(all.id(), "present", Optional.empty()));
        return BoundStates.bind(graph.build("m", results), Map.of("past", "present"), "m.onnx");
    }

    /** Nothing is added to such a state: it is no ring. */
    @Test
    void aStateTwiceIsNoRing() {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        TensorType rows = new TensorType(Shape.of(1, 2, 2), DType.INT32);
        Arg.Ref x = graph.parameter("x", rows, Optional.empty());
        Arg.Ref past = graph.parameter("past", rows, Optional.empty());
        Arg.Ref all = graph.call(new Concatenate(1, 2), List.of(past, past), ORIGIN);
        Arg.Ref sum = graph.call(new Reduce(Reduce.Kind.SUM, List.of(1), true), List.of(all), ORIGIN);
        Function plain = bound(graph, graph.call(new Binary(Binary.Kind.ADD), List.of(sum, x), ORIGIN), all);
        assertThat(RingStates.of(plain)).isEqualTo(plain);
    }

    /** ONNX Runtime's softmax adds floats in an order of its own and rounds to bytes, of which some would differ by one step. */
    @Test
    void bytesThatDependOnTheOrderOfSumsKeepTheirOrder() {
        for (int axis = 0; axis < 2; axis++) {
            GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
            Shape one = axis == 0 ? Shape.of(1, 64) : Shape.of(64, 1);
            Shape others = axis == 0 ? Shape.of(40, 64) : Shape.of(64, 40);
            Arg.Ref x = graph.parameter("x", new TensorType(one, DType.INT8), Optional.empty());
            Arg.Ref past = graph.parameter("past", new TensorType(others, DType.INT8), Optional.empty());
            Arg.Ref all = graph.call(new Concatenate(axis, 2), List.of(past, x), ORIGIN);
            Constant zero = Constant.scalar(0);
            List<Arg> args =
                    List.of(all, Constant.scalar(0.02f), zero, Constant.scalar(1 / 8192f), Constant.scalar(-128));
            Arg.Ref soft = graph.call(new OnnxSoftmax(OnnxForm.QDQ, false), args, ORIGIN);
            Arg.Ref wide = graph.call(new Cast(DType.INT32), List.of(soft), ORIGIN);
            Function plain = bound(
                    graph, graph.call(new Reduce(Reduce.Kind.SUM, List.of(axis), false), List.of(wide), ORIGIN), all);
            Function ring = RingStates.of(plain);
            assertThat(isRing(ring)).isEqualTo(axis == 0);
            Interpreter.State of = Interpreter.State.initial(ring);
            Interpreter.State usual = Interpreter.State.initial(plain);
            Random random = new Random(1);
            for (int run = 0; run < 200; run++) {
                byte[] data = new byte[64];
                random.nextBytes(data);
                List<Bytes> inputs = List.of(Bytes.wrap(data));
                assertThat(Interpreter.run(ring, inputs, of)).isEqualTo(Interpreter.run(plain, inputs, usual));
            }
        }
    }
}
